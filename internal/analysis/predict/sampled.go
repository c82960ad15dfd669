package predict

import (
	"math"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/steps"
)

// Work of procedures whose calls were only counted is divided by samples. How much of it a change
// takes away is known no better than they tell.

// unsure is the standard error of the amount of work that a change applies to, as a share of that.
func (w *single) unsure(p *steps.Program) float64 {
	if w.kind.in == nil {
		return 0
	}
	in := w.kind.in(p, w)
	type work struct { // divided by the same samples
		all, changed float64
		n            int
	}
	var by []work
	changed := 0.
	for c, ns := range p.Spent() {
		set := p.R.Contexts.Node(replay.ContextID(c)).Set
		for _, s := range p.Shares(replay.ContextID(c)) {
			part := float64(ns) * s.Share
			is := in(set, &s)
			if is {
				changed += part
			}
			if s.Looks == 0 {
				continue
			}
			for s.By >= len(by) {
				by = append(by, work{})
			}
			x := &by[s.By]
			x.n = s.Looks
			if x.all += part; is {
				x.changed += part
			}
		}
	}
	variance := 0.
	for _, x := range by {
		if x.changed > 0 && x.changed < x.all*(1-1e-9) {
			n := float64(x.n)
			share := (x.changed/x.all*n + 1) / (n + 2) // of a uniform prior
			variance += x.all * x.all * share * (1 - share) / (n + 3)
		}
	}
	if changed == 0 {
		return 0
	}
	return math.Sqrt(variance) / changed
}
