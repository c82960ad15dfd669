package correct

import (
	"maps"
	"math"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// inPeriods finds in which periods contexts had more hits, for their work, and in which less.
func (c *correction) inPeriods() {
	t := c.p.R.T
	if t.Periods.N == 0 {
		return
	}
	p := &periods{of: &t.Periods, work: make([][]float64, len(c.p.Periods)),
		counts: make([][]float64, len(c.p.Periods))}
	dense := c.dense(c.hitsOf(&t.Periods))
	for id, list := range c.p.Periods {
		if list != nil {
			p.work[id] = upTo(list)
			p.counts[id] = c.counts(replay.ContextID(id), list, dense)
		}
	}
	p.steps(c.p)
	c.periods = p
}

// hitsOf are the hits without an event of each procedure whose hits have a cost, by period.
func (c *correction) hitsOf(p *trace.Periods) map[trace.PointID][]float64 {
	hits := map[trace.PointID][]float64{}
	for _, id := range slices.Sorted(maps.Keys(p.Hits)) { // sums depend on the order
		proc := c.p.R.T.Points[id].Owner
		if c.text[proc] <= 0 {
			continue
		}
		if hits[proc] == nil {
			hits[proc] = make([]float64, p.N)
		}
		for i, n := range p.Hits[id] {
			hits[proc][i] += n
		}
	}
	return hits
}

// dense is the density of hits in each procedure's work by period, relative to its mean. The work
// is that of contexts in the period, divided by the samples of all periods: hits in periods without
// samples have no effect.
func (c *correction) dense(hits map[trace.PointID][]float64) map[trace.PointID][]float64 {
	work := map[trace.PointID][]float64{}
	for id, list := range c.p.Periods {
		if list == nil {
			continue
		}
		for _, s := range c.p.Shares(replay.ContextID(id)) {
			if hits[s.Proc] == nil {
				continue
			}
			if work[s.Proc] == nil {
				work[s.Proc] = make([]float64, len(list))
			}
			for i, ns := range list {
				work[s.Proc][i] += s.Share * ns
			}
		}
	}
	all := map[trace.PointID][]float64{}
	for proc, ns := range work {
		n := hits[proc]
		own := make([]float64, len(ns))
		mean := func() float64 { // weighted by work
			sum, of := 0., 0.
			for i, d := range own {
				sum, of = sum+d*ns[i], of+ns[i]
			}
			return sum / of
		}
		for i := range own {
			if ns[i] > 0 {
				own[i] = n[i] / ns[i]
			}
		}
		for _, most := range [...]float64{mostDense, math.Inf(1)} {
			if m := mean(); m > 0 {
				for i := range own {
					own[i] = min(own[i]/m, most)
				}
				all[proc] = own
			}
		}
	}
	return all
}

// counts is the work of a context up to each period, with the density of counted hits in each.
func (c *correction) counts(id replay.ContextID, list []float64, dense map[trace.PointID][]float64) []float64 {
	own, all := make([]float64, len(list)), 0.
	for _, s := range c.p.Shares(id) {
		ns := c.self[s.Proc]
		if ns <= 0 || c.text[s.Proc] <= 0 {
			continue
		}
		weight := s.Share * c.text[s.Proc] / ns
		all += weight
		for i, ns := range list {
			if own[i] += weight * ns; dense[s.Proc] != nil {
				own[i] += weight * (dense[s.Proc][i] - 1) * ns
			}
		}
	}
	if all == 0 {
		return nil
	}
	for i := range own {
		own[i] /= all
	}
	return upTo(own)
}
