package correct

import (
	"errors"
	"fmt"
	"math"

	"qinst.dev/internal/analysis/price"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Two runs of one program with different numbers of events differ by the cost of these. So the
// price of an event can be found from outside, with its effect on the program's caches and text.
// Run-to-run variation is an error of that price: the less the two differ in their events, the
// weaker the evidence, and the nearer the price stays to that of the trace.

const (
	mostFactor = 8    // of the prices
	leastCalls = 0.5  // share of the cost of events by their prices
	leastApart = 0.01 // the runs' costs by their own prices must differ by as much, as a share of the run
	// standard deviation of the difference of two runs without probes, as a share, from small
	// programs
	runSpread = 0.04
)

// density finds by which factor prices are off, from another trace.
func (c *correction) density(source trace.Source) error {
	if err := c.sameProgram(source.Tables()); err != nil {
		return err
	}
	d, _, err := read(source, c.o)
	switch {
	case err != nil:
		return err
	case !c.known() || !d.known():
		return errors.New("the density file, or the trace, tells nothing of goroutines: both need events")
	case c.p.Procs != d.p.Procs:
		return fmt.Errorf("the density file is of a run on %d processors, expected %d as in the trace", d.p.Procs,
			c.p.Procs)
	}
	calls, all := c.spent()
	if calls < leastCalls*all {
		return fmt.Errorf("the density file does not tell the price of operations and scheduling, which are %.0f %% of what events cost in the trace: two runs also differ by who waits for whom",
			100*(1-calls/all))
	}
	d.byPrice()
	if _, others := d.spent(); all > others {
		c.byPrice()
	}
	factor, spread := c.factor, c.spread
	apart := func(factor float64) float64 {
		c.factor, d.factor = factor, factor
		return c.corrected(known, nil) - d.corrected(known, nil)
	}
	before := apart(0)
	slope := before - apart(1)
	if math.Abs(slope) < leastApart*c.measured {
		return errors.New("the density file has about as many events as the trace, so that it tells nothing of their price: expected one with half as many or fewer, such as at the default budget")
	}
	lo, hi := 0., 0. // the one with more events was faster
	if (before > 0) == (slope > 0) {
		hi = mostFactor
	}
	for range 12 { // to 0.002
		if mid := (lo + hi) / 2; (apart(mid) > 0) == (before > 0) {
			lo = mid
		} else {
			hi = mid
		}
	}
	found, own := math.Pow(runSpread*c.measured/slope, -2), math.Pow(spread, -2)
	c.factor, c.spread, c.from = ((lo+hi)/2*found+factor*own)/(found+own), 1/math.Sqrt(found+own), "another run"
	return nil
}

// byPrice lets events alone determine the cost of probes: sampled shares do not depend on the price
// that is sought.
func (c *correction) byPrice() {
	for id := range c.probes {
		c.probes[id] = -1
	}
}

// spent is the cost of calls by their prices, and that of all events, in ns.
func (c *correction) spent() (calls, all float64) {
	for k, n := range c.events {
		all += float64(n) * c.mended[k].Each
	}
	return float64(c.events[price.Call]) * c.mended[price.Call].Each, all
}

// mostOther is by how much the numbers of two runs' hits may differ, as a share of all hits.
const mostOther = 0.05

// sameProgram reports an error if tables are of another program, or of a run that did something
// else. It compares entries of procedures and operations, which are always counted; loops and calls
// are not while their procedure runs without probes (ADR 30).
func (c *correction) sameProgram(t *trace.Tables) error {
	hits := map[uint64]uint64{}
	for i := range t.Points {
		hits[t.Points[i].ID] = t.Points[i].Hits
	}
	mine, found, all, apart := 0, 0, uint64(0), uint64(0)
	for i := range c.p.R.T.Points {
		p := &c.p.R.T.Points[i]
		if p.ID == 0 {
			continue
		}
		mine++
		n, ok := hits[p.ID]
		if ok {
			found++
		}
		if ok && (p.Kind == spec.PointSync || p.Kind == spec.PointProc && !p.Small()) {
			all, apart = all+p.Hits, apart+max(p.Hits, n)-min(p.Hits, n)
		}
	}
	switch {
	case found < mine:
		return fmt.Errorf("the density file is of another program: it has %d of this one's %d points", found, mine)
	case float64(apart) > mostOther*float64(all):
		return fmt.Errorf("the density file is of a run that did something else: %d hits differ, of %d; expected the same input", apart, all)
	}
	return nil
}
