package delays

import (
	"math"
	"slices"
)

// Constructs of the factors of a barrier, which come in pairs. Both are delays before an arrival, in which a lock of the tool's is held.
const (
	Arrival  = "arrival"  // FB1: whoever arrives waits for those who arrive just then
	Crossing = "crossing" // FB2: likewise, once all have come together at a barrier of the tool's
)

// Barrier is what the pair of a barrier tells. With P participants whose arrivals are t_(1) <= .. <= t_(P), and delays of d,
// a crossing takes FB1 = max_i(t_(i) + (P-i+1)d) - t_(P) longer, from d to P*d, and FB2 = P*d. So the difference is 0 if all
// arrive together, and grows with what the early ones wait for the last one, up to (P-1)d.
type Barrier struct {
	Name         string   `json:"name"`
	Participants int      `json:"participants"`
	Crossings    float64  `json:"crossings"`
	Delay        float64  `json:"delay_ns"`
	FB1          *float64 `json:"fb1"` // null if the pair is void
	FB2          *float64 `json:"fb2"`
	Difference   *float64 `json:"difference"`
	SE           *float64 `json:"se"` // of the difference
	Low          *float64 `json:"lo"`
	High         *float64 `json:"hi"`
	Verdict      string   `json:"verdict"`
}

// Verdicts.
const (
	OK     = "ok"     // the difference is within its interval of 0
	Small  = "small"  // below a fifth of FB2
	Costly = "costly" // more: the early ones wait for the last one
	Void   = "void"   // the tool's barrier waited in vain
)

// SmallPart is the part of FB2 below which a difference is small.
const SmallPart = 0.2

// All are the delays of a run together, in s: what FB2 is if nothing comes between.
func (b *Barrier) All() float64 { return float64(b.Participants) * b.Crossings * b.Delay / 1e9 }

// barriersOf are the pairs of a plan.
func (e *Experiment) barriersOf(p *PlanResult) []Barrier {
	list := []Barrier{}
	for i := range e.Factors {
		f := &e.Factors[i]
		if f.Construct != Arrival {
			continue
		}
		b := Barrier{Name: f.Name, Participants: f.Participants, Crossings: f.Visits / float64(f.Participants), Delay: f.Delay, Verdict: Void}
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

// of is a factor's effect, nil if it has none.
func (p *PlanResult) of(factor int) *Effect {
	if i := slices.IndexFunc(p.Effects, func(e Effect) bool { return e.Factor == factor }); i >= 0 {
		return &p.Effects[i]
	}
	return nil
}
