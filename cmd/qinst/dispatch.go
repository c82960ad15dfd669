package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"

	"qinst.dev/instrument/toolexec"
)

// commands returns the table of subcommands.
func commands() []command {
	return []command{
		{"build", "[selection] [build flags] [packages]", "build with probes", cmdBuild},
		{"run", "[-check] [-ask question] [-refine file] [selection] [build flags] package [arguments]", "build with probes, run, report", cmdRun},
		{"test", "[selection] [test flags] [packages]", "test with probes", cmdTest},
		{"report", "[-json] [-from time] [-to time] [file]", "the one page a new user wants", cmdReport},
		{"profile", "[-json | -html out | -pprof out | -tree | -list regexp | -diff old | -runs] [flags] [file...]", "time of procedures, loops, locks, goroutines and packages", cmdProfile},
		{"points", "[-json | -diff old.json] [selection] [build flags] [packages]", "list what is probed, and why the rest is not", cmdPoints},
		{"dump", "[-mode=text|json|wire|footprint|events] [file]", "every packet of a file, every event of a trace", cmdDump},
		{"info", "[-check] [file]", "what a file holds", cmdInfo},
		{"convert", "[-to form] [-o out] file", "write a file in another form", cmdConvert},
		{"cut", "[-from time] [-to time] -o out file", "the part of a trace between two times, as a file", cmdCut},
		{"index", "[file]", "make cut and dump of a part of a trace quick", cmdIndex},
		{"merge", "[-by field] -o out file file...", "one file of several", cmdMerge},
		{"reduce", "-ext=name,... in out", "what extensions make of a file", cmdReduce},
		{"salvage", "[-o out] [-clean] [file]", "complete the file of a killed program from its ring", cmdSalvage},
		{"ctl", "pid [points=limit ...]", "show or change what a running program records", cmdCtl},
		{"cost", "[-json]", "measure what a probe costs on this machine", cmdCost},
		{"version", "", "print version and toolchain", cmdVersion},
		{"help", "[command]", "explain a command", cmdHelp},
	}
}

func commandByName(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

// dispatch runs a subcommand or, as the go command's wrapper, a tool: whatever
// stands after qinst's own flags and is no subcommand.
func dispatch(e *env, args []string) error {
	sel, rest, err := toolexec.ParseSelection(args)
	if err != nil {
		return usageError{err}
	}
	if len(rest) == 0 {
		return usageError{errors.New(`found no command; "qinst help" lists them`)}
	}
	if c, ok := commandByName(rest[0]); ok {
		return c.run(e, append(sel.Flags(), rest[1:]...))
	}
	switch rest[0] {
	case "-h", "-help", "--help":
		return cmdHelp(e, nil)
	}
	err = toolexec.Run(sel, rest)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return usageError{fmt.Errorf(`found %q, expected a command or a tool's path; "qinst help" lists the commands`, rest[0])}
	}
	return err
}
