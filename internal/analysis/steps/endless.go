package steps

import (
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// A loop that the clock ends ("for time.Since(start) < d") does more in the same time if what it does takes less. A computed run does what was done, and
// so ends at another time than the program would. The same holds of one that others end, unless its goroutine is known to be told (see polls.go).

// endlessShare is from which share of a run's work on such loops are named.
const endlessShare = 0.1

// endless is the procedure with such a loop in which most was done, and how much of all work that is; NoPoint: none.
func (b *builder) endless() (proc trace.PointID, share float64) {
	lasts := func(p trace.Point) bool { return p.Flags&(spec.FlagTimed|spec.FlagPolls) != 0 }
	proc = trace.NoPoint
	if !slices.ContainsFunc(b.r.T.Points, lasts) {
		return proc, 0
	}
	work := make([]int64, b.r.Contexts.Len()) // but what lasts until somebody is told
	for id := range StepID(b.p.Steps.Len()) {
		if b.p.Step(id).Until == 0 {
			for _, part := range b.p.PartsOf(id) {
				work[part.Context] += part.Ns
			}
		}
	}
	all, by := int64(0), map[trace.PointID]int64{}
	for id, ns := range work {
		all += ns
		for c := replay.ContextID(id); c >= 0; c = b.r.Contexts.Node(c).From {
			if p := b.r.Contexts.Node(c).Proc; p >= 0 && lasts(b.r.T.Points[p]) {
				by[p] += ns
				break
			}
		}
	}
	for p, ns := range by {
		if s := measure.Ratio(ns, all); s > share || s == share && p < proc {
			proc, share = p, s
		}
	}
	return proc, share
}
