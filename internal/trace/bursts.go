package trace

import (
	"math"

	"qinst.dev/internal/stats"
	"qinst.dev/sddf/spec"
)

// Hot procedures run without probes most of the time. Their entries are counted all the same, but
// calls and loops in them only in the activations with probes: before rate control chose the
// procedure, and in bursts later. The hits in the others are estimated from the bursts (ADR 56). A
// loop that lasts takes the place of a procedure for what is in it, and its iterations that of
// activations. Both are units.

// Bursts is what bursts found at a point. The sums are over bursts, because activations of one
// burst are alike.
type Bursts struct {
	N        uint64 // of a unit: bursts with an activation or iteration, or with hits of one that began earlier
	Hits     uint64 // of a unit: these
	Squares  uint64 // of each burst's hits
	Products uint64 // of a point in a unit: each burst's hits times the unit's
}

// Estimate is a number of hits, with a 95 % confidence interval if it is not exact.
//
//	exact        Lo and Hi are 0
//	estimated    Lo <= Value <= Hi
//	lower bound  Hi is 0: nothing is known but that there are Lo or more
//
// The zero value is an exact 0.
type Estimate struct {
	Value, Lo, Hi uint64

	clusters float64 // see [stats.Clusters.Effective]
}

// Exact reports whether the number was counted.
func (e Estimate) Exact() bool { return e.Lo == 0 && e.Hi == 0 }

// Bound reports whether the number is only known to be Lo or more.
func (e Estimate) Bound() bool { return e.Lo > 0 && e.Hi == 0 }

// Mark is what stands in front of the number for readers: "" if it is exact, "~" if it is
// estimated, "≥" if it is a lower bound.
func (e Estimate) Mark() string {
	switch {
	case e.Exact():
		return ""
	case e.Bound():
		return "≥"
	}
	return "~"
}

// Shown is the number for readers: the estimate, or the lower bound.
func (e Estimate) Shown() uint64 {
	if e.Bound() {
		return e.Lo
	}
	return e.Value
}

// Ends are those of the interval, or of the number itself.
func (e Estimate) Ends() (lo, hi uint64) {
	switch {
	case e.Exact():
		return e.Value, e.Value
	case e.Bound():
		return e.Lo, e.Value
	}
	return e.Lo, e.Hi
}

// Plus is the sum of two numbers of one run. The ends of the intervals add up, because estimates
// from the same bursts may be wrong in the same direction.
func (e Estimate) Plus(o Estimate) Estimate {
	return e.with(o, func(a, b float64) float64 { return a + b })
}

// Beside is the sum of two numbers of different runs: their variances add up.
func (e Estimate) Beside(o Estimate) Estimate { return e.with(o, math.Hypot) }

func (e Estimate) with(o Estimate, far func(a, b float64) float64) Estimate {
	sum := Estimate{Value: e.Value + o.Value}
	if e.Exact() && o.Exact() {
		return sum
	}
	elo, ehi := e.Ends()
	olo, ohi := o.Ends()
	sum.Lo = max(elo+olo, sum.Value-min(sum.Value, rounded(far(float64(e.Value-elo), float64(o.Value-olo)))))
	if !e.Bound() && !o.Bound() {
		sum.Hi = sum.Value + rounded(far(float64(ehi-e.Value), float64(ohi-o.Value)))
	}
	return sum
}

// Part is the estimate for those hits that part of the observed ones stand for, as the calls of one
// of several callees. Nothing reports how the part varies between bursts, so each burst counts as
// one observation of it.
func (e Estimate) Part(part, observed uint64) Estimate {
	switch {
	case part >= observed:
		return e
	case part == 0:
		return Estimate{}
	case e.Exact():
		return Estimate{Value: part}
	case e.Bound() || e.clusters == 0:
		return Estimate{Value: part, Lo: part}
	}
	share := float64(part) / float64(observed)
	low, high := stats.Share(share, e.clusters)
	value := max(part, rounded(share*float64(e.Value)))
	most := max(value, e.Hi-min(e.Hi, observed-part)) // the others were observed, too
	return Estimate{Value: value, Lo: max(part, uint64(low*float64(e.Lo))),
		Hi: max(value, min(most, rounded(math.Ceil(high*float64(e.Hi)))))}
}

// Hits is how often a point was reached. That is [Point.Hits] if the point was observed all the
// time, as procedures are. Otherwise it has an interval, or is a lower bound if bursts were too
// few.
func (t *Program) Hits(id PointID) Estimate {
	p := &t.Points[id]
	switch r := p.Representative; {
	case t.Points[r].Uncounted && t.Points[r].Kind == spec.PointProc:
		return t.uncounted(&t.Points[r])
	case p.Kind == spec.PointProc && p.Summed():
		return t.called[id]
	case r != id && t.Points[r].Summed():
		return t.called[r]
	}
	f := t.burstsOf(p)
	if f == nil {
		return Estimate{Value: p.Hits}
	}
	bound := Estimate{Value: p.Hits, Lo: p.Hits}
	x, a := t.Points[p.Representative].Bursts, f.Bursts
	units := t.plain(f)
	within := f.Kind == spec.PointLoop && f.Owner >= 0 && t.Points[f.Owner].ranPlain()
	if x == nil || a == nil || units.Bound() && f.Kind == spec.PointProc || within {
		return bound // of the last, the procedure's activations without probes had iterations that nobody counted
	}
	c := stats.Clusters{N: float64(a.N), Units: float64(a.Hits), UnitSquares: float64(a.Squares),
		Hits: float64(x.Hits), HitSquares: float64(x.Squares), Products: float64(x.Products)}
	least, most := units.Ends()
	plain, ok := c.Others(float64(units.Value))
	low, ok2 := c.Others(float64(least))
	if units.Bound() && ok2 { // of a loop that went on at the end
		bound.Value, bound.Lo = p.Hits+uint64(low.Low), p.Hits+uint64(low.Low)
		return bound
	}
	high, ok3 := c.Others(float64(most))
	if !ok || !ok2 || !ok3 || high.High > mostHits {
		return bound
	}
	return Estimate{p.Hits + rounded(plain.Mean), p.Hits + uint64(low.Low), p.Hits + ceil(high.High), c.Effective()}
}

// Degraded is how many of a point's hits have no event: those that were only counted, and those
// that are estimated.
func (t *Program) Degraded(id PointID) uint64 {
	return t.Hits(id).Shown() - min(t.Points[id].Traced, t.Points[id].Hits)
}

// mostHits is far above what a program counts, and far below what a sum of two overflows.
const mostHits = 1 << 60

// burstsOf is the unit whose bursts show of a point: nil if its hits are exact.
func (t *Program) burstsOf(p *Point) *Point {
	q := &t.Points[p.Representative]
	switch q.Kind {
	case spec.PointCall, spec.PointGo, spec.PointLoop, spec.PointSync:
	default:
		return nil
	}
	counted := q.Kind == spec.PointGo && q.Flags&spec.FlagTwice != 0
	if p.Flags&spec.FlagDerived != 0 || counted || p.Hits == 0 || p.Hits > mostHits {
		return nil
	}
	return t.Unit(q)
}

// Unit returns the loop or procedure around a point that ran without probes for a part of the run,
// nil if none did: then all of the point's hits were counted.
func (t *Program) Unit(p *Point) *Point {
	for loop := p.Loop; loop != NoPoint; loop = t.Points[loop].Loop {
		if t.Points[loop].ranPlain() {
			return &t.Points[loop]
		}
	}
	if p.Owner < 0 || !t.Points[p.Owner].ranPlain() {
		return nil
	}
	return &t.Points[p.Owner]
}

// ranPlain reports whether a procedure or loop ran without its probes.
func (p *Point) ranPlain() bool { return p.Plain > 0 || p.Uncounted }

func rounded(x float64) uint64 { return uint64(math.Round(max(0, x))) }

func ceil(x float64) uint64 { return uint64(math.Ceil(max(0, x))) }

// readBursts takes what the last "bursts" record says. A procedure has no more plain activations
// than entries; a file that ends early may have its entries as they were before.
func (c *rawCounts) readBursts(t *Trace) {
	t.entries(&spec.Bursts, c.bursts, func(v []uint64) {
		if v[0] >= uint64(len(t.Points)) {
			t.losses.UnknownPoint++
			return
		}
		p := &t.Points[v[0]]
		b := Bursts{Hits: v[2], Squares: v[3], Products: v[4]}
		switch {
		case p.Kind == spec.PointProc:
			p.Uncounted = v[1]&spec.Uncounted != 0
			p.Plain = min(v[1]&^spec.Uncounted, p.Hits)
			b = Bursts{N: v[4], Hits: v[2], Squares: v[3]}
		case p.Kind == spec.PointLoop && v[1] > 0:
			p.Uncounted = v[1]&spec.Uncounted != 0
			p.Plain = min(v[1]&^spec.Uncounted, mostHits)
			b = Bursts{N: v[4], Hits: v[2], Squares: v[3]}
		}
		p.Bursts = &b
	})
}
