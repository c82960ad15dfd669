package predict

import (
	"fmt"
	"math"
	"slices"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
)

// mostProcs is how many processors are more than enough.
const mostProcs = 256

// Ask is a request for predictions.
type Ask struct {
	Procs   []int // none: 1, 2, 4 ... to twice the recorded number
	Policy  sim.Policy
	WhatIf  []WhatIf
	Request string // a name of requests whose latencies are asked for; empty: none
	Outside bool   // see [Result.Outside]
	Held    []Held // locks whose operations were not all events
	// Differ is by how much runs of the program differ: see [UsualRuns] and [Differ]
	Differ float64
}

// Gains are the gains of changes that a report computes by itself: of the procedures that are worth
// most. For very long runs there are none, because they take too long.
func Gains(p *steps.Program, procs int, policy sim.Policy) []Change {
	Settle(p, nil)
	if p.Steps.Len() > largeSteps {
		return nil
	}
	r, runs := &Result{}, newRunner(p)
	runs.differ = UsualRuns
	if r.record(runs, policy).Sound() {
		r.change(runs, policy, procs, likely(p, policy, nil))
	}
	return slices.DeleteFunc(r.WhatIf, func(c Change) bool { return c.Unknown != "" })
}

// New predicts.
func New(p *steps.Program, a Ask) *Result {
	Settle(p, nil)
	runs := newRunner(p)
	runs.held, runs.differ = a.Held, a.Differ
	if a.Request != "" {
		runs.watch = sim.NewWatch(p, a.Request)
	}
	r := &Result{Version: Version, Policy: a.Policy, Requests: a.Request, Outside: a.Outside, WhatIf: []Change{},
		Remarks: p.Said()}
	if base := r.record(runs, a.Policy); !base.Sound() {
		r.Remarks.Warn("%s; nothing is predicted. QINST=kind:sync=trace records all operations", unsound(base))
		return r
	}
	one := runs.at(1, a.Policy)
	// By the same policy: another one waits for other wake-ups, and could take longer on all than
	// this one on two.
	if one.Sound() {
		r.T1 = round(one.T)
	}
	if most := runs.at(min(max(len(p.Gs), 1), mostProcs), a.Policy); most.Sound() {
		r.TInf = round(most.T)
	}
	if one.Sound() && r.TInf > 0 { // which wakes no threads
		r.TInf = min(r.TInf, r.T1)
	}
	if len(a.Procs) == 0 {
		a.Procs = UsualProcs(p.Procs)
	}
	if slices.ContainsFunc(a.Procs, func(n int) bool { return n != p.Procs }) && !p.R.Virtual() {
		r.Remarks.Note("work is taken to last as long on other numbers of processors; where two share a core or a cache it lasts longer on both")
	}
	r.Remarks.Notes = append(r.Remarks.Notes, notesOn(a.Held)...)
	if runs.asRecorded > 0 && p.Procs == 1 && slices.Max(a.Procs) > 1 {
		r.Remarks.Note("%s waits, as for conditions, end as they did in the run, because no operation decides them: of how long they take on more processors, a run on one tells little", measure.Count(runs.asRecorded))
	}
	gc := collector(p)
	for _, n := range a.Procs {
		of := runs.on(n, &a, one)
		if !of.Unknown {
			of.Collector = gc
		}
		r.Runs = append(r.Runs, of)
	}
	r.bound()
	if changes := a.WhatIf; len(changes) > 0 {
		for _, n := range a.Procs {
			r.change(runs, a.Policy, n, changes)
		}
	} else {
		r.change(runs, a.Policy, p.Procs, likely(p, a.Policy, runs.watch))
	}
	return r
}

// UsualProcs are the numbers of processors that are asked for if none are named: up to twice those
// of the run.
func UsualProcs(recorded int) (list []int) {
	for n := 1; n <= 2*recorded; n *= 2 {
		list = append(list, n)
	}
	return list
}

// record computes the recorded run, and compares the two. If what it returns is none of the program
// there is nothing to compare.
func (r *Result) record(runs *runner, policy sim.Policy) *sim.Run {
	p := runs.p
	r.Recorded.Procs, r.Recorded.T, r.Off = p.Procs, int64(p.End), p.OffCPU
	base := runs.at(p.Procs, policy)
	if base.Sound() {
		r.Recorded.Replay = round(base.T)
		r.Unexplained = r.Recorded.T - r.Recorded.Replay
		runs.off = ownError(r)
	}
	return base
}

// on is the run on a number of processors. one is that on one.
func (r *runner) on(n int, a *Ask, one *sim.Run) Of {
	run := r.at(n, a.Policy)
	if !run.Sound() {
		return Of{Procs: n, Unknown: true}
	}
	about := r.about(run.T, a.Policy, false)
	most := run.T + contended(r.p, a.Held, n)
	if one.Sound() {
		most = min(most, one.T)
	}
	least, longest := 1., 1.
	if len(r.kept) > 0 {
		least, longest, _ = r.otherwise(sim.Options{Procs: n, Policy: a.Policy},
			sim.Options{Procs: r.p.Procs, Policy: a.Policy})
	}
	fewer, more := r.inCompany(run, n)
	shortest := least * run.T
	if r.p.Procs == 1 && n > 1 && one.Sound() && (len(r.kept) > 0 || r.asRecorded > 0) {
		// a run on one processor shows hardly any waits of another one, and many that this has not
		most, shortest = max(most, one.T), min(shortest, one.T/float64(n))
	}
	of := Of{Procs: n, T: round(run.T), Lo: max(0, round(shortest-math.Hypot(about, fewer))),
		Hi:        round(max(longest*run.T, most) + math.Hypot(about, more)),
		Reordered: run.Reordered > 0}
	if r.watch != nil {
		of.Request = r.request(sim.Options{Procs: n, Policy: a.Policy})
	}
	if run.T > 0 {
		of.Utilization = thousandths(run.Busy / run.T / float64(n))
	}
	if run.T > 0 && one.Sound() {
		of.Speedup = thousandths(one.T / run.T)
	}
	return of
}

// moreInCompany is the cost in ns of other processors that work too, each time that a goroutine
// becomes ready: caches are colder, and the scheduler's locks contended. In a dozen programs on
// two processors it was 500 to 4600, a third of a run on fewer at most, and 1.07 of one on more.
const (
	moreInCompany = 4600
	mostFewer     = 0.4 // of the run
	mostMore      = 1.1
)

// inCompany is by how much a computed run may be shorter, or longer, because it has fewer or more
// processors than the recorded one, in ns.
func (r *runner) inCompany(run *sim.Run, n int) (fewer, more float64) {
	if n == r.p.Procs {
		return 0, 0
	}
	ready := 0.
	for id := range steps.StepID(r.p.Steps.Len()) {
		if s := r.p.Step(id); s.Kind == steps.Ready && s.Cause() == steps.WakeUp {
			ready++
		}
	}
	ns := moreInCompany * ready / max(run.Busy/max(run.T, 1), 1)
	if n < r.p.Procs {
		return min(ns, mostFewer*run.T), 0
	}
	return 0, min(ns, mostMore*run.T)
}

// about is by how much a computed time may be less or more, 9 times of 10, as far as is known from
// the recorded run and from how runs differ: that of a run, or of requests.
func (r *runner) about(ns float64, policy sim.Policy, requests bool) float64 {
	return (math.Hypot(r.drawnAbout(policy, requests), normal*math.Sqrt2*r.differ) + r.off) * ns
}

// request is how long requests take on a number of processors, and how many are answered.
func (r *runner) request(o sim.Options) *Request {
	l := r.requests[r.at(o.Procs, o.Policy)].latency
	mean := float64(l.Mean)
	about := r.about(mean, o.Policy, true)
	of := min(about/max(mean, 1), mostAbout)
	n := r.perSecond(o)
	return &Request{*l, max(0, round(mean-about)), round(mean + about), n, thousandths(n / (1 + of)),
		thousandths(n / (1 - of))}
}

// mostAbout bounds the relative error of a rate, so that it has an upper end.
const mostAbout = 0.9

// ownError is by how much the recorded run, computed, differs from what it took, as a share of
// that: what the system is known to have taken from its threads does not count. A computed run of
// another kind is off by as much, as far as is known.
func ownError(r *Result) float64 {
	return max(0, math.Abs(float64(r.Unexplained))-float64(r.Off)) / float64(max(r.Recorded.T, 1))
}

// unsound is why a computed run is none of the program.
func unsound(run *sim.Run) string {
	switch {
	case run.Undone > 0:
		return fmt.Sprintf("the computed run ends when goroutines have %s of work left that they did in the recorded one: what waited for them is not in the trace", measure.Time(round(run.Undone)))
	case !run.Ends:
		return "the computed run does not end as the recorded one did: operations are missing in the trace"
	}
	return "in the computed run goroutines wait for each other in a circle: operations are missing in the trace"
}

// change computes the runs of a changed program.
func (r *Result) change(runs *runner, policy sim.Policy, procs int, changes []WhatIf) {
	was, network := runs.value(runs.at(procs, policy)), 0.
	if len(changes) > 0 && runs.watch == nil {
		if network = runs.network(procs, policy); network > 0 {
			r.Remarks.Notes = append(r.Remarks.Notes, ofNetwork(network, was))
		}
	}
	for _, w := range changes {
		o, _ := w.options(runs.p)
		o.Procs, o.Policy = procs, policy
		c := Change{Change: w.Text, Procs: procs, T: round(was)}
		if c.Unknown = w.unknown(runs, o); c.Unknown != "" {
			r.WhatIf = append(r.WhatIf, c)
			continue
		}
		runs.doubted = nil
		g := runs.gains(&w, o)
		if runs.doubted != nil {
			c.Unknown = unsound(runs.doubted)
			r.WhatIf = append(r.WhatIf, c)
			continue
		}
		less, more, why := runs.apart(o, was, g.ns)
		if why != "" {
			c.Unknown = why
			r.WhatIf = append(r.WhatIf, c)
			continue
		}
		c.T, c.Gain = round(was-g.ns), round(g.ns)
		if was > 0 {
			c.GainPct, c.LoPct, c.HiPct = thousandths(g.ns/was*100), thousandths((g.ns+less+g.less)/was*100),
				thousandths(min((g.ns+more+g.more+network)/was, 1)*100)
		}
		r.WhatIf = append(r.WhatIf, c)
	}
	r.boundGains(changes)
}

// collector is how long the collector works, of processors' time.
func collector(p *steps.Program) int64 {
	ns := 0.
	for id := range steps.StepID(p.Steps.Len()) {
		for _, part := range p.PartsOf(id) {
			for _, share := range p.Shares(part.Context) {
				if collects(p, &share) {
					ns += share.Share * float64(part.Ns)
				}
			}
		}
	}
	return round(ns)
}
