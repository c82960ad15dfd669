package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"qinst.dev/instrument/toolexec"
)

func cmdBuild(e *env, args []string) error { return wrapGo(e, "build", args) }
func cmdTest(e *env, args []string) error  { return wrapGo(e, "test", args) }

// wrapGo runs a go command with qinst around its tools.
func wrapGo(e *env, verb string, args []string) error {
	goArgs, err := goArgs(verb, args)
	if err != nil {
		return err
	}
	return runGo(e, goArgs)
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

// goArgs makes the arguments of the go command out of ours: a selection, then the
// go command's own. Its -C must come first, if it is given.
func goArgs(verb string, args []string) ([]string, error) {
	dir, args := cutChdir(args)
	sel, rest, err := toolexec.ParseSelection(args)
	if err != nil {
		return nil, usageError{fmt.Errorf("%s: %w", verb, err)}
	}
	if dir == nil {
		dir, rest = cutChdir(rest)
	}
	wrapper, err := wrapperCommand(sel)
	if err != nil {
		return nil, err
	}
	out := append([]string{verb}, dir...)
	out = append(out, "-toolexec", wrapper)
	return append(out, rest...), nil
}

// cutChdir takes a -C flag off the front of args.
func cutChdir(args []string) (flag, rest []string) {
	if len(args) == 0 {
		return nil, args
	}
	switch a := strings.TrimPrefix(args[0], "-"); {
	case strings.HasPrefix(a, "-C=") || strings.HasPrefix(a, "C=") && a != args[0]:
		return args[:1], args[1:]
	case (a == "-C" || a == "C" && a != args[0]) && len(args) > 1:
		return args[:2], args[2:]
	}
	return nil, args
}

// chdirTarget is the directory that a -C flag names, or the current one.
func chdirTarget(flag []string) string {
	dir := "."
	switch len(flag) {
	case 1:
		_, dir, _ = strings.Cut(flag[0], "=")
	case 2:
		dir = flag[1]
	}
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
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
