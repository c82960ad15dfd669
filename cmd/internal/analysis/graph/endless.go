package graph

import (
	"slices"

	"qinst.dev/cmd/internal/measure"
	"qinst.dev/cmd/internal/trace"
	"qinst.dev/sddf/spec"
)

// A loop that the clock ends ("for time.Since(start) < d") does more in the same time if what it does takes less. A computed run does what was done, and
// so ends at another time than the program would. The same holds of one that others end, unless its goroutine is known to be told (see polls.go).

// endlessShare is from which share of a run's work on such loops are named.
const endlessShare = 0.1

// endless is the procedure with such a loop in which most was done, and how much of all work that is; NoPoint: none.
func (b *builder) endless() (proc trace.PointID, share float64) {
	flagged := func(p trace.PointID) bool {
		return p != trace.NoPoint && int(p) < len(b.r.T.Points) && b.r.T.Points[p].Flags&(spec.FlagTimed|spec.FlagPolls) != 0
	}
	if !slices.ContainsFunc(b.r.T.Points, func(p trace.Point) bool { return p.Flags&(spec.FlagTimed|spec.FlagPolls) != 0 }) {
		return trace.NoPoint, 0
	}
	var all int64
	by := map[trace.PointID]int64{}
	add := func(part Part) {
		all += part.Ns
		for c := part.Context; c >= 0; c = b.r.Contexts.Node(c).From {
			if p := b.r.Contexts.Node(c).Proc; flagged(p) {
				by[p] += part.Ns
				return
			}
		}
	}
	for id := range StepID(b.p.Steps.Len()) {
		if s := b.p.Step(id); s.Until == 0 {
			for _, part := range b.p.PartsOf(id) {
				add(part)
			}
		}
	}
	proc = trace.NoPoint
	for p, ns := range by {
		if s := measure.Ratio(ns, all); s > share || s == share && p < proc {
			proc, share = p, s
		}
	}
	return proc, share
}
