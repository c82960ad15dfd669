package profile

import (
	"qinst.dev/analysis/replay"
	"qinst.dev/trace"
)

// alone follows how long only one goroutine of the program was runnable, on a processor or not: then no more
// processors could have helped. Unlike the number of busy processors it does not depend on the collector's
// goroutines, which use processors that are idle, nor on what else the machine runs.
type alone struct {
	n     int64
	ns    int64 // up to since
	since trace.Time
}

// until is the time up to now.
func (a *alone) until(now trace.Time) int64 {
	if a.n == 1 {
		return a.ns + int64(now-a.since)
	}
	return a.ns
}

// change changes the number of runnable goroutines.
func (a *alone) change(now trace.Time, d int64) {
	a.ns, a.since = a.until(now), now
	a.n += d
}

// of returns how much of a stretch that ends now a goroutine was the only one.
func (a *alone) of(g *replay.G, m *mine, now trace.Time) int64 {
	all := a.until(now)
	ns := all - m.alone
	m.alone = all
	if g.System || !runnable(g.State) {
		return 0
	}
	return ns
}
