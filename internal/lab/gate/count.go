package gate

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Kinds of counts.
const (
	calls      = "calls"
	locks      = "locks"
	channels   = "channels"
	others     = "sync"
	goroutines = "goroutines"
)

// kinds are those that a condition may name, in the order of tables.
var kinds = []string{calls, goroutines, locks, channels, others}

// kindOf are the kinds of operations. Unlocking is not in it, since that follows from
// taking it, and a default of a select is the absence of an operation.
var kindOf = map[string]string{
	spec.OpLock: locks, spec.OpRLock: locks, spec.OpTryLock: locks, spec.OpTryRLock: locks,
	spec.OpSend: channels, spec.OpReceive: channels, spec.OpClose: channels,
	spec.OpAdd: others, spec.OpDone: others, spec.OpWait: others, spec.OpCondWait: others, spec.OpSignal: others,
	spec.OpBroadcast: others, spec.OpOnce: others, spec.OpAcquire: others,
}

// tally is how often something happened in one run, and where.
type tally struct {
	n      trace.Estimate
	places map[uint64]*place // by the point's identity, which is the same in both programs
}

// place is a line of the source, with how often it was reached.
type place struct {
	file string // "": none is known
	line int
	n    uint64
	more int64 // than in base
}

func (t *tally) add(p *trace.Point, n trace.Estimate) {
	t.n = t.n.Plus(n)
	if t.places == nil {
		t.places = map[uint64]*place{}
	}
	at := t.places[p.ID]
	if at == nil {
		at = &place{file: p.File, line: p.Line}
		t.places[p.ID] = at
	}
	at.n += n.Value
}

// counted are the counts of one run: procedures by their entries, these and functions without
// probes by the places that call them, and operations and goroutines by id.
type counted struct {
	entries, sites, rest map[string]*tally
	objects              uint64 // that were allocated
}

func at(m map[string]*tally, name string) *tally {
	if m[name] == nil {
		m[name] = &tally{}
	}
	return m[name]
}

// count reads the counts of a run.
func count(t *trace.Trace) *counted {
	c := &counted{entries: map[string]*tally{}, sites: map[string]*tally{}, rest: map[string]*tally{}}
	if n := len(t.Metrics); n > 0 {
		c.objects = uint64(t.Metrics[n-1].Objects)
	}
	for i := range t.Points {
		p, n := &t.Points[i], t.Hits(trace.PointID(i))
		switch p.Kind {
		case spec.PointProc:
			at(c.entries, p.Name).add(p, n)
		case spec.PointCall, spec.PointGo:
			if strings.HasPrefix(p.Name, "sync.(") {
				continue // the operation is counted with its object
			}
			to := func(name string) *tally { return at(c.sites, name) }
			if p.Kind == spec.PointGo {
				to = func(name string) *tally { return at(c.rest, goroutines+":"+name) }
			}
			if p.Name != "" {
				to(p.Name).add(p, n)
				continue
			}
			for name, n := range t.Callees[trace.PointID(i)] { // known at run time only
				to(name).add(p, trace.Estimate{Value: n})
			}
		case spec.PointSync:
			if kind := kindOf[p.Op]; kind != "" {
				at(c.rest, kind+":"+p.Name).add(p, n)
			}
		}
	}
	return c
}

// Range is the least and the most that runs of a program counted.
type Range struct{ Low, High uint64 }

// Exact reports whether all runs counted the same.
func (r Range) Exact() bool { return r.Low == r.High }

// Count is a quantity that both programs count.
type Count struct {
	ID         string // KIND:NAME, as in conditions; KIND of all of them
	Base, Head Range
	At         place // where there are most more of it in head
}

// Exact reports whether the runs of either program agree, which the objects that they allocate only
// do by chance. Then a difference of one is one.
func (c *Count) Exact() bool { return c.ID != Allocs && c.Base.Exact() && c.Head.Exact() }

// Differs reports whether the programs do not count the same in each run.
func (c *Count) Differs() bool { return c.Base != c.Head }

// More is how many more there are in head; less than none, if there are fewer.
func (c *Count) More() int64 { return int64(c.Head.Low) - int64(c.Base.Low) }

// compare compares the counts of runs. Procedures that are entered in both programs are compared by
// that; others, such as those that the compiler inlines in one of them, by the places that call
// them.
func compare(base, head []*counted) []Count {
	ids := map[string]func(*counted) *tally{}
	for _, c := range slices.Concat(base, head) {
		for name := range c.sites {
			ids[calls+":"+name] = func(c *counted) *tally { return c.sites[name] }
		}
		for id := range c.rest {
			ids[id] = func(c *counted) *tally { return c.rest[id] }
		}
	}
	for name := range base[0].entries {
		if head[0].entries[name] != nil {
			ids[calls+":"+name] = func(c *counted) *tally { return c.entries[name] }
		}
	}
	var list []Count
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		c := Count{ID: id, Base: rangeOf(base, ids[id]), Head: rangeOf(head, ids[id])}
		c.At = grew(ids[id](base[0]), ids[id](head[0]))
		if name, ok := strings.CutPrefix(id, calls+":"); ok { // a line that calls it says more than its own
			if at := grew(base[0].sites[name], head[0].sites[name]); at.more > 0 {
				c.At = at
			}
		}
		list = append(list, c)
	}
	allocs := func(c *counted) *tally { return &tally{n: trace.Estimate{Value: c.objects}} }
	sums := append(totals(list), Count{ID: Allocs, Base: rangeOf(base, allocs), Head: rangeOf(head, allocs)})
	return append(sums, list...)
}

// rangeOf is the range of a count over runs. An estimate has that of its interval.
func rangeOf(runs []*counted, of func(*counted) *tally) (r Range) {
	for i, c := range runs {
		var n trace.Estimate
		if t := of(c); t != nil {
			n = t.n
		}
		low, high := n.Value, n.Value
		if !n.Exact() {
			low, high = n.Lo, max(n.Hi, n.Lo+1)
		}
		if i == 0 {
			r = Range{low, high}
		}
		r.Low, r.High = min(r.Low, low), max(r.High, high)
	}
	return r
}

// grew is the place in head that has most more than base.
func grew(base, head *tally) place {
	if head == nil {
		return place{}
	}
	more := func(id uint64) int64 {
		n := int64(head.places[id].n)
		if base != nil && base.places[id] != nil {
			n -= int64(base.places[id].n)
		}
		return n
	}
	most := slices.MinFunc(slices.Collect(maps.Keys(head.places)), func(x, y uint64) int {
		return cmp.Or(cmp.Compare(more(y), more(x)), cmp.Compare(x, y))
	})
	at := *head.places[most]
	at.more = more(most)
	return at
}

// totals are sums of each kind, over exact counts: others would make them inexact, too.
func totals(list []Count) (sums []Count) {
	for _, kind := range kinds {
		sum := Count{ID: kind}
		for i := range list {
			if c := &list[i]; c.kind() == kind && c.Exact() {
				sum.Base = Range{sum.Base.Low + c.Base.Low, sum.Base.High + c.Base.High}
				sum.Head = Range{sum.Head.Low + c.Head.Low, sum.Head.High + c.Head.High}
			}
		}
		sums = append(sums, sum)
	}
	return sums
}

// kind is the kind of a count; a total has none.
func (c *Count) kind() string {
	kind, _, named := strings.Cut(c.ID, ":")
	if !named {
		return ""
	}
	return kind
}
