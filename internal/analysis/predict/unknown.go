package predict

import (
	"fmt"
	"slices"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// unknown is the reason why the gain cannot be computed; empty: it can.
func (w *WhatIf) unknown(runs *runner, o sim.Options) string {
	for i := range w.of {
		one, _ := w.of[i].options(runs.p)
		one.Procs, one.Policy = o.Procs, o.Policy
		if why := w.of[i].unknown(runs, one); why != "" {
			return why
		}
	}
	return ""
}

// unknown is the reason why the gain of a change cannot be computed; empty: it can.
func (w *single) unknown(runs *runner, o sim.Options) string {
	p := runs.p
	free, changed := false, steps.ObjectID(0)
	for _, list := range []map[steps.ObjectID]bool{o.Capped, o.Split} {
		for id := range list {
			if p.Objects[id].Free {
				free = true
			} else if changed == 0 || id < changed {
				changed = id
			}
		}
	}
	switch {
	case len(o.Capped)+len(o.Split) > 0 && !free:
		return lacking(p, changed)
	case w.kind.prefix == holdPrefix && o.Delayed == nil:
		return "what goroutines do while they have it is not known"
	}
	if w.kind.prefix == waitPrefix && w.ticks(p) {
		return "it waits for ticks, which come when they came"
	}
	if h := runs.heldBy(w.name); w.kind.prefix == holdPrefix && h != nil && h.partly() {
		return fmt.Sprintf("%d of %d operations on it were only counted, so that the trace does not tell what goroutines do while they have it (QINST=kind:sync=trace records all)", h.Counted, h.Ops)
	}
	if w.kind.prefix == holdPrefix && runs.longer(w.name, o) {
		return "when goroutines had it is not known: by the trace they did more meanwhile than the time for which it was held"
	}
	if o.Workers == nil && !free {
		return ""
	}
	// Surplus workers that wait for ever are let go when all has been done. In a run that stood
	// before that the change would have to be in the recorded order, which it is not.
	if !runs.simulate(o).Sound() {
		return "the computed run comes to a standstill, because of operations that the trace does not have"
	}
	return ""
}

// heldBy is what is known of the locks of a name if not all operations on them were events, else
// nil.
func (r *runner) heldBy(name string) *Held {
	if i := slices.IndexFunc(r.held, func(h Held) bool { return h.Name == name }); i >= 0 {
		return &r.held[i]
	}
	return nil
}

// longer reports whether more is done under a lock, as the trace has it, than the time for which it
// was held.
func (r *runner) longer(name string, o sim.Options) bool {
	h := r.heldBy(name)
	if h == nil || h.Most == 0 {
		return false
	}
	ns, most := int64(0), h.Most
	for id := range steps.StepID(r.p.Steps.Len()) {
		if s := r.p.Step(id); o.Delayed(id) != 1 {
			if ns += s.Work; sim.Outside(s) {
				ns += s.Lasts()
			}
		}
	}
	for i := range r.p.Objects { // several goroutines may read by it at once
		if n := r.p.Objects[i].Name; n != trace.NoPoint && r.p.R.T.Points[n].Name == name && r.p.Objects[i].Shared() {
			return ns > most*int64(r.p.Procs)
		}
	}
	return ns > most
}
