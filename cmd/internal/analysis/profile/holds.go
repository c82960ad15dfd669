package profile

import (
	"qinst.dev/cmd/internal/stats"
	"qinst.dev/cmd/internal/trace"
	"qinst.dev/sddf/spec"
)

// Of a lock that is taken too often for the budget, operations are traced in bursts, and all are
// counted. Its hold is then an estimate: the known holds, and for each of the others what they
// took on average. Holds of one burst are alike, so that the burst is the observation (ADR 32).

// stretchNS is the length of the stretches into which a run is divided: bursts are about as far apart.
const stretchNS = 10e6

// heldIn sums up the holds of a lock by stretches of the run.
type heldIn struct {
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

// holds is what is known of the holds of the objects of a name.
type holds struct {
	taken  uint64 // operations that take a lock
	traced uint64 // of these
	given  uint64 // operations that give it back
	n, ns  int64  // of the known holds
	least  int64  // the shortest of them, in ns
	sums   stats.Clusters
	partly bool // some operations were not seen
}

// add takes in the holds of an object.
func (h *holds) add(in *heldIn) {
	in.close()
	h.n, h.ns = h.n+round(in.sums.Units), h.ns+round(in.sums.Hits)
	h.sums.Add(in.sums)
	if h.least == 0 || in.least > 0 && in.least < h.least {
		h.least = in.least
	}
}

// unmatched reports whether locks were taken and given back a different number of times, although a few
// may be held at the end.
func (h *holds) unmatched() bool {
	more, less := max(h.taken, h.given), min(h.taken, h.given)
	return more-less > max(mostHeld, more/10)
}

// mostHeld is how many locks of a name are not held at the end of any run but a strange one.
const mostHeld = 64

// estimate returns the sum of all holds, with a 95 % interval: nil if all are known. If too little is
// known for one, or only a part of the operations is seen, ok is false, and the sum is what is known, a lower bound.
// The objects were held for no longer than most.
//
// A hold that is traced has a part of the cost of its events within it, one that is counted has not. That
// part is between nothing and an event's cost, in ns, and not more than the shortest hold.
func (h *holds) estimate(most int64, event float64) (all int64, interval *[2]int64, ok bool) {
	if h.n == 0 || h.traced >= h.taken && !h.partly {
		return h.ns, nil, false
	}
	most = max(h.ns, most)
	if h.partly {
		return h.ns, &[2]int64{h.ns, most}, false
	}
	others := float64(h.taken-h.traced) * min(1, float64(h.n)/float64(h.traced)) // of those that try some get nothing
	i, ok := h.sums.Others(others)
	if !ok {
		return h.ns, &[2]int64{h.ns, most}, false
	}
	within := min(event, float64(h.least)) * others
	bound := func(ns float64) int64 { return min(most, h.ns+round(max(0, ns))) }
	return bound(i.Mean - within/2), &[2]int64{bound(i.Low - within), bound(i.High)}, true
}
