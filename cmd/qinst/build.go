package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"qinst.dev/instrument/toolexec"
	"qinst.dev/internal/lab"
	"qinst.dev/runtime/api"
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
		v, err := fs.variant(e, sel, args)
		if err != nil {
			return err
		}
		return fs.built(e, v, e.runner().Go(verb, v))
	}
}

// built is how a go command ended. If it failed, and packages import what has moved, qinst says
// where that is now: the go command, which finds no such package, ends before it runs a tool that
// could.
func (f *flagSet) built(e *env, v lab.Variant, err error) error {
	if err == nil {
		return nil
	}
	imports := lab.Variant{Dir: v.Dir, Flags: f.goFlags.compiling(f.passed), Args: leading(v.Args)}.Imports()
	for _, old := range slices.Sorted(maps.Keys(api.Moved)) {
		if slices.Contains(imports, old) {
			fmt.Fprintf(e.stderr, "qinst: found an import of %s, its old path, expected %s: change the import (README, In your own module)\n", old, api.Moved[old])
		}
	}
	return passStatus(err)
}

// variant is a build with a selection, in the directory and with the flags and arguments of a
// command line. Packages that the selection may change have its mark.
func (f *flagSet) variant(e *env, sel toolexec.Selection, args []string) (v lab.Variant, err error) {
	dir, err := filepath.Abs(f.chdir)
	if err != nil {
		return v, err
	}
	v.Dir, v.Flags, v.Args = f.chdir, f.passed, args
	whole, err := sel.WithFile(dir)
	if err != nil {
		return v, err
	}
	if out, err := exec.Command("go", "env", "GOFLAGS").Output(); err == nil &&
		!strings.Contains(string(out), "-gcflags") {
		// ours would replace those
		var has []string
		if whole.Patterns() {
			has = lab.Variant{Dir: f.chdir, Flags: f.goFlags.compiling(f.passed), Args: leading(args)}.Packages()
		}
		whole, v.Flags = whole.Marked(f.passed, has)
		sel.Mark = whole.Mark
	}
	if v.Wrapper, err = wrapperOf(sel); err != nil {
		return v, err
	}
	first := v
	first.Flags = f.goFlags.compiling(v.Flags)
	tellLong(e, first, whole)
	return v, nil
}

// tellLong says why a build takes long, if it does: the go command compiles the standard library
// then, and is silent.
func tellLong(e *env, v lab.Variant, sel toolexec.Selection) {
	switch std := sel.Std(); {
	case v.Stale([]string{"runtime"}): // every program has it
		beside := ""
		if len(sel.Then) > 0 {
			beside = " for probes and " + filepath.Base(sel.Then[0])
		}
		fmt.Fprintf(e.stderr, "qinst: compiling the standard library%s: once, a minute or two\n", beside)
	case len(std) > 0 && v.Stale(std):
		fmt.Fprintln(e.stderr, "qinst: compiling packages of the standard library with these probes: once")
	}
}

// leading returns the arguments before the first flag: packages or files.
func leading(args []string) []string {
	if i := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") }); i >= 0 {
		return args[:i]
	}
	return args
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
