package delays

import (
	"math"
)

// Verdicts.
const (
	OK     = "ok"     // the difference is within its interval of 0
	Small  = "small"  // below a fifth of FB2
	Costly = "costly" // more: the early ones wait for the last one
	Void   = "void"   // the tool's barrier waited in vain
)

// SmallPart is the part of FB2 below which a difference is small.
const SmallPart = 0.2

// barriersOf are the pairs of a plan.
func (e *Experiment) barriersOf(p *PlanResult) []Barrier {
	list := []Barrier{}
	for i := range e.Factors {
		f := &e.Factors[i]
		if f.Construct != Arrival {
			continue
		}
		b := Barrier{Name: f.Name, Participants: f.Participants, Crossings: f.Visits / float64(f.Participants),
			Delay: f.Delay, Verdict: Void}
		one, two := p.of(i), p.of(i+1)
		if f.Void == "" && one != nil && two != nil {
			difference, se := two.Effect-one.Effect, math.Hypot(one.SE, two.SE) // a plan's effects are independent
			half := 0.
			if one.SE > 0 {
				half = (one.High - one.Effect) / one.SE * se
			}
			lo, hi := difference-half, difference+half
			b.FB1, b.FB2, b.Difference, b.SE, b.Low, b.High = &one.Effect, &two.Effect, &difference, &se, &lo, &hi
			switch {
			case difference <= half:
				b.Verdict = OK
			case difference < SmallPart*two.Effect:
				b.Verdict = Small
			default:
				b.Verdict = Costly
			}
		}
		list = append(list, b)
	}
	return list
}
