package predict

import "qinst.dev/cmd/internal/analysis/graph"

// unknown says why nothing can be said of what a change gains; empty: it can.
func (w *WhatIf) unknown(runs *runner, o Options) string {
	p := runs.p
	free := false
	for _, list := range []map[graph.ObjectID]bool{o.Capped, o.Split} {
		for id := range list {
			free = free || p.Objects[id].Free
		}
	}
	switch {
	case len(o.Capped)+len(o.Split) > 0 && !free:
		return "not all operations on it were seen, so that who waits for it is decided as it was in the run"
	case w.kind.prefix == holdPrefix && o.Delayed == nil:
		return "what goroutines do while they have it is not known"
	}
	if o.workers == nil && !free {
		return ""
	}
	// Surplus workers that wait for ever are let go when all has been done. In a run that stood before that the change would have to be in
	// the recorded order, which it is not.
	const end = 0.01
	if run := runs.simulate(o); !run.Ends || run.Forced > 0 && run.T-run.stoodAt > end*run.T {
		return "the computed run comes to a standstill, because of operations that the trace does not have"
	}
	return ""
}
