package profile

import (
	"fmt"
	"slices"

	"qinst.dev/trace"
)

// named is what a program names at run time: a region, or a set of labels. Unlike
// procedures regions need not nest, so their usage is kept aside: what goroutines
// used while they were in the region, or had the labels, without what they
// started (goroutines inherit labels, though).
type named struct {
	kind, name string
	usage      Usage
	count      uint64
	took       []int64 // of each that ended
}

// openRegion is a region that a goroutine is in.
type openRegion struct {
	span  int32 // in spans.list
	since int64
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

// spans finds and numbers them.
type spans struct {
	list  []named
	index map[[2]string]int32
}

func (s *spans) find(kind, name string) int32 {
	key := [2]string{kind, name}
	i, ok := s.index[key]
	if !ok {
		i = int32(len(s.list))
		s.index[key] = i
		s.list = append(s.list, named{kind: kind, name: name})
	}
	return i
}

// text is a text of the program's by its number.
func (b *builder) text(number uint64) string {
	if s, ok := b.t.Texts[number]; ok {
		return s
	}
	return fmt.Sprintf("text %d", number) // the program had too many
}

// region begins or ends a region of a goroutine. One in another of the same name
// counts once.
func (b *builder) region(e *trace.Event) {
	g := &b.gs[e.Slot]
	b.settle(g, e.Time)
	if e.Aux == 1 {
		i := b.spans.find(KindRegion, b.text(e.Arg))
		b.spans.list[i].count++
		g.regions = append(g.regions, openRegion{i, e.Time})
		b.look(g)
		b.virtualRegion(e.Slot, e.Time, b.spans.list[i].name, 1)
		return
	}
	at := len(g.regions) - 1
	if e.Arg != 0 {
		i := b.spans.find(KindRegion, b.text(e.Arg))
		for at >= 0 && g.regions[at].span != i {
			at--
		}
	}
	if at >= 0 {
		n := &b.spans.list[g.regions[at].span]
		n.took = append(n.took, e.Time-g.regions[at].since)
		name := n.name
		g.regions = append(g.regions[:at], g.regions[at+1:]...)
		b.look(g)
		b.virtualRegion(e.Slot, e.Time, name, -1)
	}
}

// label gives a goroutine labels, or takes them.
func (b *builder) label(e *trace.Event) {
	g := &b.gs[e.Slot]
	b.settle(g, e.Time)
	g.labels = noProc
	if e.Arg != 0 {
		g.labels = b.spans.find(KindLabels, b.text(e.Arg))
		b.spans.list[g.labels].count++
	}
	b.look(g)
}

// rename moves a goroutine to the group of its name.
func (b *builder) rename(e *trace.Event) {
	g := &b.gs[e.Slot]
	b.settle(g, e.Time)
	group := b.groups.named(b.text(e.Arg))
	b.groups.list[b.at(g).group].count--
	b.groups.list[group].count++
	for len(b.groupSelf) < len(b.groups.list) {
		b.groupSelf = append(b.groupSelf, Usage{})
	}
	move := func(place *int32) {
		w := b.places.list[*place].where
		w.set, w.group = b.sets.with(w.set, b.groups.base+group), group
		*place = b.places.find(w)
	}
	move(&g.place)
	for i := range g.frames {
		move(&g.frames[i].place)
	}
}

// spendNamed accounts a goroutine's time to what it has named.
func (b *builder) spendNamed(g *gor, s stretch) {
	for k, r := range g.regions {
		if !slices.ContainsFunc(g.regions[:k], func(o openRegion) bool { return o.span == r.span }) {
			b.spans.list[r.span].usage.spend(g, s)
		}
	}
	if g.labels != noProc {
		b.spans.list[g.labels].usage.spend(g, s)
	}
}

// namedEntries are the lines of regions and labels.
func (b *builder) namedEntries(p *Profile) {
	for i := range b.spans.list {
		n := &b.spans.list[i]
		e := Entry{ID: n.kind + ":" + n.name, Kind: n.kind, Name: n.name, Calls: n.count, Latency: latency(n.took)}
		e.fill(&n.usage, &n.usage)
		p.Entries = append(p.Entries, e)
	}
}
