package profile

import (
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// alone follows how long only one goroutine of the program was runnable, on a processor or not:
// then no more processors could have helped. A goroutine that waits for the collector counts,
// because it has work. Unlike the number of busy processors this does not depend on the collector's
// goroutines, which use processors that are idle, nor on what else the machine runs: while the
// operating system has taken the processor of the only one, time does not count.
type alone struct {
	n     int64
	off   int64 // of these, without a processor of the machine
	ns    int64 // up to since
	since trace.Time
}

// until is the time up to now.
func (a *alone) until(now trace.Time) int64 {
	if a.n == 1 && a.off == 0 {
		return a.ns + int64(now-a.since)
	}
	return a.ns
}

// change changes the number of runnable goroutines.
func (a *alone) change(now trace.Time, d int64) {
	a.ns, a.since = a.until(now), now
	a.n += d
}

// takes notes that the operating system takes the processor of a runnable goroutine, or gives it
// one.
func (a *alone) takes(now trace.Time, d int64) {
	a.ns, a.since = a.until(now), now
	a.off += d
}

// of returns how much of a stretch that ends now a goroutine was the only one. accounted is the
// time up to its stretch before.
func (a *alone) of(g *replay.G, accounted *int64, now trace.Time) int64 {
	all := a.until(now)
	ns := all - *accounted
	*accounted = all
	if g.System || !runnable(g.State) {
		return 0
	}
	return ns
}

// alonePath follows the time with one runnable goroutine from the outermost procedure inwards, as
// long as one procedure has most of it, and returns their names.
func (l *ledger) alonePath(all int64) (names []string) {
	alone := make([]int64, len(l.sets))
	l.subtrees(func(set replay.SetID, u *Usage) { alone[set] = u.Alone })
	inner := make([]replay.SetID, len(l.sets)) // of each set, the extension with most of the time
	for id := replay.SetID(1); int(id) < len(alone); id++ {
		if p := l.r.Sets.Parent(id); alone[id] > alone[inner[p]] || inner[p] == 0 {
			inner[p] = id
		}
	}
	for at := inner[0]; at != 0 && float64(alone[at]) >= aloneMost*float64(all) && alone[at] > 0; at = inner[at] {
		if p := l.r.Sets.Last(at).Point(); p >= 0 && int(p) < len(l.r.T.Points) &&
			l.r.T.Points[p].Kind == spec.PointProc && !slices.Contains(names, l.r.T.Points[p].Name) {
			names = append(names, l.r.T.Points[p].Name)
		}
	}
	return names
}

// aloneMost is the share of the time that a procedure on the path has at least.
const aloneMost = 0.8
