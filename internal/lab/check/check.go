// Package check tests the recorder on a user's program: it runs the program with different parts
// recorded and compares the results. The number of calls of each procedure, and the time they
// took, must not depend on the rest of the recording (Reed et al., section 5).
package check

import (
	"context"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// modes are the modes compared, with their settings.
var modes = []struct{ name, settings string }{
	{"count", "mode=count"},
	{"time", "budget=off,kind:proc=time,kind:loop=count,kind:sync=count"},
	{"trace", "budget=off"},
	{"half", "budget=off,odd:*=count"},
}

// rounds is how often each mode runs.
const rounds = 3

// Modes runs a program with probes alternately in each mode, and compares the results.
func Modes(ctx context.Context, r *lab.Runner, program string, args []string) (*Comparison, error) {
	plan := lab.Plan{Rounds: rounds}
	var names []string
	for _, m := range modes {
		names = append(names, m.name)
		plan.Cases = append(plan.Cases, lab.Case{Name: m.name,
			Job: lab.Job{Program: program, Args: args, Settings: "limit=0," + m.settings}})
	}
	runs := map[string][]Run{}
	err := r.Run(ctx, plan, func(res lab.Result) error {
		run, err := read(res)
		if err == nil {
			runs[res.Case] = append(runs[res.Case], *run)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return Compare(names, runs), nil
}

// read reads the results of a run.
func read(res lab.Result) (*Run, error) {
	t, err := trace.Open(res.Trace)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	took, err := elapsed(t)
	if err != nil {
		return nil, err
	}
	run := &Run{Wall: int64(res.Wall), CPU: int64(res.CPU), Procedures: map[string]Procedure{}}
	for i := range t.Points {
		p := &t.Points[i]
		if p.Kind != spec.PointProc || p.Hits == 0 {
			continue
		}
		c := run.Procedures[p.Name]
		c.Calls += int64(t.Hits(trace.PointID(i)).Value)
		switch {
		case p.Timed() == p.Hits:
			c.Took += p.Times.Took
			c.Timed = true
		case p.Traced == p.Hits:
			c.Took += took[trace.PointID(i)]
			c.Timed = true
		}
		run.Procedures[p.Name] = c
	}
	return run, nil
}

// elapsed returns the time that the activations of each procedure took, in ns, with their callees
// and waits.
func elapsed(t *trace.Trace) (map[trace.PointID]int64, error) {
	type open struct {
		point trace.PointID
		since trace.Time
	}
	took := map[trace.PointID]int64{}
	stacks := map[trace.Slot][]open{}
	_, err := t.Events(func(batch []trace.Event) error {
		for i := range batch {
			switch e := &batch[i]; e.Kind {
			case trace.Enter:
				stacks[e.Slot] = append(stacks[e.Slot], open{e.Point(), e.Time})
			case trace.Exit:
				s := stacks[e.Slot]
				took[e.Point()] += int64(e.Time - s[len(s)-1].since)
				stacks[e.Slot] = s[:len(s)-1]
			}
		}
		return nil
	})
	return took, err
}
