// Package verify compares figures of qinst with the truth, on the machine at hand. It builds a
// workload of its own without probes and with them, and runs both alternately. The truth is a
// formula, the workload's own clock, or runs of a workload that was really changed.
//
//	r, err := verify.Run(ctx, runner, verify.Options{Dir: dir, Probed: variant, Pairs: 12})
//	for _, row := range r.Rows { ... }
package verify

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/stats"
)

const (
	processors = 2 // of each run
	longest    = time.Minute
)

// Options describe a verification.
type Options struct {
	Dir    string      // an empty one, for the workload
	Probed lab.Variant // the build with probes of the package in that
	Pairs  int         // of runs; even
}

// Machine is the state of the machine during the runs.
type Machine struct {
	Processors int `json:"processors"`
	// Company is by how much longer work takes while another processor works.
	Company float64 `json:"company_pct"`
	// Equal is how far two runs of the same program may differ.
	Equal float64 `json:"equal_programs_pct"`
	// Waited is the part of the time for which threads with work waited for a processor.
	Waited float64 `json:"waited_pct"`
}

// Result is a verification.
type Result struct {
	Version int     `json:"version"`
	Machine Machine `json:"machine"`
	Pairs   int     `json:"pairs"`
	Took    int64   `json:"took_ns"`
	Rows    []Row   `json:"rows"`
}

// verification is one that is being made.
type verification struct {
	o              Options
	r              *lab.Runner
	plain, probed  string // files of the workload
	perMicrosecond float64
	company        float64
	got            map[string][]float64 // numbers by name, one for each pair
}

// Run builds the workload, runs it, and judges.
func Run(ctx context.Context, r *lab.Runner, o Options) (*Result, error) {
	began := time.Now()
	v := &verification{o: o, r: r, got: map[string][]float64{}}
	for _, step := range []func(context.Context) error{v.build, v.calibrate, v.observe} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	res := &Result{Version: 1, Pairs: o.Pairs, Took: int64(time.Since(began)),
		Machine: Machine{runtime.GOMAXPROCS(0), hundredths(v.company), hundredths(v.equal("phases", "")),
			hundredths(mean(v.got[waited]))}}
	for _, f := range v.figures() {
		res.Rows = append(res.Rows, f.row(&res.Machine))
	}
	return res, nil
}

// Status is the exit status of the command.
func (r *Result) Status() int {
	has := func(is func(*Row) bool) bool {
		return slices.ContainsFunc(r.Rows, func(w Row) bool { return is(&w) })
	}
	switch {
	case has(func(w *Row) bool { return w.Verdict == Exceeds }):
		return Broken
	case has(func(w *Row) bool { return w.Verdict == Undecided && !w.Busy }):
		return Open
	case has(func(w *Row) bool { return w.Busy }):
		return Busy
	}
	return AllHold
}

// programs are the kinds of the workload, each with work for a fifth of a second.
func (v *verification) programs() map[string]kind {
	size := func(us float64) int { return max(1, int(us*v.perMicrosecond)) }
	return map[string]kind{
		"phases": {"phases", rounds, [3]int{size(400), size(300), size(200)}},
		"shares": {"shares", 100, [3]int{size(200), size(400), size(1000)}},
		"lock":   {"lock", 200, [3]int{size(200), size(400), 0}},
		"calls":  {"calls", 400, [3]int{size(0.4), size(0.2), 0}},
	}
}

const (
	rounds     = 300                   // of phases
	lessC      = 20                    // percent of the work of c that a changed program leaves out
	lessA      = 50                    // and of that of a, which then takes less time than b
	delayC     = 2 * time.Millisecond  // of each visit
	delayB     = 60 * time.Microsecond // less than b waits for a
	everything = "budget=off,limit=0"
)

// observe makes all runs. Every second pair has them in the opposite order, because the machine may
// become faster or slower.
func (v *verification) observe(ctx context.Context) error {
	p := v.programs()
	phases, calls := p["phases"], p["calls"]
	delays := func(b, c time.Duration) string {
		return fmt.Sprintf("mode=count,sample=off,main.b=+%dns,main.c=+%dns", b.Nanoseconds(), c.Nanoseconds())
	}
	runs := []struct {
		name string
		job  lab.Job
		read func(file string, took float64) error
	}{
		{"phases", v.plainly(phases, processors), nil},
		{"phases again", v.plainly(phases, processors), nil},
		{"phases, probes", v.traced(phases, ""), v.readPhases},
		{"phases, less c", v.plainly(phases.less(2, lessC), processors), nil},
		{"phases, less a", v.plainly(phases.less(0, lessA), processors), nil},
		{"phases, one processor", v.plainly(phases, 1), nil},
		{"phases, no delay", v.traced(phases, delays(0, 0)), nil},
		{"phases, delay of c", v.traced(phases, delays(0, delayC)), nil},
		{"phases, delay of b", v.traced(phases, delays(delayB, 0)), nil},
		{"shares, probes", v.traced(p["shares"], ""), v.readShares},
		{"lock, probes", v.traced(p["lock"], ""), v.readLock},
		{"calls", v.plainly(calls, processors), nil},
		{"calls again", v.plainly(calls, processors), nil},
		{"long phases", v.plainly(phases.longer(), processors), nil},
		{"long phases again", v.plainly(phases.longer(), processors), nil},
		{"long phases, probes", v.traced(phases.longer(), ""), nil},
		{"long calls", v.plainly(calls.longer(), processors), nil},
		{"long calls again", v.plainly(calls.longer(), processors), nil},
		{"long calls, probes", v.traced(calls.longer(), ""), nil},
		{"calls, all traced", v.traced(calls, everything), v.readCalls},
	}
	plan := lab.Plan{Rounds: v.o.Pairs / 2}
	read := map[string]func(string, float64) error{}
	for _, r := range runs {
		plan.Cases = append(plan.Cases, lab.Case{Name: r.name, Job: r.job})
		read[r.name] = r.read
	}
	back := slices.Clone(plan.Cases)
	slices.Reverse(back)
	plan.Cases = append(plan.Cases, back...)
	return v.r.Run(ctx, plan, func(res lab.Result) error {
		whole, part, err := printed(res)
		if err != nil {
			return err
		}
		v.note(res.Case, whole)
		v.note(res.Case+cpu, float64(res.CPU))
		v.note(res.Case+ownPart, part)
		if of := read[res.Case]; of != nil {
			return of(res.Trace, whole)
		}
		return nil
	})
}

func (v *verification) note(name string, x float64) { v.got[name] = append(v.got[name], x) }

// equal is the percentage by which a number of two runs of the same program may differ.
func (v *verification) equal(program, of string) float64 {
	i, ok := stats.Ratio(v.got[program+of], v.got[program+" again"+of])
	if !ok {
		return 100
	}
	return 100 * max(i.High-1, 1-i.Low)
}

// mean is that of all runs: a median would hide load that comes and goes.
func mean(list []float64) (sum float64) {
	for _, x := range list {
		sum += x / float64(len(list))
	}
	return sum
}

// Ends of names of numbers.
const (
	cpu     = ", processor time"
	ownPart = ", part"
)

// workOfC is the part of main.c in the work, for each run of shares.
func (v *verification) workOfC() []float64 {
	n := v.programs()["shares"].amounts
	return known(v.got[work], shareOf(float64(n[2]), float64(n[0]+n[1]+n[2])))
}
