package profile

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// nominal follows the nominal parallelism (Quartz, 3.1): how many goroutines are runnable, on
// a processor or not.
type nominal struct {
	is        int64
	area      int64      // its integral up to at
	at        trace.Time // of the last change
	byNumber  byNumber
	stretched RunnableHist // of the stretch at hand
	last      stretch      // kept here, because copying it takes longer than making it
}

// since is the state of the distribution when a goroutine's time was last accounted.
type since struct {
	area     int64
	byNumber byNumber
}

// runnable reports whether a goroutine is, on a processor or without one.
func runnable(s trace.State) bool { return s.Busy() || s == trace.Runnable || s == trace.OffCPU }

// until is the integral of the number of runnable goroutines up to now, in ns.
func (n *nominal) until(now trace.Time) int64 { return n.area + n.is*int64(now-n.at) }

// change changes the number.
func (n *nominal) change(now trace.Time, d int64) {
	n.byNumber = byNumber{n.byNumber.until(now), now, runnableBin(n.is + d), n.byNumber.n + 1}
	n.area, n.at = n.until(now), now
	n.is += d
}

// from returns the current state of the distribution.
func (n *nominal) from(now trace.Time) since { return since{n.until(now), n.byNumber} }

// stretch is a time of a goroutine, which is accounted with it. It is valid until the next one.
func (n *nominal) stretch(busy int, g *since, from, to trace.Time) *stretch {
	area, s := n.until(to), &n.last
	s.busy, s.ns, s.runnable, s.at, s.runnableHist = busy, int64(to-from), area-g.area, n.byNumber.is, nil
	g.area = area
	if g.byNumber.n != n.byNumber.n { // mostly the number did not change
		n.apart(g, from, to)
	}
	return s
}

// apart takes the last stretch apart by the number of runnable goroutines.
func (n *nominal) apart(g *since, from, to trace.Time) {
	before := g.byNumber.until(from)
	after := n.byNumber.until(to)
	for i := range after {
		n.stretched[i] = after[i] - before[i]
	}
	n.last.runnableHist = &n.stretched
	g.byNumber = n.byNumber
}

// byNumber follows the times by the number of runnable goroutines.
type byNumber struct {
	times RunnableHist // up to from
	from  trace.Time   // the number has had its present value since
	is    int          // index of it
	n     int64        // changes so far
}

// until are the times up to now.
func (c *byNumber) until(now trace.Time) RunnableHist {
	t := c.times
	t[c.is] += int64(now - c.from)
	return t
}

// spend adds time of a goroutine.
func (u *Usage) spend(g *replay.G, s *stretch) {
	switch {
	case g.Busy():
		u.spendAs(useBusy, s)
	case g.State.Busy():
		u.spendAs(useSpin, s)
	case g.State == trace.Runnable:
		u.spendAs(useReady, s)
	case g.State == trace.Waiting:
		u.spendAs(useBlocked, s)
	case g.State == trace.Blocked:
		u.spendAs(useSyscall, s)
	case g.State == trace.OffCPU:
		u.spendAs(useOff, s)
	default:
		return // it has ended
	}
	u.Alone += s.alone
}

// spendAs adds time in a state.
func (u *Usage) spendAs(use int, s *stretch) {
	switch use {
	case useBusy:
		u.busy(s.busy, s.ns)
	case useSpin:
		u.Spin += s.ns
	case useReady:
		u.Ready += s.ns
	case useBlocked:
		u.Blocked += s.ns
	case useSyscall:
		u.Syscall += s.ns
	case useOff:
		u.Off += s.ns
	}
	u.Runnable[use] += s.runnable
	if s.runnableHist != nil {
		u.addRunnable(use, s.runnableHist)
		return
	}
	if u.RunnableHists[use] == nil {
		u.RunnableHists[use] = new(RunnableHist)
	}
	u.RunnableHists[use][s.at] += s.ns
}
