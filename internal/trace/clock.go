package trace

import "sort"

// clockPoint is one "clock" record: the same moment on three clocks.
type clockPoint struct {
	ticks uint64
	mono  int64 // ns, CLOCK_MONOTONIC
	wall  int64 // ns since 1970
	next  int64 // ns to the next reading, as planned; 0: unknown
}

// clock converts ticks to ns since the trace began, piecewise linearly between
// the moments at which the program read both clocks.
type clock struct {
	points []clockPoint // ticks and mono strictly increasing
	origin uint64       // ticks of time 0
	base   Time         // of origin, according to the points
	seg    int          // index of the segment of the last conversion
}

// normalize sorts the points and drops those that would turn time back. It returns how many it
// dropped.
func (c *clock) normalize() (dropped int64) {
	sort.SliceStable(c.points, func(i, j int) bool { return c.points[i].ticks < c.points[j].ticks })
	kept := c.points[:0]
	for _, p := range c.points {
		if n := len(kept); n > 0 && (p.ticks <= kept[n-1].ticks || p.mono <= kept[n-1].mono) {
			if p != kept[n-1] {
				dropped++
			}
			continue
		}
		kept = append(kept, p)
	}
	c.points = kept
	return dropped
}

// start makes origin time 0.
func (c *clock) start(origin uint64) {
	c.origin = origin
	c.base = 0
	c.base = c.ns(origin)
}

// tick is the mean length of a tick, in ns.
func (c *clock) tick() float64 {
	if len(c.points) < 2 {
		return 1
	}
	first, last := c.points[0], c.points[len(c.points)-1]
	return float64(last.mono-first.mono) / float64(last.ticks-first.ticks)
}

// ns converts. Calls with increasing ticks are fast: the segment is kept.
func (c *clock) ns(ticks uint64) Time {
	if len(c.points) < 2 {
		return Time(ticks-c.origin) - c.base
	}
	last := len(c.points) - 2
	for c.seg < last && ticks >= c.points[c.seg+1].ticks {
		c.seg++
	}
	for c.seg > 0 && ticks < c.points[c.seg].ticks {
		c.seg--
	}
	a, b := &c.points[c.seg], &c.points[c.seg+1]
	slope := float64(b.mono-a.mono) / float64(b.ticks-a.ticks)
	// Integer sum of a rounded product: no fused multiply-add, hence the same
	// bytes on every architecture.
	return Time(a.mono+int64(float64(int64(ticks-a.ticks))*slope)) - c.base
}

// ticksAt is the reverse of ns: the last ticks that come to no more than so many ns.
func (c *clock) ticksAt(ns Time) uint64 {
	lo, hi := c.origin, c.origin
	for step := uint64(1) << 20; c.ns(hi) <= ns && step != 0; step *= 2 {
		lo, hi = hi, hi+step
	}
	for lo < hi {
		if mid := hi - (hi-lo)/2; c.ns(mid) <= ns {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}
