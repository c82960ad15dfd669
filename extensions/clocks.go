package extensions

// clocks are the first and the last reading of a file's clocks.
type clocks struct{ first, last reading }

type reading struct {
	ticks uint64
	ns    uint64
}

func (c *clocks) read(r reading) {
	if c.last = r; c.first.ticks == 0 {
		c.first = r
	}
}

// ns is a duration in ns.
func (c *clocks) ns(ticks uint64) int64 {
	a, b := c.first, c.last
	if b.ticks <= a.ticks {
		return int64(ticks)
	}
	return int64(float64(ticks) * (float64(b.ns-a.ns) / float64(b.ticks-a.ticks)))
}
