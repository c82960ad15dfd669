package steps

import (
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// A loop that the clock ends ("for time.Since(start) < d") does more in the same time if its work
// takes less. A computed run does the recorded work, and so ends at another time than the program
// would. The same holds for one that others end, unless its stop is recognized (see polls.go).

// endlessShare is from which share of a run's work on such loops are named.
const endlessShare = 0.1

// Endless is the procedure with such a loop in which most was done, and how much of all work that
// is; NoPoint: none.
func (p *Program) Endless() (proc trace.PointID, share float64) {
	asks := map[trace.PointID]bool{} // whose work is a wait
	for i := range p.R.T.Points {
		if pt := &p.R.T.Points[i]; pt.Flags&spec.FlagAsks != 0 {
			asks[pt.Owner] = true
		}
	}
	lasts := func(pt trace.Point) bool {
		return pt.Flags&(spec.FlagTimed|spec.FlagPolls) != 0 && !asks[pt.Owner]
	}
	proc = trace.NoPoint
	if !slices.ContainsFunc(p.R.T.Points, lasts) {
		return proc, 0
	}
	work := make([]int64, p.R.Contexts.Len()) // except work that lasts until a stop
	for id := range StepID(p.Steps.Len()) {
		if p.Step(id).Until == 0 {
			for _, part := range p.PartsOf(id) {
				work[part.Context] += part.Ns
			}
		}
	}
	all, by := int64(0), map[trace.PointID]int64{}
	for id, ns := range work {
		all += ns
		for c := replay.ContextID(id); c >= 0; c = p.R.Contexts.Node(c).From {
			if at := p.R.Contexts.Node(c).Proc; at >= 0 && lasts(p.R.T.Points[at]) {
				by[at] += ns
				break
			}
		}
	}
	for at, ns := range by {
		if s := measure.Ratio(ns, all); s > share || s == share && at < proc {
			proc, share = at, s
		}
	}
	return proc, share
}
