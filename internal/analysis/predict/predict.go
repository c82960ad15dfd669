package predict

import (
	"slices"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// mostProcs is how many processors are more than enough.
const mostProcs = 256

// Version of the JSON form.
const Version = 1

// Result are the runs that a program would have on other numbers of processors. Times are in ns.
type Result struct {
	Version     int        `json:"version"`
	Policy      sim.Policy `json:"policy"`
	Recorded    Recorded   `json:"recorded"`
	Unexplained int64      `json:"unexplained_ns"` // of the recorded run: measured less computed
	// running threads of the recorded run had no processor, all together
	Off     int64         `json:"off_ns"`
	T1      int64         `json:"t1_ns"`    // on one processor; 0: not known
	TInf    int64         `json:"t_inf_ns"` // on as many as goroutines, mostProcs at most
	Runs    []Of          `json:"runs"`
	WhatIf  []Change      `json:"what_if"`
	Remarks steps.Remarks `json:"notes"`
}

// Recorded is the run that was recorded, and the same one computed.
type Recorded struct {
	Procs  int   `json:"procs"`
	T      int64 `json:"t_ns"`
	Replay int64 `json:"replay_ns"`
}

// Of is the run on a number of processors.
type Of struct {
	Procs int   `json:"procs"`
	T     int64 `json:"t_ns"`
	// 9 runs of 10 take as long at least, as far as lengths differ within the recorded one
	Lo          int64   `json:"lo_ns"`
	Hi          int64   `json:"hi_ns"`       // and at most
	Speedup     float64 `json:"speedup"`     // over one processor
	Utilization float64 `json:"utilization"` // share of the processors' time that is work
	Collector   int64   `json:"gc_ns"`       // of the work: the collector's
	// some operations on locks and channels come in another order than in the recorded run
	Reordered bool                 `json:"order_changed"`
	Request   *sim.Latency         `json:"request,omitempty"`
	Policies  map[sim.Policy]int64 `json:"policies"`
	// the computed run is none of the program; there are no times then, nor of such policies
	Unknown bool `json:"unknown,omitempty"`
}

// Change is a change of the program with its gain.
type Change struct {
	Change  string  `json:"change"`
	Procs   int     `json:"procs"`
	T       int64   `json:"t_ns"`
	Gain    int64   `json:"gain_ns"`
	GainPct float64 `json:"gain_pct"`
	// 9 times of 10 that is as much at least, as far as lengths differ within the recorded run
	LoPct   float64      `json:"lo_pct"`
	HiPct   float64      `json:"hi_pct"` // and at most
	Request *sim.Latency `json:"request,omitempty"`
	Unknown string       `json:"unknown,omitempty"` // why the gain is not known; the numbers say nothing then
}

// Ask is a request for predictions.
type Ask struct {
	Procs   []int // none: 1, 2, 4 ... to twice the recorded number
	Policy  sim.Policy
	WhatIf  []WhatIf
	Request string // a name of requests whose latencies are asked for; empty: none
	Held    []Held // locks whose operations were not all events
}

// Gains are the gains of changes that a report computes by itself: of the procedures that are worth
// most. For very long runs there are none, because they take too long.
func Gains(p *steps.Program, procs int, policy sim.Policy) []Change {
	r := &Result{}
	Settle(p, nil)
	if p.Steps.Len() <= largeSteps {
		r.change(newRunner(p), policy, procs, likely(p, policy, nil))
	}
	return slices.DeleteFunc(r.WhatIf, func(c Change) bool { return c.Unknown != "" })
}

// New predicts.
func New(p *steps.Program, a Ask) *Result {
	Settle(p, nil)
	runs := newRunner(p)
	runs.held = a.Held
	if a.Request != "" {
		runs.watch = sim.NewWatch(p, a.Request)
	}
	r := &Result{Version: Version, Policy: a.Policy, WhatIf: []Change{}, Remarks: p.Said()}
	r.Recorded = Recorded{p.Procs, int64(p.End), round(runs.at(p.Procs, a.Policy).T)}
	r.Unexplained, r.Off = r.Recorded.T-r.Recorded.Replay, p.OffCPU
	one := runs.at(1, a.Policy)
	// By the same policy: another one waits for other wake-ups, and could take longer on all than
	// this one on two.
	if one.Sound() {
		r.T1 = round(one.T)
	}
	r.TInf = round(runs.at(min(max(len(p.Gs), 1), mostProcs), a.Policy).T)
	if len(a.Procs) == 0 {
		for n := 1; n <= 2*p.Procs; n *= 2 {
			a.Procs = append(a.Procs, n)
		}
	}
	if slices.ContainsFunc(a.Procs, func(n int) bool { return n != p.Procs }) && !p.R.Virtual() {
		r.Remarks.Note("work is taken to last as long on other numbers of processors; where two share a core or a cache it lasts longer on both")
	}
	r.Remarks.Notes = append(r.Remarks.Notes, notesOn(a.Held)...)
	gc := collector(p)
	for _, n := range a.Procs {
		run := runs.at(n, a.Policy)
		if !run.Sound() {
			r.Runs = append(r.Runs, Of{Procs: n, Unknown: true, Policies: runs.policies(n)})
			continue
		}
		about := runs.interval(sim.Options{Procs: n, Policy: a.Policy})
		more := contended(p, a.Held, n)
		of := Of{Procs: n, T: round(run.T), Lo: max(0, round(run.T-about)),
			Hi: round(max(run.T, min(run.T+more, one.T)) + about), Collector: gc, Reordered: run.Reordered > 0,
			Request: runs.latency[run], Policies: runs.policies(n)}
		if run.T > 0 {
			of.Speedup, of.Utilization = thousandths(float64(r.T1)/run.T), thousandths(run.Busy/run.T/float64(n))
		}
		r.Runs = append(r.Runs, of)
	}
	if changes := a.WhatIf; len(changes) > 0 {
		for _, n := range a.Procs {
			r.change(runs, a.Policy, n, changes)
		}
	} else {
		r.change(runs, a.Policy, p.Procs, likely(p, a.Policy, runs.watch))
	}
	return r
}

// policies are the times of the runs on a number of processors.
func (r *runner) policies(n int) map[sim.Policy]int64 {
	times := map[sim.Policy]int64{}
	for _, policy := range sim.Policies {
		if run := r.at(n, policy); run.Sound() {
			times[policy] = round(run.T)
		}
	}
	return times
}

// change computes the runs of a changed program.
func (r *Result) change(runs *runner, policy sim.Policy, procs int, changes []WhatIf) {
	was, network := runs.at(procs, policy).T, 0.
	if len(changes) > 0 {
		if network = runs.network(procs, policy); network > 0 {
			r.Remarks.Notes = append(r.Remarks.Notes, ofNetwork(network, was))
		}
	}
	for _, w := range changes {
		o := w.options(runs.p)
		o.Procs, o.Policy = procs, policy
		c := Change{Change: w.Text, Procs: procs, T: round(was)}
		if c.Unknown = w.unknown(runs, o); c.Unknown != "" {
			r.WhatIf = append(r.WhatIf, c)
			continue
		}
		gain, off := runs.gains(o)
		c.T, c.Gain = round(was-gain), round(gain)
		if was > 0 {
			c.GainPct, c.LoPct, c.HiPct = thousandths(gain/was*100), thousandths((gain-off)/was*100),
				thousandths(min((gain+off+network)/was, 1)*100)
		}
		if runs.watch != nil {
			c.Request = runs.latency[runs.simulate(o)]
		}
		r.WhatIf = append(r.WhatIf, c)
	}
}

// collector is how long the collector works, of processors' time.
func collector(p *steps.Program) int64 {
	s, ns := &p.R.System, 0.
	for id := range steps.StepID(p.Steps.Len()) {
		for _, part := range p.PartsOf(id) {
			for _, share := range p.Shares(part.Context) {
				if share.Proc == s.Worker || share.Proc == s.Assist || share.Proc == s.Stop {
					ns += share.Share * float64(part.Ns)
				}
			}
		}
	}
	return round(ns)
}
