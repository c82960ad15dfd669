// Package gate decides whether a change may pass: it runs a program as it was (base) and as it is
// (head) alternately, compares their times by intervals, their counts exactly, and the conclusions
// of the advice.
//
//	r, err := gate.Run(ctx, runner, gate.Options{Base: base, Head: head, Pairs: 10, Conditions: conditions})
//	for _, f := range r.Failed { ... }
//
// Times are those of builds without probes, or of builds with them that record nothing. Counts and
// conclusions are of builds with probes. Package gate builds nothing.
//
// A [Proof] sets the gain of the change against what was promised of it.
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
	"time"

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

// Build is a program, built without probes, with them, or both.
type Build struct {
	Plain, Probed string // files; "": there is none
}

// Names are what both programs are called.
type Names struct{ Base, Head string }

// Options are the programs of a comparison, and its conditions.
type Options struct {
	Names      Names
	Base, Head Build
	Args       []string      // of the program
	Settings   string        // of the recorder where conclusions are drawn
	Pairs      int           // of runs whose times are compared; even
	Limit      time.Duration // of each run
	Conditions []Condition
	Conclude   bool // also without a condition that is about conclusions
}

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
	res := &Result{Names: o.Names, Conditions: o.Conditions, Pairs: o.Pairs,
		Counted: o.Base.Probed != "" && o.Head.Probed != "", Plain: o.Base.Plain != "" && o.Head.Plain != ""}
	j := &job{o, r, map[string][]*counted{}, map[string][]map[string]advice.Item{}, map[string][][]byte{}}
	if !res.Counted && !res.Plain {
		return nil, fmt.Errorf("found probes in one of %s and %s, expected both with probes or both without: what probes cost would look like a change", o.Names.Base, o.Names.Head)
	}
	same, err := equalFiles(j.timed(o.Base).Program, j.timed(o.Head).Program)
	if err != nil || same {
		res.Same = same
		return res, err
	}
	if res.Counted {
		if err := j.look(ctx, res); err != nil {
			return nil, err
		}
	}
	if res.Times, err = j.time(ctx); err != nil {
		return nil, err
	}
	res.Outputs = j.outputs()
	res.decide()
	return res, nil
}

// look counts, and draws conclusions where these are asked for.
func (j *job) look(ctx context.Context, res *Result) (err error) {
	if res.Counts, err = j.count(ctx); err != nil {
		return err
	}
	if main := j.counted[j.Names.Head][0].entries["main.main"]; main != nil {
		res.Main = grew(nil, main)
	}
	about := func(c Condition) bool { return c.Quantity == Conclusions }
	if res.Concluded = j.Conclude || slices.ContainsFunc(j.Conditions, about); res.Concluded {
		res.Items, err = j.conclude(ctx)
	}
	return err
}

// timed is what is run for the times of a build: the same kind of build of both programs.
func (j *job) timed(b Build) lab.Job {
	if j.Base.Plain != "" && j.Head.Plain != "" {
		return lab.Job{Program: b.Plain, Plain: true}
	}
	return lab.Job{Program: b.Probed, NoTrace: true, Settings: "mode=off"}
}

// round runs a plan. If a program fails the error has its name.
func (j *job) round(ctx context.Context, plan lab.Plan, each func(lab.Result) error) error {
	for i := range plan.Cases {
		c := &plan.Cases[i]
		c.Args, c.Collect, c.Limit = j.Args, true, j.Limit
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
		{Name: j.Names.Base + ", " + why, Job: lab.Job{Program: j.Base.Probed, Settings: settings}},
		{Name: j.Names.Head + ", " + why, Job: lab.Job{Program: j.Head.Probed, Settings: settings}},
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
		list = compare(j.counted[j.Names.Base], j.counted[j.Names.Head])
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
		if list = fresh(j.drawn[j.Names.Base], j.drawn[j.Names.Head]); len(list) == 0 {
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
	measure := func(name string, b Build) (first, second []lab.Result, err error) {
		base := lab.Case{Name: j.Names.Base, Job: j.timed(j.Base)}
		other := lab.Case{Name: name, Job: j.timed(b)}
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
	a, b, err := measure(j.Names.Base+" again", j.Base) // the same file, under the name that its times have
	if err != nil {
		return nil, err
	}
	base, head, err := measure(j.Names.Head, j.Head)
	if err != nil {
		return nil, err
	}
	for _, runs := range [][]lab.Result{a, b, base} {
		for _, r := range runs {
			j.printed[j.Names.Base] = append(j.printed[j.Names.Base], r.Stdout)
		}
	}
	for _, r := range head {
		j.printed[j.Names.Head] = append(j.printed[j.Names.Head], r.Stdout)
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
	base := j.printed[j.Names.Base]
	return all(base) && !all(append([][]byte{base[0]}, j.printed[j.Names.Head]...))
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

// HasProbes reports whether a program was built with probes: then the runtime's part that writes
// traces is among its functions, whose names no linker strips.
func HasProbes(program string) (bool, error) {
	text, err := os.ReadFile(program)
	name := strings.Join([]string{"runtime", "qinstWriteHead"}, ".") // which is no text of this program
	return bytes.Contains(text, []byte(name)), err
}
