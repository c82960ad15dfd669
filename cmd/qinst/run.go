package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"qinst.dev/instrument/toolexec"
)

// cmdRun builds a program with probes, runs it, and reports what it recorded.
func cmdRun(e *env, args []string) error {
	sel, args, err := toolexec.ParseSelection(args)
	if err != nil {
		return usageError{fmt.Errorf("run: %w", err)}
	}
	check, args := cutCheck(args)
	asked, args, err := cutQuestion(args)
	if err != nil {
		return err
	}
	more, err := asked.flags(e)
	if err != nil {
		return err
	}
	build, program, progArgs, err := splitRun(slices.Concat(more, sel.Flags(), args))
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "qinst-run-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	exe := filepath.Join(tmp, programName(build, program))
	goArgs, err := goArgs("build", build)
	if err != nil {
		return err
	}
	e.progress("building %s with probes", strings.Join(program, " "))
	if err := runGo(e, append(append(goArgs, "-o", exe), program...)); err != nil {
		return err
	}
	if check {
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
	if asked.question != nil {
		answer = asked.report
	}
	if err := answer(e, out); err != nil && ran == nil {
		return err
	}
	return ran
}

// afterRun reports the trace of a finished run. A program that ended before it
// recorded anything leaves none.
func afterRun(e *env, file string) error {
	if _, err := os.Stat(file); err != nil {
		fmt.Fprintf(e.stderr, "qinst: no trace: %v\n", err)
		return nil
	}
	if report, ok := commandByName("report"); ok {
		return report.run(e, []string{file})
	}
	fmt.Fprintf(e.stderr, "qinst: trace in %s\n", file)
	return nil
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

// boolFlags are the build flags that take no value.
var boolFlags = []string{
	"a", "asan", "cover", "json", "linkshared", "modcacherw", "msan", "n", "race", "trimpath", "v", "work", "x",
}

// splitRun splits the arguments of run as "go run" does: flags, then a package or
// the files of one, then the program's own arguments.
func splitRun(args []string) (build, program, rest []string, err error) {
	i := 0
	for i < len(args) && strings.HasPrefix(args[i], "-") {
		name := strings.TrimLeft(args[i], "-")
		i++
		if !strings.Contains(name, "=") && !isBoolFlag(name) {
			i++ // its value
		}
	}
	if i >= len(args) {
		return nil, nil, nil, usageError{fmt.Errorf("run: found no package; usage: qinst run [selection] [build flags] package [arguments]")}
	}
	n := i
	for n < len(args) && strings.HasSuffix(args[n], ".go") {
		n++
	}
	if n == i {
		n++
	}
	return args[:i], args[i:n], args[n:], nil
}

func isBoolFlag(name string) bool {
	for _, b := range boolFlags {
		if name == b {
			return true
		}
	}
	return false
}

// programName is what the go command would call the program: traces and process
// lists show it.
func programName(build, program []string) string {
	if strings.HasSuffix(program[0], ".go") {
		return strings.TrimSuffix(filepath.Base(program[0]), ".go")
	}
	chdir, _ := cutChdir(build)
	list := exec.Command("go", append(append([]string{"list"}, chdir...), "-f", "{{.Target}}\n{{.ImportPath}}", program[0])...)
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
