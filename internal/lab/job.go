package lab

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Job is a program with everything that a run of it needs.
type Job struct {
	Program string
	Args    []string
	Dir     string   // in which it runs; "": that of the runner
	Env     []string // more variables

	Plain    bool   // it has no probes
	NoTrace  bool   // its settings are such that it writes no trace
	Settings string // of the recorder, as in QINST, without the file

	Collect bool          // its output is kept in the result, and not passed on
	Limit   time.Duration // its time limit; 0: none
	Failing bool          // the result of a run that fails is of use, too

	// Load, if there is one, is done while the program runs, which is then asked to end. How it
	// does that is no error.
	Load func(ctx context.Context) error
}

// Result is the outcome of a run.
type Result struct {
	Case           string
	Round          int    // counted from 0
	Trace          string // file; "" of a plain program, and of one with NoTrace
	Stdout, Stderr []byte // if they were collected
	Wall, CPU      time.Duration
	Failed         error // see Job.Failing
}

// Pass runs a program as it would run without this one: terminal, signals and output are its own.
// It is no error if it leaves no trace, for it may end before it recorded anything.
func (r *Runner) Pass(j Job, trace string) error {
	cmd := exec.Command(j.Program, j.Args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.Stdin, beneath(r.Stdout), beneath(r.Stderr)
	cmd.Dir, cmd.Env = j.Dir, j.env(trace)
	return attached(cmd)
}

// do runs a program. When it returns the process is gone.
func (r *Runner) do(ctx context.Context, j Job, trace string, p *Progress) (res Result, err error) {
	if j.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, j.Limit,
			fmt.Errorf("found it running after %v, expected it to end", j.Limit))
		defer cancel()
	}
	cmd := command(ctx, j.Program, j.Args...)
	cmd.Dir, cmd.Env = cmp.Or(j.Dir, r.Dir), j.env(trace)
	if cmd.Stdin, err = r.Input(); err != nil {
		return res, err
	}
	var stdout, stderr bytes.Buffer
	if j.Collect {
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
	} else {
		cmd.Stdout, cmd.Stderr = p.Before(r.Stdout), p.Before(r.Stderr)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return res, ended(ctx, err)
	}
	if j.Load != nil {
		err = j.serve(ctx, cmd)
	} else {
		err = cmd.Wait()
	}
	res = Result{Trace: trace, Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), Wall: time.Since(began)}
	if st := cmd.ProcessState; st != nil {
		res.CPU = st.UserTime() + st.SystemTime()
	}
	said := res.Stderr
	if len(said) == 0 { // tests say there what failed, at the end
		said = res.Stdout[max(0, len(res.Stdout)-mostSaid):]
	}
	// What a program says explains why it failed, not that users stopped it.
	if err = ended(ctx, err); err != nil && len(said) > 0 && !errors.As(err, new(Stopped)) {
		err = fmt.Errorf("%w\n%s", err, bytes.TrimRight(said, "\n"))
	}
	return res, err
}

// mostSaid is how much of the output an error has, in bytes.
const mostSaid = 2000

// Input is the input of a run of an experiment: the standard input from its start, if it is a file.
// A pipe can be read only once, and a terminal is the user's.
func (r *Runner) Input() (io.Reader, error) {
	f, ok := r.Stdin.(*os.File)
	if !ok {
		return nil, nil
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, nil // there is none
	}
	_, err := f.Seek(0, io.SeekStart)
	return f, err
}

// serve waits until the work that accompanies the program is done, and asks the program to end. If
// either of them fails the other one ends, because then nothing of the run is of use.
func (j *Job) serve(ctx context.Context, cmd *exec.Cmd) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var end error
	gone, done := make(chan struct{}), make(chan error, 1)
	go func() {
		end = cmd.Wait()
		close(gone)
	}()
	go func() { done <- j.Load(ctx) }()
	select {
	case <-gone:
		if end != nil {
			cancel()
		}
		return cmp.Or(end, <-done)
	case err := <-done:
		_ = cmd.Process.Signal(syscall.SIGTERM) // an error means that it has ended
		select {
		case <-gone:
		case <-time.After(patience):
			_ = cmd.Process.Kill()
			<-gone
		}
		return err
	}
}

// env is the program's environment. A plain program gets no settings, which would be noise to it.
func (j *Job) env(trace string) []string {
	env := append(os.Environ(), j.Env...)
	if j.Plain {
		return env
	}
	settings := j.Settings
	if trace != "" {
		settings = strings.TrimPrefix(settings+",out="+trace, ",")
	}
	return append(env, "QINST="+settings)
}
