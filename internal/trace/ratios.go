package trace

import (
	"qinst.dev/internal/stats"
	"qinst.dev/sddf/spec"
)

// The hottest procedures with twins run without their entries being counted, but in bursts. There
// they are related to the entries of another procedure, their yardstick, which always are counted.

// ratio is what bursts found of such a procedure.
type ratio struct {
	yardstick PointID
	before    uint64         // entries of the yardstick before
	counted   uint64         // and of the procedure
	found     stats.Clusters // units are entries of the yardstick, and hits those of the procedure
}

// A ratio is taken only of so many equal bursts, and only if it hardly varies between them. A few
// long bursts may all be of one phase of the program. A ratio that varies may differ between bursts
// and the rest of the run, as that to a procedure of another goroutine does, which probes slow down
// by another factor. In two of nine runs of the program bursts 14 of 45 intervals did not hold.
const (
	leastBursts = 8
	mostVaries  = 0.05 // the width of the interval, as a part of the number
)

// readRatios takes what the last "ratios" record says. The world stops where procedures are
// entered, so that each burst may have one entry more or less than its time.
func (c *rawCounts) readRatios(t *Trace) {
	t.entries(&spec.Ratios, c.ratios, func(v []uint64) {
		n := uint64(len(t.Points))
		if v[0] >= n || v[1] >= n {
			t.losses.UnknownPoint++
			return
		}
		if t.ratios == nil {
			t.ratios = map[PointID]*ratio{}
		}
		t.ratios[PointID(v[0])] = &ratio{PointID(v[1]), v[2], v[9], stats.Clusters{N: float64(v[3]),
			Hits: float64(v[4]), HitSquares: float64(v[5]) + float64(v[3]), Units: float64(v[6]),
			UnitSquares: float64(v[7]), Products: float64(v[8])}}
	})
}

// plain estimates the activations of a procedure, or the iterations of a loop, that ran without
// probes.
func (t *Program) plain(p *Point) Estimate {
	if !p.Uncounted {
		return Estimate{Value: p.Plain}
	}
	if r := t.ratios[p.Owner]; r != nil && p.Kind == spec.PointProc {
		yard := &t.Points[r.yardstick]
		others, ok := r.found.Others(float64(yard.Hits) - float64(r.before) - r.found.Units)
		// Of the entries that probes counted only these bursts' are left out of the yardstick's: a
		// burst may be too long or too short to be one of them.
		known := float64(r.counted) + r.found.Hits - float64(p.Hits-p.Plain)
		constant := r.found.Effective() >= leastBursts && others.High-others.Low <= mostVaries*others.Mean
		if ok && constant && known+others.High < mostHits && yard.counted() {
			least := float64(p.Plain)
			return Estimate{rounded(max(least, known+others.Mean)), uint64(max(least, known+others.Low)),
				ceil(max(least, known+others.High)), r.found.Effective()}
		}
	}
	return Estimate{Value: p.Plain, Lo: max(1, p.Plain)}
}

// counted reports whether all entries of a procedure were counted where they are.
func (p *Point) counted() bool {
	return p.Kind == spec.PointProc && p.Representative == p.Owner && !p.Summed() && !p.Uncounted && !p.Off
}

// uncounted estimates the entries of a procedure some of which were not counted.
func (t *Program) uncounted(p *Point) Estimate {
	e := t.plain(p)
	if e.Bound() || p.Hits > mostHits {
		return Estimate{Value: p.Hits, Lo: max(1, p.Hits)}
	}
	more := p.Hits - p.Plain
	return Estimate{e.Value + more, e.Lo + more, e.Hi + more, e.clusters}
}
