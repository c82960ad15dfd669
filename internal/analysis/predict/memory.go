package predict

import (
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// The collector works because goroutines take memory. A change of a procedure's work may change the
// memory that it takes by as much, or not at all: nobody knows before it is made.

// takes is the share of the program's memory that goes to work which a change applies to.
func (w *single) takes(p *steps.Program) float64 {
	in := w.kind.in(p, w)
	of, all := int64(0), int64(0)
	for at, bytes := range p.Memory {
		all += bytes
		var stack trace.Stack
		if int(at.Stack) < len(p.R.T.Stacks) {
			stack = p.R.T.Stacks[at.Stack]
		}
		if in(p.R.Contexts.Node(at.Context).Set, &steps.Share{Proc: trace.NoPoint}) ||
			slices.ContainsFunc(stack, func(f trace.Frame) bool { return f.Function == w.name }) {
			of += bytes
		}
	}
	if all == 0 {
		return 0
	}
	return float64(of) / float64(all)
}

// ofMemory is by how much more a change gains, in ns, if memory changes by as much as work does;
// less than 0: by how much less.
func (r *runner) ofMemory(w *WhatIf, o sim.Options) float64 {
	collector := 1.
	for i := range w.of {
		if one := &w.of[i]; one.kind.in != nil && !one.kind.whole {
			collector *= 1 + one.takes(r.p)*(one.scale-1)
		}
	}
	if collector == 1 {
		return 0
	}
	work := w.factor(r.p)
	o = sim.Options{Times: scaled(r.p, work).Times, Procs: o.Procs, Policy: sim.Sharing}
	was := r.value(r.simulate(o))
	o.Times = scaled(r.p, func(set replay.SetID, s *steps.Share) float64 {
		if collects(r.p, s) {
			return collector
		}
		return work(set, s)
	}).Times
	return was - r.value(r.simulate(o))
}
