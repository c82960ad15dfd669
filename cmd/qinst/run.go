package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/lab/check"
)

// runFlags holds the flags of the command "run".
type runFlags struct {
	*flagSet
	check bool
	view  bool
	out   string // file for the report; "": the terminal
	asked asked
}

// setupRun builds a program with probes, runs it, and reports on its trace.
func setupRun(fs *flagSet) action {
	r := &runFlags{flagSet: fs}
	fs.group("What to record")
	fs.boolean(&r.check, "check", "run the program alternately in four recording modes, and check that the results agree")
	r.asked.define(fs)
	fs.group("Output")
	fs.boolean(&r.view, "view", "show the trace in a browser after the report")
	fs.text(&r.out, "o", "write the report to this new `file` (- for the standard output; default: the terminal, or the standard error where the program's output goes elsewhere)")
	fs.selection("build")
	fs.program = func() bool { return true }
	return r.run
}

func (r *runFlags) run(e *env, args []string) error {
	program, progArgs := splitProgram(args)
	if len(program) == 0 {
		return incomplete("run", "no package", "one that is a program", "run [flags] ./prog [arguments]")
	}
	if err := newFile(r.out, "-o"); err != nil {
		return err
	}
	tmp, err := lab.MkdirTemp("", "qinst-run-")
	if err != nil {
		return err
	}
	defer tmp.Remove()
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	exe, err := r.build(ctx, e, string(tmp), program)
	if err != nil {
		return err
	}
	if r.check {
		return r.answer(e, func(e *env) error { return checkRuns(ctx, e, exe, progArgs) })
	}
	settings := r.asked.settings()
	out := traceFile(e, settings, filepath.Base(exe))
	if err := newFile(out, "QINST=out=FILE"); err != nil {
		return err
	}
	ran := passStatus(e.runner().Pass(lab.Job{Program: exe, Args: progArgs, Settings: settings}, out))
	stop()                                  // an interrupt may end the report
	if _, err := os.Stat(out); err != nil { // it ended before it recorded anything
		fmt.Fprintf(e.stderr, "qinst: no trace: %v\n", err)
		return ran
	}
	err = r.answer(e, func(e *env) error { return r.report(e, out) })
	if r.view && err == nil {
		err = (&viewFlags{address: anyPort}).show(e, out, "")
	}
	if ran != nil {
		return ran
	}
	return err
}

// answer lets do write the run's report. The program's output stays by itself: the report goes to
// the file that -o names, or to the terminal. Standard output that goes elsewhere is the program's
// data, and the report then goes to standard error.
func (r *runFlags) answer(e *env, do func(*env) error) error {
	switch {
	case r.out != "":
		return writeTo(e, r.out, func(w io.Writer) error { return do(newEnv(w, e.stderr)) })
	case r.check || lab.Terminal(e.raw):
		return do(e) // a check discards the program's output
	}
	return do(newEnv(e.stderr, e.stderr))
}

// newFile returns an error if a file is there that would have to be written over. Long runs need to
// know that at once.
func newFile(name, option string) error {
	if st, err := os.Lstat(name); err == nil && st.Mode().IsRegular() {
		return fmt.Errorf("found %s, expected no such file: nothing is written over it; remove it or name another with %s", name, option)
	}
	return nil
}

// build builds the program in a directory and returns its path.
func (r *runFlags) build(ctx context.Context, e *env, dir string, program []string) (exe string, err error) {
	more, err := r.asked.flags(e)
	if err != nil {
		return "", err
	}
	sel, err := r.selected(more...)
	if err != nil {
		return "", err
	}
	v, err := r.variant(e, sel, program)
	if err != nil {
		return "", err
	}
	v.Name = strings.Join(program, " ")
	name, err := programName(r.Name(), r.chdir, program)
	if err != nil {
		return "", err
	}
	exe = filepath.Join(dir, name)
	return exe, r.built(e, v, e.runner().Build(ctx, exe, v))
}

// checkRuns runs a program in each mode and shows how well the modes agree. It discards the
// program's output, which would appear once for every run.
func checkRuns(ctx context.Context, e *env, exe string, args []string) error {
	c, err := check.Modes(ctx, &lab.Runner{Stdin: os.Stdin, Stderr: e.stderr}, exe, args)
	if err != nil {
		return fmt.Errorf("run -check: %w", err)
	}
	return writeText(e, c.Doc())
}

// report reports the trace of a finished run, or answers the question that was asked of it.
func (r *runFlags) report(e *env, file string) error {
	if r.asked.question != nil {
		return r.asked.report(e, file)
	}
	return (&reportFlags{}).report(e, file)
}

// outName is the name of the output of a program that this process starts.
func outName(pattern, program string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	return strings.NewReplacer("%n", program, "%p", strconv.Itoa(os.Getpid()), "%h", host).Replace(pattern)
}

// traceFile returns the trace file that the settings name, or else the name of a new one in the
// working directory. The program's process has no number yet, so that %p is the command's own.
// Where that cannot be written to, as in many containers, it is one in the directory for temporary
// files.
func traceFile(e *env, settings, program string) string {
	for item := range strings.SplitSeq(settings, ",") {
		if name, ok := strings.CutPrefix(item, "out="); ok {
			return outName(name, program)
		}
	}
	dir, err := os.Getwd() // the program may change its directory
	if err == nil {
		err = writable(dir)
	}
	if err == nil {
		return newTrace(dir, program)
	}
	file := newTrace(os.TempDir(), program)
	fmt.Fprintf(e.stderr, "qinst: cannot write to the working directory (%v): the trace is %s\n", errors.Unwrap(err),
		file)
	return file
}

// writable returns an error if no file can be made in a directory.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".qinst-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// newTrace returns the path of a trace that is not there yet.
func newTrace(dir, program string) string {
	for n := os.Getpid(); ; n++ {
		file := filepath.Join(dir, fmt.Sprintf("%s.%d.sddf", program, n))
		if _, err := os.Lstat(file); err != nil {
			return file
		}
	}
}

// splitProgram splits arguments as "go run" does: a package or the Go files of one, then
// the program's own arguments.
func splitProgram(args []string) (program, rest []string) {
	n := 0
	for n < len(args) && strings.HasSuffix(args[n], ".go") {
		n++
	}
	if n == 0 && len(args) > 0 {
		n = 1
	}
	return args[:n], args[n:]
}

// programName returns the go command's name for the program, because traces and process lists show
// it. A package that is no program is an error, as for "go run": "go build" would make no file that
// could run.
func programName(command, dir string, program []string) (string, error) {
	if strings.HasSuffix(program[0], ".go") {
		return strings.TrimSuffix(filepath.Base(program[0]), ".go"), nil
	}
	list := exec.Command("go", slices.Concat([]string{"list"}, chdir(dir),
		[]string{"-f", "{{.Name}}\t{{.ImportPath}}\t{{.Target}}", program[0]})...)
	out, err := list.Output()
	if err != nil {
		return "program", nil // the build says what is wrong
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) > 1 {
		return "", usageError{fmt.Errorf("%s: pattern %s matches %d packages, expected one", command, program[0], len(lines))}
	}
	fields := append(strings.Split(lines[0], "\t"), "", "")
	name, path, target := fields[0], fields[1], fields[2]
	if path != "" && name != "main" {
		return "", usageError{fmt.Errorf("%s: package %s is not a main package: \"qinst test\" runs the tests of one that is none", command, path)}
	}
	return filepath.Base(cmp.Or(target, path, "program")), nil
}
