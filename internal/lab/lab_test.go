//go:build unix

package lab_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"qinst.dev/internal/lab"
)

// TestMain makes the test binary the program that experiments run.
func TestMain(m *testing.M) {
	if os.Getenv("LAB_PROGRAM") != "" {
		os.Exit(program(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// program follows its arguments, in order, and returns its exit status.
func program(args []string) int {
	for _, arg := range args {
		what, value, _ := strings.Cut(arg, "=")
		switch what {
		case "trace": // as the recorder leaves one
			for item := range strings.SplitSeq(os.Getenv("QINST"), ",") {
				if name, ok := strings.CutPrefix(item, "out="); ok {
					if err := os.WriteFile(name, nil, 0o666); err != nil {
						return 99
					}
				}
			}
		case "say":
			fmt.Println(value)
		case "read":
			text, err := io.ReadAll(os.Stdin)
			if err != nil {
				return 98
			}
			fmt.Println(string(text))
		case "complain":
			fmt.Fprintln(os.Stderr, value)
		case "settings":
			settings, _, _ := strings.Cut("QINST="+os.Getenv("QINST"), "out=")
			fmt.Println(settings, os.Getenv("MORE"))
		case "status":
			n, _ := strconv.Atoi(value)
			return n
		case "die":
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case "analyze": // and look at no context
			lab.EndBySignals(os.Exit)
			_, stop := lab.Signals(context.Background())
			defer stop()
			if _, err := lab.MkdirTemp(value, "scratch"); err != nil {
				return 97
			}
			fmt.Println("ready")
			time.Sleep(time.Hour)
		case "deaf":
			signal.Ignore(os.Interrupt)
		case "listen": // until a request for the end
			end := make(chan os.Signal, 1)
			signal.Notify(end, syscall.SIGTERM)
			os.WriteFile(value, nil, 0o666)
			<-end
		case "sleep":
			os.WriteFile(value+".part", []byte(strconv.Itoa(os.Getpid())), 0o666)
			os.Rename(value+".part", value)
			time.Sleep(time.Hour)
		}
	}
	return 0
}

// job runs the program with arguments.
func job(args ...string) lab.Job {
	return lab.Job{Program: os.Args[0], Args: args, Env: []string{"LAB_PROGRAM=1"}}
}

func plain(j lab.Job) lab.Job { j.Plain = true; return j }

func without(j lab.Job) lab.Job { j.NoTrace = true; return j }

func with(settings string, j lab.Job) lab.Job { j.Settings, j.Collect = settings, true; return j }

// Cases run alternately, each with its own settings, and their traces last for the requested time.
func TestRounds(t *testing.T) {
	t.Parallel()
	kept := t.TempDir()
	for name, c := range map[string]struct {
		plan lab.Plan
		want []string
	}{
		"one": {lab.Plan{Rounds: 2, Cases: []lab.Case{{Name: "a", Job: with("mode=count", job("trace", "settings"))}}},
			[]string{"a 0: QINST=mode=count, ", "a 1: QINST=mode=count, "}},
		"off": {lab.Plan{Rounds: 1, Cases: []lab.Case{{Name: "a", Job: job("trace")},
			{Name: "off", Job: without(with("mode=off", job("trace", "settings")))}}},
			[]string{"a 0: ", "off 0: QINST=mode=off "}},
		"turns": {lab.Plan{Rounds: 2, Traces: kept, Cases: []lab.Case{
			{Name: "a", Job: with("", job("trace", "settings"))},
			{Name: "plain", Job: plain(with("mode=off", job("settings")))},
			{Name: "b", Job: with("budget=off,main.*=count", job("trace", "settings")),
				Prepare: func(round int, j *lab.Job) error {
					j.Env = append(j.Env, fmt.Sprint("MORE=", round))
					return nil
				}},
		}}, []string{"a 0: QINST= ", "plain 0: QINST= ", "b 0: QINST=budget=off,main.*=count, 0", "a 1: QINST= ",
			"plain 1: QINST= ", "b 1: QINST=budget=off,main.*=count, 1"}},
	} {
		var got, traces []string
		err := (&lab.Runner{}).Run(t.Context(), c.plan, func(res lab.Result) error {
			got = append(got, fmt.Sprintf("%s %d: %s", res.Case, res.Round,
				strings.TrimSuffix(string(res.Stdout), "\n")))
			if res.Trace != "" {
				if n := len(traces); n > 0 && c.plan.Traces == "" {
					if _, err := os.Stat(traces[n-1]); err == nil {
						t.Errorf("%s: %s is still there, expected it to go when it had been looked at", name,
							traces[n-1])
					}
				}
				traces = append(traces, res.Trace)
				if _, err := os.Stat(res.Trace); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if res.Wall <= 0 || res.CPU < 0 || res.CPU > time.Minute {
				t.Errorf("%s: took %v, processor time %v", name, res.Wall, res.CPU)
			}
			return nil
		})
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v\n%q, expected\n%q", name, err, got, c.want)
		}
		slices.Sort(traces)
		if n := len(slices.Compact(slices.Clone(traces))); n != len(traces) || n == 0 {
			t.Errorf("%s: traces %q, expected a file for each run", name, traces)
		}
		for _, file := range traces {
			if _, err := os.Stat(file); (err == nil) != (c.plan.Traces != "") {
				t.Errorf("%s: afterwards %v, expected the trace to last: %v", name, err, c.plan.Traces != "")
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(kept, "*")); len(left) != 4 {
		t.Errorf("%q are left, expected four traces", left)
	}
}

// An error stops the plan, and names the run.
func TestErrors(t *testing.T) {
	t.Parallel()
	ok := lab.Case{Name: "ok", Job: job("trace")}
	fails := func(j lab.Job) []lab.Case { return []lab.Case{ok, {Name: "bad", Job: j}} }
	broken := errors.New("broken")
	limited := job("trace", "sleep="+filepath.Join(t.TempDir(), "pid"))
	limited.Limit = 200 * time.Millisecond
	for name, c := range map[string]struct {
		cases  []lab.Case
		rounds int
		want   string
		status int // of the program
		signal syscall.Signal
		runs   int // that were looked at
	}{
		"fine": {cases: fails(job("trace")), rounds: 2, runs: 4},
		"status": {cases: fails(job("trace", "status=3")), rounds: 2, want: "bad, run 2 of 4: exit status 3",
			status: 3, runs: 1},
		"signal": {cases: fails(job("die")), rounds: 1, want: "bad, run 2 of 2: signal: killed", status: -1,
			signal: syscall.SIGKILL, runs: 1},
		"complaint": {cases: fails(with("", job("complain=why", "status=1"))), rounds: 1,
			want: "bad, run 2 of 2: exit status 1\nwhy", status: 1, runs: 1},
		"no trace": {cases: fails(job()), rounds: 1,
			want: "bad, run 2 of 2: " + os.Args[0] +
				" left no trace: expected a program that was built with -toolexec qinst", runs: 1},
		"limit": {cases: fails(limited), rounds: 1,
			want: "bad, run 2 of 2: found it running after 200ms, expected it to end", runs: 1},
		"no program": {cases: fails(lab.Job{Program: "/none"}), rounds: 1,
			want: "bad, run 2 of 2: fork/exec /none: no such file or directory", runs: 1},
		"prepare": {cases: []lab.Case{{Name: "bad", Prepare: func(int, *lab.Job) error { return broken }}}, rounds: 1,
			want: "bad, run 1 of 1: broken"},
		"no rounds": {cases: fails(job("trace")), want: "found a plan of 0 rounds of 2 programs, expected one or more of both"},
		"no cases":  {rounds: 2, want: "found a plan of 2 rounds of 0 programs, expected one or more of both"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs := 0
			err := (&lab.Runner{}).Run(t.Context(), lab.Plan{Rounds: c.rounds, Cases: c.cases},
				func(lab.Result) error { runs++; return nil })
			if got := fmt.Sprint(err); got != c.want && (c.want != "" || err != nil) {
				t.Errorf("found %q, expected %q", got, c.want)
			}
			var exit *exec.ExitError
			if errors.As(err, &exit) != (c.status != 0) || exit != nil && exit.ExitCode() != c.status {
				t.Errorf("%v, expected exit status %d", exit, c.status)
			}
			if signal, ok := lab.EndedBy(err); ok != (c.signal != 0) || signal != c.signal {
				t.Errorf("ended by %v, %v; expected %v", signal, ok, c.signal)
			}
			if runs != c.runs {
				t.Errorf("%d runs were looked at, expected %d", runs, c.runs)
			}
		})
	}
	runs := 0
	err := (&lab.Runner{}).Run(t.Context(), lab.Plan{Rounds: 9, Cases: []lab.Case{ok}}, func(lab.Result) error {
		if runs++; runs == 2 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) || runs != 2 {
		t.Errorf("%v after %d runs, expected the error of the second one", err, runs)
	}
}

// await waits until a program has written a file, and returns what it wrote.
func await(t *testing.T, file string) string {
	t.Helper()
	for range 3000 {
		if data, err := os.ReadFile(file); err == nil {
			return string(data)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not appear", file)
	return ""
}

// A stopped plan leaves neither a process nor a scratch file, and touches no other process. This
// holds for programs that do not hear, too.
func TestStop(t *testing.T) {
	for _, args := range [][]string{{}, {"deaf"}} {
		tmp := t.TempDir()
		t.Setenv("TMPDIR", tmp)
		pids := t.TempDir()
		other := exec.Command(os.Args[0], "sleep="+filepath.Join(pids, "other"))
		other.Env = append(os.Environ(), "LAB_PROGRAM=1")
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, filepath.Join(pids, "other"))
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() {
			j := with("", job(append(args, "trace", "say=ready", "sleep="+filepath.Join(pids, "pid"))...))
			done <- (&lab.Runner{}).Run(ctx, lab.Plan{Rounds: 3, Cases: []lab.Case{{Name: "a", Job: j}}},
				func(lab.Result) error {
					t.Error("a run that was stopped has a result")
					return nil
				})
		}()
		pid, err := strconv.Atoi(await(t, filepath.Join(pids, "pid")))
		if err != nil {
			t.Fatal(err)
		}
		cancel(lab.Stopped{Signal: syscall.SIGINT})
		err = <-done
		if signal, ok := lab.EndedBy(err); !ok || signal != syscall.SIGINT {
			t.Errorf("%v: %v, expected an error that tells of the interrupt", args, err)
		} else if strings.Contains(err.Error(), "ready") {
			t.Errorf("%v: %v, expected nothing that the program said: it is no reason", args, err)
		}
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%v: the program is still there: %v", args, err)
		}
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("%v: %v are left, expected nothing (%v)", args, left, err)
		}
		if err := syscall.Kill(other.Process.Pid, 0); err != nil {
			t.Errorf("%v: a program that the runner did not start is gone: %v", args, err)
		}
		other.Process.Kill()
		other.Wait()
	}
}

// The first signal ends the context; the stop function gives signals back.
func TestSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		ctx, stop := lab.Signals(t.Context())
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		if signal, ok := lab.EndedBy(fmt.Errorf("a: %w", context.Cause(ctx))); !ok || signal != s {
			t.Errorf("after %v: %v", s, context.Cause(ctx))
		}
		stop()
	}
	ctx, stop := lab.Signals(t.Context())
	stop()
	if ctx.Err() == nil {
		t.Error("a context whose signals were given back still lives")
	}
	ends := exec.Command(os.Args[0], "sleep="+filepath.Join(t.TempDir(), "pid"))
	ends.Env = append(os.Environ(), "LAB_PROGRAM=1")
	if err := ends.Start(); err != nil {
		t.Fatal(err)
	}
	ends.Process.Signal(syscall.SIGTERM)
	if signal, ok := lab.EndedBy(ends.Wait()); !ok || signal != syscall.SIGTERM {
		t.Errorf("ended by %v, %v; expected %v", signal, ok, syscall.SIGTERM)
	}
}

// One signal ends a command that looks at no context, and removes what is temporary. A second one
// is not needed.
func TestEndBySignals(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0], "analyze="+dir)
		cmd.Env = append(os.Environ(), "LAB_PROGRAM=1")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		hangs := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 128+int(s) {
			t.Errorf("after %v: %v, expected status %d", s, err, 128+int(s))
		}
		hangs.Stop()
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("after %v: %v are left, expected nothing (%v)", s, left, err)
		}
	}
}

// A program under load runs until the load is done, and is then asked to end.
func TestLoad(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ready")
	j := job("listen="+file, "say=bye", "trace")
	j.Collect = true
	loads := 0
	j.Load = func(context.Context) error {
		await(t, file)
		loads++
		return nil
	}
	plan := lab.Plan{Rounds: 1, Cases: []lab.Case{{Name: "server", Job: j}}}
	said := ""
	err := (&lab.Runner{}).Run(t.Context(), plan, func(res lab.Result) error { said = string(res.Stdout); return nil })
	if err != nil || loads != 1 || said != "bye\n" {
		t.Errorf("%v, %d loads, says %q; expected one load, and the end that a server has", err, loads, said)
	}
	file += ".again"
	j.Args = []string{"trace", "sleep=" + file} // it handles no signal
	plan.Cases[0].Job = j
	if err := (&lab.Runner{}).Run(t.Context(), plan, func(lab.Result) error { return nil }); err != nil || loads != 2 {
		t.Errorf("%v, %d loads, expected no error of a program that the signal ended", err, loads)
	}
	wait := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	j.Args, j.Load = []string{"status=3"}, wait
	plan.Cases[0].Job = j
	if err := (&lab.Runner{}).Run(t.Context(), plan, func(lab.Result) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("%v, expected that the program failed before the load was done", err)
	}
	broken := errors.New("a wrong answer")
	j = job("listen=" + file)
	j.Load = func(context.Context) error { return broken }
	plan.Cases[0].Job = j
	if err := (&lab.Runner{}).Run(t.Context(), plan, func(lab.Result) error { return nil }); !errors.Is(err, broken) {
		t.Errorf("%v, expected the error of the load", err)
	}
}

// Each run of an experiment reads the standard input from its start, if that is a file.
func TestInput(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(name, []byte("all of it"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	pipe, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	defer write.Close() // its end would not be seen
	for _, c := range []struct {
		in   io.Reader
		want string
	}{{in, "all of it\nall of it\n"}, {pipe, "\n\n"}, {strings.NewReader("x"), "\n\n"}, {nil, "\n\n"}} {
		var out strings.Builder
		err := (&lab.Runner{Stdin: c.in, Stdout: &out}).Run(t.Context(),
			lab.Plan{Rounds: 2, Cases: []lab.Case{{Name: "a", Job: plain(job("read"))}}},
			func(lab.Result) error { return nil })
		if err != nil || out.String() != c.want {
			t.Errorf("%T: found %q, %v, expected %q", c.in, out.String(), err, c.want)
		}
	}
}

// A command of the shell ends with all that it started.
func TestShell(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "there")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		await(t, file)
		cancel()
	}()
	began := time.Now()
	out, err := lab.Shell(ctx, "echo a; touch '"+file+"'; sleep 100; echo b")
	if err == nil || string(out) != "a\n" || time.Since(began) > 50*time.Second {
		t.Errorf("found %q, %v", out, err)
	}
}

// Progress is a line for each run where lines are not overwritten, and none of it is on the
// standard output, which is the programs' own.
func TestProgress(t *testing.T) {
	t.Parallel()
	var out, talk strings.Builder
	r := &lab.Runner{Stdin: strings.NewReader("not for experiments"), Stdout: &out, Stderr: &talk}
	err := r.Run(t.Context(), lab.Plan{Rounds: 2, Cases: []lab.Case{{Name: "a", Job: plain(job("say=1"))},
		{Name: "b", Job: plain(job("complain=2"))}}},
		func(lab.Result) error { return nil })
	want := "qinst: run 1 of 4: a\nqinst: run 2 of 4: b\n2\nqinst: run 3 of 4: a\nqinst: run 4 of 4: b\n2\n"
	if err != nil || out.String() != "1\n1\n" || talk.String() != want {
		t.Errorf("%v\n%q\n%q, expected\n%q", err, out.String(), talk.String(), want)
	}
}

// A program that is passed through has all that is the user's, and may leave no trace.
func TestPass(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := &lab.Runner{Stdout: &out, Stderr: io.Discard}
	trace := filepath.Join(t.TempDir(), "t.sddf")
	err := r.Pass(with("mode=count", job("settings", "say=x", "status=4")), trace)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 4 || out.String() != "QINST=mode=count, \nx\n" {
		t.Errorf("%v, says %q; expected status 4 and the settings", err, out.String())
	}
	if err := r.Pass(job("trace"), trace); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(trace); err != nil {
		t.Error(err)
	}
}

// A load has a time and an output of its own.
func TestServed(t *testing.T) {
	t.Parallel()
	var l lab.Load
	if err := l.Run(t.Context(), "sleep 0.05; echo done; echo so >&2"); err != nil || l.Took < 50*time.Millisecond ||
		string(l.Output) != "done\nso\n" {
		t.Errorf("found %v, %v, %q", err, l.Took, l.Output)
	}
	if err := l.Run(t.Context(), "echo no; exit 3"); err == nil ||
		err.Error() != "-load: echo no; exit 3: exit status 3\nno" {
		t.Errorf("found %v", err)
	}
}
