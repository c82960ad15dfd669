package extensions

import (
	"cmp"
	"maps"
	"slices"

	"qinst.dev/sddf"
)

// CallTransition is an element of the matrix of calls: how often one procedure called another,
// and the probability that a call it made was that one. The caller of calls outside any procedure
// is 4294967295. One record each, at the end.
type CallTransition struct {
	From        uint32  `sddf:"from,unit=probe"`
	To          uint32  `sddf:"to,unit=probe"`
	Calls       uint64  `sddf:"calls,doc=that are over"`
	Probability float64 `sddf:"probability,doc=of all calls that the first one made"`
	Total       int64   `sddf:"total,unit=ns,doc=time in those calls"`
}

var callTransition = sddf.Define[CallTransition]("call transition")

type transitions struct {
	calls Calls
	edges map[edge]*transition
	last  edge // cache of the last call: most calls repeat it
	sums  *transition
}

type edge struct{ from, to uint32 }

type transition struct{ n, total uint64 }

func (t *transitions) Batch(b *Batch) { t.calls.Walk(b, t.add) }

func (t *transitions) add(c *Call) {
	if e := (edge{c.Parent, c.Point}); e != t.last || t.sums == nil {
		if t.sums = t.edges[e]; t.sums == nil {
			if t.edges == nil {
				t.edges = map[edge]*transition{}
			}
			t.sums = &transition{}
			t.edges[e] = t.sums
		}
		t.last = e
	}
	t.sums.n++
	t.sums.total += c.End - c.Start
}

func (t *transitions) Flush(out *Out, last bool) {
	if !last {
		return
	}
	made := map[uint32]uint64{}
	for e, s := range t.edges {
		made[e.from] += s.n
	}
	order := func(a, b edge) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) }
	for _, e := range slices.SortedFunc(maps.Keys(t.edges), order) {
		s := t.edges[e]
		Emit(out, callTransition, CallTransition{e.from, e.to, s.n, float64(s.n) / float64(made[e.from]),
			out.Ns(s.total)})
	}
}
