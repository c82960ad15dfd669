package profile

import (
	"slices"

	"qinst.dev/analysis/replay"
)

// named is what goroutines used while they were in regions, or had labels, without what they
// started. It is kept aside, because unlike procedures regions need not nest.
type named struct {
	r    *replay.Replay
	list []*namedUse // by span
}

type namedUse struct {
	usage Usage
	count uint64
	took  []int64 // of each region that ended
}

// of is the use of a span.
func (n *named) of(id replay.SpanID) *namedUse {
	for int(id) >= len(n.list) {
		n.list = append(n.list, new(namedUse))
	}
	return n.list[id]
}

// spend accounts a goroutine's time to what it has named. A region in another of the same name
// counts once.
func (n *named) spend(g *replay.G, s *stretch) {
	for k, r := range g.Regions {
		if !slices.ContainsFunc(g.Regions[:k], func(o replay.OpenRegion) bool { return o.Span == r.Span }) {
			n.of(r.Span).usage.spend(g, s)
		}
	}
	if g.Labels != replay.NoSpan {
		n.of(g.Labels).usage.spend(g, s)
	}
}

// Latency is the distribution of times, in ns.
type Latency struct {
	Count int64 `json:"count"`
	Total int64 `json:"total_ns"`
	P50   int64 `json:"p50_ns"`
	P90   int64 `json:"p90_ns"`
	P99   int64 `json:"p99_ns"`
	Max   int64 `json:"max_ns"`
}

// latency sums up times.
func latency(took []int64) *Latency {
	if len(took) == 0 {
		return nil
	}
	slices.Sort(took)
	at := func(percent int) int64 { return took[(len(took)-1)*percent/100] }
	l := &Latency{Count: int64(len(took)), P50: at(50), P90: at(90), P99: at(99), Max: at(100)}
	for _, ns := range took {
		l.Total += ns
	}
	return l
}
