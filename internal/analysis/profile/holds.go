package profile

import (
	"maps"
	"math"
	"slices"

	"qinst.dev/internal/stats"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Of a lock that is taken too often for the budget, operations are traced in bursts, and all are
// counted. Its hold is then an estimate: the known holds, and for each of the others what they
// took on average. Holds of one burst are alike, so that the burst is the observation (ADR 32).

// stretchNS is the length of the stretches into which a run is divided: bursts are about as far
// apart.
const stretchNS = 10e6

// heldIn sums up the holds of a lock by stretches of the run.
type heldIn struct {
	began int64 // holds, also those whose end is not known
	at    int64 // number of the stretch at hand
	n     int64 // holds in it
	ns    int64 // of them
	least int64 // the shortest hold of all
	sums  stats.Clusters
}

// add takes in a hold that ended.
func (s *heldIn) add(now trace.Time, ns int64) {
	if at := int64(now) / stretchNS; at != s.at {
		s.close()
		s.at = at
	}
	if s.least == 0 || ns < s.least {
		s.least = max(1, ns)
	}
	s.n++
	s.ns += ns
}

// close ends the stretch at hand.
func (s *heldIn) close() {
	if s.n == 0 {
		return
	}
	n, ns := float64(s.n), float64(s.ns)
	s.sums.Add(stats.Clusters{N: 1, Units: n, Hits: ns, UnitSquares: n * n, HitSquares: ns * ns, Products: n * ns})
	s.n, s.ns = 0, 0
}

// takes reports whether an operation takes a lock.
func takes(op string) bool {
	return op == spec.OpLock || op == spec.OpRLock || op == spec.OpTryLock || op == spec.OpTryRLock
}

// gives reports whether an operation gives a lock back.
func gives(op string) bool { return op == spec.OpUnlock || op == spec.OpRUnlock }

// holds are the holds of the objects of a name, as far as they are known. A lock may be held long
// by one procedure and shortly by another one, whose operations are the ones that are only counted.
// Therefore holds are kept apart by the points that took the lock.
type holds struct {
	by     map[trace.PointID]*holdsOf
	given  trace.Estimate // operations that give it back
	partly bool           // some operations were not seen
}

// holdsOf are the holds that began at one point.
type holdsOf struct {
	taken  trace.Estimate // operations
	traced uint64         // of these
	began  int64          // holds by these
	n, ns  int64          // of the known holds: of those that began, these ended, too
	least  int64          // the shortest of them, in ns
	sums   stats.Clusters
}

// of returns the holds of a point.
func (h *holds) of(p trace.PointID) *holdsOf {
	x := h.by[p]
	if x == nil {
		if h.by == nil {
			h.by = map[trace.PointID]*holdsOf{}
		}
		x = new(holdsOf)
		h.by[p] = x
	}
	return x
}

// points are the points, in order, because sums of numbers with fractions depend on it.
func (h *holds) points() []trace.PointID { return slices.Sorted(maps.Keys(h.by)) }

// all are the holds of all points together.
func (h *holds) all() (sum holdsOf) {
	for _, p := range h.points() {
		x := h.by[p]
		sum.taken, sum.traced = sum.taken.Plus(x.taken), sum.traced+x.traced
		sum.began, sum.n, sum.ns = sum.began+x.began, sum.n+x.n, sum.ns+x.ns
		sum.sums.Add(x.sums)
		sum.shortest(x.least)
	}
	return sum
}

// add takes in the holds of an object.
func (h *holdsOf) add(in *heldIn) {
	in.close()
	h.began += in.began
	h.n, h.ns = h.n+round(in.sums.Units), h.ns+round(in.sums.Hits)
	h.sums.Add(in.sums)
	h.shortest(in.least)
}

func (h *holdsOf) shortest(least int64) {
	if h.least == 0 || least > 0 && least < h.least {
		h.least = least
	}
}

// unmatched reports whether locks were taken and given back a different number of times, although a
// few may be held at the end. Of estimates this is not known.
func (h *holds) unmatched() bool {
	taken := h.all().taken
	if !taken.Exact() || !h.given.Exact() {
		return false
	}
	more, less := max(taken.Value, h.given.Value), min(taken.Value, h.given.Value)
	return more-less > max(mostHeld, more/10)
}

// mostHeld is how many locks of a name are not held at the end of any run but a strange one.
const mostHeld = 64

// estimate returns the sum of all holds, with a 95 % interval: nil if all are known. If too little
// is known for one, or only a part of the operations is seen, ok is false, and the sum is a lower
// bound. The objects were held for no longer than most.
//
// A hold that is traced has a part of the cost of its events within it, one that is counted has
// not. That part is between nothing and an event's cost, in ns, and not more than the shortest
// hold.
func (h *holds) estimate(most int64, event float64) (all int64, interval *[2]int64, ok bool) {
	sum := h.all()
	if sum.n == 0 || sum.known() && !h.partly {
		return sum.ns, nil, false
	}
	most = max(sum.ns, most)
	known := &[2]int64{sum.ns, most}
	if h.partly || sum.taken.Bound() {
		return sum.ns, known, false
	}
	var mean, low, below, high, above float64
	for _, p := range h.points() {
		x := h.by[p]
		if x.known() {
			continue
		}
		if x.cut() {
			return sum.ns, known, false
		}
		from := x
		i, ok := x.others(x.sums, x.share())
		if !ok { // too little is known of those of this point: they are taken to be like the other ones
			from = &sum
			if i, ok = x.others(sum.sums, sum.share()); !ok {
				return sum.ns, known, false
			}
		}
		within := min(event, float64(from.least)) * i.units
		mean += max(0, i.Mean-within/2)
		low, below = low+i.Mean-within, math.Hypot(below, i.Mean-i.Low)
		high, above = high+i.Mean, math.Hypot(above, i.High-i.Mean)
	}
	bound := func(ns float64) int64 { return min(most, sum.ns+round(max(0, ns))) }
	return bound(mean), &[2]int64{bound(low - below), bound(high + above)}, true
}

// others is an estimate of holds that were only counted.
type others struct {
	stats.Interval
	units float64
}

// others estimates them, of which a share of the operations began one each.
func (h *holdsOf) others(like stats.Clusters, share float64) (others, bool) {
	left := func(taken uint64) float64 { return share * float64(taken-min(h.traced, taken)) }
	least, most := h.taken.Ends()
	units := left(h.taken.Value)
	i, ok := like.Others(units)
	low, ok2 := like.Others(left(least))
	high, ok3 := like.Others(left(most))
	i.Low, i.High = low.Low, high.High
	return others{i, units}, ok && ok2 && ok3
}

// known reports whether all operations are events.
func (h *holdsOf) known() bool { return h.taken.Exact() && h.traced >= h.taken.Value }

// share is how many operations began a hold: of those that try some get nothing, and of those that
// read some join others.
func (h *holdsOf) share() float64 {
	if h.traced == 0 {
		return 1
	}
	return min(1, float64(h.began)/float64(h.traced))
}

// cut reports whether many holds are longer than the stretches of the run that events show, so that
// their ends are not known. Those that are known are the short ones, and the others are not like
// them.
func (h *holdsOf) cut() bool { return h.began-h.n > h.began/mostCut }

// mostCut: a tenth. Bursts end within one hold of hundreds.
const mostCut = 10
