package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// runFlags are what the command "run" is asked for.
type runFlags struct {
	*flagSet
	check bool
	asked asked
}

// setupRun builds a program with probes, runs it, and reports what it recorded.
func setupRun(fs *flagSet) action {
	r := &runFlags{flagSet: fs}
	fs.group("What to record")
	fs.boolean(&r.check, "check", "run the program alternately in four recording modes, and check that the results agree")
	r.asked.define(fs)
	fs.selection("build")
	fs.program = func() bool { return true }
	return r.run
}

func (r *runFlags) run(e *env, args []string) error {
	program, progArgs := splitProgram(args)
	if len(program) == 0 {
		return usageError{errors.New(`run: found no package; usage: qinst run [flags] package [arguments]; "qinst help run" lists the flags`)}
	}
	tmp, err := os.MkdirTemp("", "qinst-run-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	exe, err := r.build(e, tmp, program)
	if err != nil {
		return err
	}
	if r.check {
		return checkRuns(e, exe, progArgs)
	}
	out, setting := outputSetting(os.Getenv("QINST"), filepath.Base(exe))
	if st, err := os.Lstat(out); err == nil && st.Mode().IsRegular() {
		return fmt.Errorf("found %s, expected no such file: a trace is not written over another; remove it or name another in QINST=out=FILE", out)
	}
	cmd := exec.Command(exe, progArgs...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, e.stdout, e.stderr
	cmd.Env = append(os.Environ(), "QINST="+setting)
	ran := passStatus(runChild(cmd))
	answer := afterRun
	if r.asked.question != nil {
		answer = r.asked.report
	}
	if err := answer(e, out); err != nil && ran == nil {
		return err
	}
	return ran
}

// build builds the program in a directory and returns its path.
func (r *runFlags) build(e *env, dir string, program []string) (exe string, err error) {
	more, err := r.asked.flags(e)
	if err != nil {
		return "", err
	}
	sel, err := r.selected(more...)
	if err != nil {
		return "", err
	}
	exe = filepath.Join(dir, programName(r.chdir, program))
	goArgs, err := goArgs("build", r.chdir, sel, slices.Concat(r.passed, []string{"-o", exe}, program)...)
	if err != nil {
		return "", err
	}
	e.progress("building %s with probes", strings.Join(program, " "))
	return exe, runGo(e, goArgs)
}

// afterRun reports the trace of a finished run. A program that ended before it
// recorded anything leaves none.
func afterRun(e *env, file string) error {
	if _, err := os.Stat(file); err != nil {
		fmt.Fprintf(e.stderr, "qinst: no trace: %v\n", err)
		return nil
	}
	return (&reportFlags{}).report(e, file)
}

// outputSetting adds the name of a new trace file to settings, unless they name
// one.
func outputSetting(settings, program string) (file, all string) {
	for item := range strings.SplitSeq(settings, ",") {
		if name, ok := strings.CutPrefix(item, "out="); ok {
			return name, settings
		}
	}
	for n := 0; ; n++ {
		file = fmt.Sprintf("%s.%d.sddf", program, os.Getpid()+n)
		if _, err := os.Lstat(file); os.IsNotExist(err) {
			break
		}
	}
	if abs, err := filepath.Abs(file); err == nil {
		file = abs // the program may change its directory
	}
	if settings != "" {
		settings += ","
	}
	return file, settings + "out=" + file
}

// splitProgram splits arguments as "go run" does: a package or the files of one, then the
// program's own arguments.
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

// programName is what the go command would call the program: traces and process
// lists show it.
func programName(dir string, program []string) string {
	if strings.HasSuffix(program[0], ".go") {
		return strings.TrimSuffix(filepath.Base(program[0]), ".go")
	}
	list := exec.Command("go", slices.Concat([]string{"list"}, chdir(dir), []string{"-f", "{{.Target}}\n{{.ImportPath}}", program[0]})...)
	out, err := list.Output()
	if err == nil {
		target, path, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		if target != "" {
			return filepath.Base(target)
		}
		return filepath.Base(path)
	}
	return "program"
}

// runChild runs a command and leaves the terminal's signals to it.
func runChild(cmd *exec.Cmd) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case s := <-signals:
				if s == syscall.SIGTERM { // an interrupt reaches the whole group
					_ = cmd.Process.Signal(s) // it may have ended
				}
			case <-done:
				return
			}
		}
	}()
	return cmd.Wait()
}

// progress says what takes long, to people only.
func (e *env) progress(format string, args ...any) {
	f, ok := e.stderr.(*os.File)
	if !ok {
		return
	}
	if st, err := f.Stat(); err != nil || st.Mode()&os.ModeCharDevice == 0 {
		return
	}
	fmt.Fprintf(e.stderr, "qinst: "+format+"\n", args...)
}
