package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"text/tabwriter"

	"qinst.dev/settings"
)

const about = `Qinst builds Go programs that explain their own performance.

	go build -toolexec qinst ./...   build with probes
	qinst run ./prog                 build, run, report

`

const selectionHelp = `
A selection says which packages are probed; the default is the main module's.
	-include=pattern,...   others too: import paths as in the go command ("..."), std, all
	-exclude=pattern,...   not these
	-kinds=kind,...        only these kinds of probes: proc, call, loop, sync
	-size=n                only procedures of n or more SSA instructions
	-depth=n               only the n outermost of nested loops
The same keys stand in qinst.toml, beside go.mod or go.work; flags win over it.
In the source, //qinst:ignore leaves the function or loop below it out,
//qinst:probe probes it though a rule would leave it out, //qinst:name gives it a
name.
`

// topics explain what the one line of the table cannot.
var topics = map[string]string{
	"build": "Build is \"go build -toolexec qinst\".\n" + selectionHelp,
	"test":  "Test is \"go test -toolexec qinst\".\n" + selectionHelp,
	"run": `Run builds a program with probes, runs it and reports. The trace is kept in the
working directory. Settings in QINST reach the program; its input, output and
exit status are passed through.

	-check         run it several times each with counts, times, traces and half of
	                the probes, and compare what they tell
	-ask question   record and report only what answers it: profile (where the
	                processor time goes), locks (what is waited for), path
	                (procedures and their waits), latency:REGION (how long a
	                region of qinst.Region or runtime/trace takes)
	-refine file    add probes to the packages where that earlier run spent time
	                and had none
` + selectionHelp,
	"reduce": `Reduce runs extensions over a file, in the order given, as they would have run in
the program. Programs that import qinst.dev/extensions run them by name, with
QINST=extensions=name+name or in qinst.toml.

`,
	"points": `Points prints one line for each point: kind, identity, place, name. A skip has
its reason in place of the identity. Of a procedure that is skipped only the places
are listed at which goroutines may wait (site) and, if it is inlined, its calls. The
last lines count points and skips.

	-json        one object a line: id, kind, name, file, line, flags, skip
	-diff file   only what differs from that output of before: + new, - gone, ~ changed
` + selectionHelp,
}

func cmdHelp(e *env, args []string) error {
	if len(args) > 1 {
		return usageError{fmt.Errorf("help: found %d arguments, expected one command", len(args))}
	}
	if len(args) == 1 && args[0] == "settings" {
		_, err := fmt.Fprint(e.stdout, settings.Help())
		return err
	}
	if len(args) == 1 {
		c, ok := commandByName(args[0])
		if !ok {
			return usageError{fmt.Errorf(`help: unknown command %q; "qinst help" lists them`, args[0])}
		}
		fmt.Fprintf(e.stdout, "usage: qinst %s %s\n\n", c.name, c.args)
		text := topics[c.name]
		if text == "" {
			text = c.summary + "\n"
		}
		fmt.Fprint(e.stdout, text)
		if c.name == "reduce" {
			extensionHelp(e.stdout)
		}
		return nil
	}
	fmt.Fprint(e.stdout, about)
	w := tabwriter.NewWriter(e.stdout, 0, 8, 2, ' ', 0)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %s\t%s\n", c.name, c.summary)
	}
	_ = w.Flush()
	fmt.Fprint(e.stdout, "\nUse \"qinst help command\" for more, \"qinst help settings\" for what QINST may say.\n")
	return nil
}

func cmdVersion(e *env, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("version: found %q, expected no arguments", args[0])}
	}
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	_, err := fmt.Fprintf(e.stdout, "qinst %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
