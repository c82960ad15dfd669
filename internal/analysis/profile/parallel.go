package profile

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// parallel follows how many goroutines there are, how many of them are runnable, and how many
// processors are busy.
type parallel struct {
	nominal nominal
	busy    busy
	alone   alone
	late    unserved
	line    timeline
}

// lives accounts the creation of a goroutine, or its end.
func (p *parallel) lives(now trace.Time, d float64) { p.line.alive.set(now, p.line.alive.is+d) }

// countRunnable accounts a goroutine that becomes runnable, or no longer is.
func (p *parallel) countRunnable(g *replay.G, now trace.Time, d int64) {
	p.nominal.change(now, d)
	if !g.System {
		p.alone.change(now, d)
		p.late.change(now, d, 0)
	}
	p.line.runnable.set(now, float64(p.nominal.is))
}

// turn accounts a goroutine's change to another state.
func (p *parallel) turn(g *replay.G, now trace.Time, to trace.State) {
	if off, takes := g.State == trace.OffCPU, to == trace.OffCPU; off != takes && !g.System {
		p.alone.takes(now, int64(one(takes)-one(off)))
	}
	if a, z := runnable(g.State), runnable(to); a != z {
		p.countRunnable(g, now, int64(one(z)-one(a)))
	}
}

// keep accounts that n + d goroutines keep processors, and no longer n. Of these, the operating
// system has the processors of off more.
func (p *parallel) keep(n int, now trace.Time, d, off int) {
	p.late.change(now, 0, int64(d))
	p.busy.until(n, now)
	p.busy.off += off
	if d < 0 {
		p.busy.idleAt = now
	}
	p.line.busy.set(now, float64(n+d-p.busy.off))
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// busy follows how many processors are busy.
type busy struct {
	at     []int64    // ns by number
	ns     int64      // of processors
	kept   int64      // and of those that the operating system had taken, too
	told   trace.Time // both up to here
	idleAt trace.Time // no goroutine has kept a processor since
	off    int        // goroutines that keep one, but the operating system has taken their threads' processors
	taken  int64      // ns with none busy and some of these
}

// until accounts the time up to now, in which n goroutines kept processors.
func (c *busy) until(n int, now trace.Time) {
	if now == c.told {
		return
	}
	c.kept += int64(n) * int64(now-c.told)
	if n -= c.off; n == 0 && c.off > 0 {
		c.taken += int64(now - c.told)
	}
	for n >= len(c.at) {
		c.at = append(c.at, 0)
	}
	c.at[n] += int64(now - c.told)
	c.ns += int64(n) * int64(now-c.told)
	c.told = now
}

// sum is the processor time.
func (c *busy) sum() int64 { return c.ns }

// used is the time of processors: for which goroutines kept them, and for which they were busy,
// because the operating system had not taken them.
type used struct{ kept, busy int64 }

// upTo is the time of processors up to a time since the last change, with n goroutines that keep
// one now.
func (c *busy) upTo(n int, now trace.Time) used {
	since := max(0, int64(now-c.told))
	return used{c.kept + int64(n)*since, c.ns + int64(n-c.off)*since}
}

// time is how long any goroutine kept a processor.
func (c *busy) time(wall trace.Time) int64 {
	if len(c.at) == 0 {
		return 0
	}
	return int64(wall) - c.at[0] + c.taken
}
