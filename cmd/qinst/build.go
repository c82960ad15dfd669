package main

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"

	"qinst.dev/instrument/toolexec"
)

func setupBuild(fs *flagSet) action { return setupGo(fs, "build") }
func setupTest(fs *flagSet) action  { return setupGo(fs, "test") }

// setupGo runs a go command with qinst around its tools.
func setupGo(fs *flagSet, verb string) action {
	fs.selection(verb)
	return func(e *env, args []string) error {
		sel, err := fs.selected()
		if err != nil {
			return err
		}
		goArgs, err := goArgs(verb, fs.chdir, sel, slices.Concat(fs.passed, args)...)
		if err != nil {
			return err
		}
		return runGo(e, goArgs)
	}
}

func runGo(e *env, args []string) error {
	cmd := exec.Command("go", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, e.stdout, e.stderr
	return passStatus(runChild(cmd))
}

// passStatus makes the failure of a child that has explained itself our status.
func passStatus(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return toolexec.Exit{Status: exit.ExitCode()}
	}
	return err
}

// goArgs makes the arguments of the go command. Its -C must come first.
func goArgs(verb, dir string, sel toolexec.Selection, args ...string) ([]string, error) {
	wrapper, err := wrapperCommand(sel)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]string{verb}, chdir(dir), []string{"-toolexec", wrapper}, args), nil
}

// chdir is the go command's flag for a directory, none for the current one.
func chdir(dir string) []string {
	if dir == "" {
		return nil
	}
	return []string{"-C", dir}
}

// wrapperCommand is the value of -toolexec, quoted the way the go command splits it.
func wrapperCommand(sel toolexec.Selection) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	if strings.ContainsAny(exe, " \t\n'\"") {
		quote := `"`
		if strings.Contains(exe, quote) {
			quote = `'`
		}
		exe = quote + exe + quote
	}
	return strings.Join(append([]string{exe}, sel.Flags()...), " "), nil
}
