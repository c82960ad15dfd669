package profile

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/hist"
)

// named is the usage of goroutines while they were in regions, or had labels, without the
// goroutines that they started. It is kept separately, because unlike procedures regions need not
// nest.
type named struct {
	r    *replay.Replay
	list []*namedUse // by span
}

type namedUse struct {
	usage Usage
	count uint64
	took  hist.Histogram // of each region that ended
}

// of is the use of a span.
func (n *named) of(id replay.SpanID) *namedUse {
	for int(id) >= len(n.list) {
		n.list = append(n.list, new(namedUse))
	}
	return n.list[id]
}

// spend charges a goroutine's time to its regions and labels. A region within another of the same
// name counts once.
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

// Latency is the distribution of times, in ns. Quantiles of many times are rounded: see package
// hist.
type Latency struct {
	Count int64 `json:"count"`
	Total int64 `json:"total_ns"`
	P50   int64 `json:"p50_ns"`
	P90   int64 `json:"p90_ns"`
	P99   int64 `json:"p99_ns"`
	Max   int64 `json:"max_ns"`

	times *hist.Histogram // from which quantiles of several profiles are made
}

// latency sums up times, nil if there are none.
func latency(h *hist.Histogram) *Latency {
	if h.Count() == 0 {
		return nil
	}
	return &Latency{h.Count(), h.Total(), h.Percentile(50), h.Percentile(90), h.Percentile(99), h.Max(), h}
}

// with is the latency of two runs.
func (l *Latency) with(m *Latency) *Latency {
	if l == nil || m == nil {
		return cmp.Or(l, m)
	}
	both := &hist.Histogram{}
	both.Merge(l.times)
	both.Merge(m.times)
	return latency(both)
}
