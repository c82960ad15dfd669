package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"qinst.dev/instrument/toolexec"
	"qinst.dev/internal/lab"
	"qinst.dev/runtime/settings"
)

// dispatch runs a subcommand or, as the go command's wrapper, a tool. The first argument
// after qinst's own flags names a tool if it is not a subcommand.
func dispatch(e *env, args []string) error {
	if len(args) == 0 {
		return errors.Join(overview(e), toolexec.Exit{Status: misuse}) // as the go command does
	}
	sel, rest, err := toolexec.ParseSelection(args)
	if err != nil {
		return usageError{err}
	}
	if len(rest) == 0 {
		return usageError{errors.New(`found no command, expected one after the flags; see "qinst help"`)}
	}
	if c, ok := commandByName(rest[0]); ok {
		lab.EndBySignals(func(status int) {
			e.meter.end()
			os.Exit(status)
		})
		return c.run(e, append(sel.Flags(), rest[1:]...))
	}
	switch rest[0] {
	case "-h", "-help", "--help":
		return overview(e)
	case "-version", "--version":
		return cmdVersion(e, rest[1:])
	}
	switch {
	case byGo(rest):
	case strings.ContainsRune(rest[0], filepath.Separator):
		return usageError{fmt.Errorf(`found %q, expected a command; "qinst run %[1]s" builds and runs a program`,
			rest[0])}
	default:
		return unknownCommand(rest[0], "a command")
	}
	err = toolexec.Run(sel, rest)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return unknownCommand(rest[0], "a command or a tool's path")
	}
	return err
}

// byGo reports whether the go command runs the tool, rather than a user who mistyped a command. The
// go command gives tools their full path, and names the package in the environment. There are two
// exceptions: it asks each tool for its version, and asks C compilers, which it calls by name, for
// the commands that they would run.
func byGo(args []string) bool {
	_, told := os.LookupEnv("TOOLEXEC_IMPORTPATH")
	// run by another wrapper
	version := slices.ContainsFunc(args[1:], filepath.IsAbs) && slices.Contains(args, "-V=full")
	compiler := len(args) == 6 && args[1] == "-###" && args[2] == "-x" && args[4] == "-c" && args[5] == "-"
	return told || version || compiler || filepath.IsAbs(args[0])
}

func unknownCommand(name, want string) error {
	if near := settings.NearestWord(name, commandNames()); near != "" {
		return usageError{fmt.Errorf(`found %q, expected %s (did you mean %s?); see "qinst help"`, name, want, near)}
	}
	return usageError{fmt.Errorf(`found %q, expected %s; see "qinst help"`, name, want)}
}

// run parses a command's arguments and runs it.
func (c command) run(e *env, args []string) error {
	fs := newFlagSet(c.name)
	act := c.setup(fs)
	rest, err := fs.parse(args)
	switch {
	case errors.Is(err, errHelp):
		return c.help(e)
	case err != nil:
		return usageError{fmt.Errorf(`%s: %w; see "qinst help %s"`, c.name, err, c.name)}
	}
	return act(e, rest)
}
