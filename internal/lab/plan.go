package lab

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Plan is a set of runs. In each round every case runs once, so that a temporary disturbance of
// the machine affects all of them.
type Plan struct {
	Rounds int
	Cases  []Case
	// Traces is a folder in which the traces are kept. Without one a trace is removed after its
	// result has been used, because the traces of all rounds together may be more than the disk
	// holds.
	Traces string
}

// Case is one thing to compare.
type Case struct {
	Name string
	Job
	// Prepare, if there is one, changes the job before each run.
	Prepare func(round int, j *Job) error
}

// Run runs a plan, and shows each run's result to the function each. It stops at the first error:
// of a program that fails, of one with probes that leaves no trace, of each, and of the context. No
// process is left then, nor a trace that was not to stay.
func (r *Runner) Run(ctx context.Context, plan Plan, each func(Result) error) error {
	if plan.Rounds < 1 || len(plan.Cases) == 0 {
		return fmt.Errorf("found a plan of %d rounds of %d programs, expected one or more of both", plan.Rounds,
			len(plan.Cases))
	}
	temporary, err := MkdirTemp(plan.Traces, "qinst-lab-")
	if err != nil {
		return err
	}
	defer temporary.Remove()
	scratch := string(temporary)
	traces, err := filepath.Abs(cmp.Or(plan.Traces, scratch)) // programs may run elsewhere
	if err != nil {
		return err
	}
	p, began := NewProgress(r.Stderr), time.Now()
	defer p.Clear()
	all := plan.Rounds * len(plan.Cases)
	for n := range all {
		round, c := n/len(plan.Cases), plan.Cases[n%len(plan.Cases)]
		end := time.Time{}
		if p.terminal {
			end = Ends(began, float64(n), float64(all))
		}
		p.step(func() string { return fmt.Sprintf("run %d of %d: %s%s", n+1, all, c.Name, Left(end)) })
		trace := filepath.Join(traces, fmt.Sprintf("%d.%d.sddf", n%len(plan.Cases), round))
		err := r.turn(ctx, c, round, trace, p, each)
		if plan.Traces == "" {
			err = cmp.Or(err, os.RemoveAll(trace))
		}
		if err != nil {
			return fmt.Errorf("%s, run %d of %d: %w", c.Name, n+1, all, err)
		}
	}
	return nil
}

// Once runs one job, whose trace is removed afterwards, under a name.
func (r *Runner) Once(ctx context.Context, name string, j Job, each func(Result) error) error {
	temporary, err := MkdirTemp("", "qinst-lab-")
	if err != nil {
		return err
	}
	defer temporary.Remove()
	scratch := string(temporary)
	p := NewProgress(r.Stderr)
	defer p.Clear()
	end := r.expected.next(p.terminal)
	p.step(func() string { return name + Left(end) })
	return r.turn(ctx, Case{Name: name, Job: j}, 0, filepath.Join(scratch, "run.sddf"), p, each)
}

// During shows what is done without a run, on a terminal, until that is done.
func (r *Runner) During(what string) (done func()) {
	p := NewProgress(r.Stderr)
	p.Show(time.Second, func() string { return what })
	return p.Clear
}

// turn is one run of a case.
func (r *Runner) turn(ctx context.Context, c Case, round int, trace string, p *Progress,
	each func(Result) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	j := c.Job
	j.Args, j.Env = slices.Clone(j.Args), slices.Clone(j.Env) // Prepare may append to them
	if c.Prepare != nil {
		if err := c.Prepare(round, &j); err != nil {
			return err
		}
	}
	if j.Plain || j.NoTrace {
		trace = ""
	}
	res, err := r.do(ctx, j, trace, p)
	if err != nil && (!j.Failing || ctx.Err() != nil) {
		return err
	}
	res.Failed = err
	if _, err := os.Stat(trace); err != nil && trace != "" {
		if res.Failed != nil {
			return res.Failed
		}
		return fmt.Errorf("%s left no trace: expected a program that was built with -toolexec qinst", j.Program)
	}
	res.Case, res.Round = c.Name, round
	return each(res)
}
