// Package lab is the floor under experiments. It builds programs, with probes and without, runs
// them alternately with different settings of the recorder, and returns the outcome of each run:
// its trace, its output, and the resources it used. An experiment describes its runs in a Plan:
//
//	r := &lab.Runner{Stderr: os.Stderr}
//	err := r.Build(ctx, "prog", lab.Variant{Name: "prog", Wrapper: []string{"qinst"}, Args: []string{"./prog"}})
//	...
//	err = r.Run(ctx, lab.Plan{Rounds: 3, Cases: []lab.Case{
//		{Name: "count", Job: lab.Job{Program: "./prog", Settings: "mode=count"}},
//		{Name: "trace", Job: lab.Job{Program: "./prog", Settings: "budget=off"}},
//	}}, func(res lab.Result) error { ... })
//
// It does not read traces or compute statistics; experiments do that.
package lab

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// Runner starts processes. It must end only processes that it started, by their ids.
type Runner struct {
	// for the user's own commands: go commands, and programs that are passed through; a file for
	// each run of an experiment, too
	Stdin          io.Reader
	Stdout, Stderr io.Writer // for the processes; progress goes to Stderr, too
	Dir            string    // in which programs run whose job names none; "": the current one

	expected expected
}

// expected are runs of [Runner.Once] that follow each other.
type expected struct {
	since       time.Time
	made, whole int // 0: it is not known how many there are
}

// Expect says how many runs of [Runner.Once] follow, more or less, so that their progress has the
// time that is left.
func (r *Runner) Expect(runs int) { r.expected = expected{since: time.Now(), whole: runs} }

// next is when the expected runs will have ended, before another one of them begins.
func (x *expected) next(terminal bool) (end time.Time) {
	if terminal && x.whole > x.made {
		end = Ends(x.since, float64(x.made), float64(x.whole))
	}
	x.made++
	return end
}

// Stopped is the cause of a context that a signal ended, and so the error of an operation that it
// stopped.
type Stopped struct{ Signal syscall.Signal }

func (s Stopped) Error() string { return s.Signal.String() }

// EndedBy returns the signal that caused an error: one that ended a program, or that stopped this
// one.
func EndedBy(err error) (signal syscall.Signal, ok bool) {
	var stopped Stopped
	if errors.As(err, &stopped) {
		return stopped.Signal, true
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if ws, isUnix := exit.Sys().(syscall.WaitStatus); isUnix && ws.Signaled() {
			return ws.Signal(), true
		}
	}
	return 0, false
}

// Signals returns a context that ends at the first interrupt or request to terminate; stop
// restores their default effect. The second signal ends the process at once, as it would by
// default, because code that reads a long trace does not check the context.
func Signals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	got := make(chan os.Signal, 1)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	go func() {
		defer signal.Stop(got)
		select {
		case s := <-got:
			cancel(Stopped{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(got)
		cancel(context.Canceled)
	}
}

// patience is how long a process that was asked to end may take. Then it is killed.
const patience = 5 * time.Second

// command is a process that ends with the context.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error {
		endsProgram()
		// The go command removes its scratch files when it is interrupted, and only then.
		if err := cmd.Process.Signal(os.Interrupt); err == nil || errors.Is(err, os.ErrProcessDone) {
			return err
		}
		return cmd.Process.Kill() // systems without interrupts
	}
	cmd.WaitDelay = patience
	return cmd
}

// ended is why a process failed: because the context ended, if it did.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// attached runs a command and leaves the terminal's signals to it: the command decides whether
// they end it, and this process survives to report it.
func attached(cmd *exec.Cmd) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	leaveSignals(1)
	defer leaveSignals(-1)
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
