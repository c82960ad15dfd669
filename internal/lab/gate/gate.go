// Package gate decides whether a change may pass: it runs a program as it was (base) and as it is
// (head) alternately, compares their times by intervals, their counts exactly, and the conclusions
// of the advice.
//
//	r, err := gate.Run(ctx, runner, gate.Options{Base: base, Head: head, Pairs: 10, Conditions: conditions})
//	for _, f := range r.Failed { ... }
//
// Times are those of builds without probes. Counts and conclusions are of builds with them. Package
// gate builds nothing.
package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/trace"
)

const (
	// mostCounted is how often either program counts, if counts differ. One that is either of two
	// numbers by chance seems to be both exact and changed in one of 500 gates at most. That all
	// runs of head allocate more than all of base comes about by chance in one of 252.
	mostCounted = 5

	// mostTraced is how often either program is traced, if conclusions differ. One that is drawn by
	// chance seems to be new in one of 64 gates at most.
	mostTraced = 3
)

// Build is a program, built twice.
type Build struct {
	Plain, Probed string // files
}

// Options are the programs of a comparison, and its conditions.
type Options struct {
	Base, Head Build
	Args       []string // of the program
	Settings   string   // of the recorder where conclusions are drawn
	Pairs      int      // of runs whose times are compared; even
	Conditions []Condition
}

// sides are the names of both programs.
const (
	baseSide = "base"
	headSide = "head"
)

// job is a gate that runs.
type job struct {
	Options
	r       *lab.Runner
	counted map[string][]*counted
	drawn   map[string][]map[string]advice.Item // conclusions by run, and by identity
	printed map[string][][]byte                 // by plain runs
}

// Run compares two builds of a program. An error says which of them could not be run; it is of the
// type [lab.Stopped] if a signal ended the context.
func Run(ctx context.Context, r *lab.Runner, o Options) (*Result, error) {
	res := &Result{Conditions: o.Conditions, Pairs: o.Pairs}
	same, err := equalFiles(o.Base.Plain, o.Head.Plain)
	if err != nil || same {
		res.Same = same
		return res, err
	}
	j := &job{o, r, map[string][]*counted{}, map[string][]map[string]advice.Item{}, map[string][][]byte{}}
	if res.Counts, err = j.count(ctx); err != nil {
		return nil, err
	}
	if main := j.counted[headSide][0].entries["main.main"]; main != nil {
		res.Main = grew(nil, main)
	}
	if res.Items, err = j.conclude(ctx); err != nil {
		return nil, err
	}
	if res.Times, err = j.time(ctx); err != nil {
		return nil, err
	}
	res.Outputs = j.outputs()
	res.decide()
	return res, nil
}

// round runs a plan. If a program fails the error has its name.
func (j *job) round(ctx context.Context, plan lab.Plan, each func(lab.Result) error) error {
	for i := range plan.Cases {
		plan.Cases[i].Args, plan.Cases[i].Collect = j.Args, true
	}
	err := j.r.Run(ctx, plan, each)
	if err == nil || errors.As(err, new(lab.Stopped)) {
		return err
	}
	return fmt.Errorf("expected a program that ends by itself with status 0, found %w", err)
}

// probed runs both programs once, and reads their traces. Why it does is said with each run.
func (j *job) probed(ctx context.Context, why, settings string, each func(side string, t *trace.Trace) error) error {
	plan := lab.Plan{Rounds: 1, Cases: []lab.Case{
		{Name: baseSide + ", " + why, Job: lab.Job{Program: j.Base.Probed, Settings: settings}},
		{Name: headSide + ", " + why, Job: lab.Job{Program: j.Head.Probed, Settings: settings}},
	}}
	return j.round(ctx, plan, func(res lab.Result) error {
		t, err := trace.Open(res.Trace)
		if err != nil {
			return err
		}
		defer t.Close()
		side, _, _ := strings.Cut(res.Case, ",")
		return each(side, t)
	})
}

// count counts until it is decided whether each difference is one of the programs.
func (j *job) count(ctx context.Context) (list []Count, err error) {
	for range mostCounted {
		err := j.probed(ctx, "counted", "limit=0,budget=off,mode=count", func(side string, t *trace.Trace) error {
			j.counted[side] = append(j.counted[side], count(t))
			return nil
		})
		if err != nil {
			return nil, err
		}
		list = compare(j.counted[baseSide], j.counted[headSide])
		if !j.open(list) {
			break
		}
	}
	return list, nil
}

// open reports whether more runs may change what counts say: that one is exact, or that a condition
// on what is allocated holds.
func (j *job) open(list []Count) bool {
	return slices.ContainsFunc(list, func(c Count) bool {
		return c.Exact() && c.Differs() || c.ID == Allocs && slices.ContainsFunc(j.Conditions, c.allocates)
	})
}

// conclude draws conclusions until it is decided which of them are new: those of each run of head
// that no run of base has. Remarks are none.
func (j *job) conclude(ctx context.Context) (list []advice.Item, err error) {
	for range mostTraced {
		err := j.probed(ctx, "traced", j.Settings, func(side string, t *trace.Trace) error {
			f, err := advice.Read(t, profile.Within{})
			if err != nil {
				return err
			}
			items := map[string]advice.Item{}
			for _, it := range advice.Of(f) {
				if !it.Remark {
					items[it.Identity()] = it
				}
			}
			j.drawn[side] = append(j.drawn[side], items)
			return nil
		})
		if err != nil {
			return nil, err
		}
		if list = fresh(j.drawn[baseSide], j.drawn[headSide]); len(list) == 0 {
			break
		}
	}
	return list, nil
}

// fresh are the conclusions of all runs of head that no run of base has, by identity.
func fresh(base, head []map[string]advice.Item) (list []advice.Item) {
	known := map[string]bool{}
	for _, items := range base {
		for id := range items {
			known[id] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(head[0])) {
		in := func(items map[string]advice.Item) bool { _, ok := items[id]; return ok }
		if !known[id] && !slices.ContainsFunc(head, func(m map[string]advice.Item) bool { return !in(m) }) {
			list = append(list, head[len(head)-1][id])
		}
	}
	return list
}

// time measures base against itself, and then against head. The order changes from pair to pair, so
// that neither program is always the first, and a drift of the machine is no difference.
func (j *job) time(ctx context.Context) ([]Time, error) {
	const again = "base again" // the same file, under the name that its times have
	measure := func(name, program string) (first, second []lab.Result, err error) {
		base := lab.Case{Name: baseSide, Job: lab.Job{Program: j.Base.Plain, Plain: true}}
		other := lab.Case{Name: name, Job: lab.Job{Program: program, Plain: true}}
		plan := lab.Plan{Rounds: j.Pairs / 2, Cases: []lab.Case{base, other, other, base}}
		err = j.round(ctx, plan, func(res lab.Result) error {
			if res.Case == name {
				second = append(second, res)
				return nil
			}
			first = append(first, res)
			return nil
		})
		return first, second, err
	}
	a, b, err := measure(again, j.Base.Plain)
	if err != nil {
		return nil, err
	}
	base, head, err := measure(headSide, j.Head.Plain)
	if err != nil {
		return nil, err
	}
	for _, runs := range [][]lab.Result{a, b, base} {
		for _, r := range runs {
			j.printed[baseSide] = append(j.printed[baseSide], r.Stdout)
		}
	}
	for _, r := range head {
		j.printed[headSide] = append(j.printed[headSide], r.Stdout)
	}
	var list []Time
	for _, q := range []struct {
		id string
		of func(*lab.Result) float64
	}{
		{Wall, func(r *lab.Result) float64 { return float64(r.Wall) }},
		{CPU, func(r *lab.Result) float64 { return float64(r.CPU) }},
	} {
		values := func(runs []lab.Result) (list []float64) {
			for i := range runs {
				list = append(list, q.of(&runs[i]))
			}
			return list
		}
		t, err := newTime(q.id, values(a), values(b), values(base), values(head))
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// outputs says whether head prints something else than base, which always prints the same.
func (j *job) outputs() (differ bool) {
	all := func(list [][]byte) bool {
		return !slices.ContainsFunc(list, func(b []byte) bool { return !bytes.Equal(b, list[0]) })
	}
	base := j.printed[baseSide]
	return all(base) && !all(append([][]byte{base[0]}, j.printed[headSide]...))
}

// equalFiles reports whether two files have the same bytes.
func equalFiles(a, b string) (bool, error) {
	x, err := os.ReadFile(a)
	if err != nil {
		return false, err
	}
	y, err := os.ReadFile(b)
	return bytes.Equal(x, y), err
}
