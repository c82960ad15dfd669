package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"qinst.dev/cmd/internal/instrument/toolexec"
	"qinst.dev/cmd/internal/lab"
)

func setupBuild(fs *flagSet) action { return setupGo(fs, "build") }

// setupGo runs a go command with qinst around its tools.
func setupGo(fs *flagSet, verb string) action {
	fs.selection(verb)
	return func(e *env, args []string) error {
		sel, err := fs.selected()
		if err != nil {
			return err
		}
		wrapper, err := wrapperOf(sel)
		if err != nil {
			return err
		}
		tellFirst(e, fs, wrapper)
		return passStatus(e.runner().Go(verb, lab.Variant{Dir: fs.chdir, Wrapper: wrapper, Flags: fs.passed, Args: args}))
	}
}

// tellFirst says why a build will take long, if it will: with other probes, or another qinst, the go command compiles
// the standard library too, and is silent meanwhile.
func tellFirst(e *env, fs *flagSet, wrapper []string) {
	if (lab.Variant{Dir: fs.chdir, Wrapper: wrapper, Flags: fs.goFlags.compiling(fs.passed)}).FirstBuild() {
		fmt.Fprintln(e.stderr, "qinst: compiling the standard library for this selection of probes: once, a minute or two")
	}
}

// passStatus turns the failure of a child process into qinst's exit status, without a
// message, because the child has already printed one.
func passStatus(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return toolexec.Exit{Status: exit.ExitCode()}
	}
	return err
}

// wrapperOf returns the -toolexec command line: this program with the selection's flags.
func wrapperOf(sel toolexec.Selection) ([]string, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return append([]string{exe}, sel.Flags()...), nil
}

// chdir returns the go command's flag for a directory, none for the current one.
func chdir(dir string) []string {
	if dir == "" {
		return nil
	}
	return []string{"-C", dir}
}
