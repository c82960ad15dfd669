package steps

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// A goroutine that works until somebody tells it to end ("for !stop.Load()", a select with a default) works for as long as that takes: what it did
// meanwhile determines nothing. Its work lasts until it is told, and then for as long as it takes to find out.
//
// The trace does not tell who wrote a variable. It tells that an ancestor began to wait, and that the goroutine ended soon behind that.

// atOnce is how soon that is, as a share of the time since it began to ask. By chance it would end there once in twenty times.
const atOnce = 0.05

// mostAncestors is how many of those that started each other are looked at.
const mostAncestors = 16

// pollers are the functions with a loop that others end.
type pollers struct {
	points map[trace.PointID]bool
	names  map[string]bool
}

func newPollers(points []trace.Point) (p pollers) {
	for i := range points {
		if pt := &points[i]; pt.Flags&spec.FlagPolls != 0 && (pt.Kind == spec.PointProc || pt.Kind == spec.PointFunc) {
			if p.points == nil {
				p = pollers{map[trace.PointID]bool{}, map[string]bool{}}
			}
			p.points[trace.PointID(i)], p.names[pt.Name] = true, true
		}
	}
	return p
}

func (p *pollers) any() bool { return p.points != nil }

// told is what a goroutine may have been told.
type told struct {
	token uint32
	since trace.Time // when
	from  trace.Time // since when it had asked
	first StepID     // its first step since then, 0: all
	last  StepID     // up to here
}

// asksSince is since when a goroutine has asked in a loop whether to go on, as far as is known, and its first step since then, 0: all.
func (b *builder) asksSince(g *replay.G) (at trace.Time, first StepID, asks bool) {
	m, base := b.my(g), b.r.Contexts.Node(g.Base)
	if base.Group >= 0 && (b.pollers.names[b.r.Groups.Group(base.Group).Func] || b.pollers.points[b.r.Groups.Work(base.Group)]) {
		return b.p.Gs[m.n].Created, 0, true
	}
	for c := g.Context; c >= 0 && c != g.Base; c = b.r.Contexts.Node(c).From {
		if b.pollers.points[b.r.Contexts.Node(c).Proc] {
			return m.alone, m.since, true
		}
	}
	return 0, 0, false
}

// waits notes that a goroutine waits for others.
func (b *builder) waits(n int, slot trace.Slot) {
	if b.waiting == nil {
		b.waiting = map[int]trace.Slot{}
	}
	b.waiting[n] = slot
}

// mayBeTold notes that a goroutine may have been told to end, before it does something that others could wait for.
func (b *builder) mayBeTold(g *replay.G, now trace.Time) {
	m, by := b.my(g), b.p.Gs[b.my(g).n].By
	for range mostAncestors {
		if by < 0 {
			return
		}
		n := by
		by = b.p.Gs[n].By
		slot, waits := b.waiting[n]
		if !waits {
			continue
		}
		h := &b.gs[slot]
		if h.n != n || h.last == 0 || b.p.Step(h.last).Kind != Take { // its end is not in the trace
			delete(b.waiting, n)
			continue
		}
		since := b.p.Step(h.last).At
		if m.told.token != 0 && m.told.token == h.tells {
			return
		}
		from, first, asks := b.asksSince(g)
		if !asks || since <= from || since >= now || float64(now-since) > atOnce*float64(now-from) {
			continue
		}
		m.told = told{token: b.tells(h), since: since, from: from, first: first}
		b.split(g, m, now)
		return
	}
}

// tells is the token that a goroutine gives when it begins the wait that it is in.
func (b *builder) tells(h *mine) uint32 {
	if h.tells != 0 {
		return h.tells
	}
	h.tells = uint32(b.p.Tokens)
	b.p.Tokens++
	b.before(h, Step{Kind: Give, Arg: h.tells})
	return h.tells
}

// split ends a step where the goroutine was told, so that what it does behind that is another one's work.
func (b *builder) split(g *replay.G, m *mine, now trace.Time) {
	begun := b.p.Gs[m.n].Created
	if m.last != 0 {
		begun = b.p.Step(m.last).At
	}
	late := int64(now - max(m.told.since, begun))
	work := m.work
	m.work = nil
	var rest []Part
	for i := len(work) - 1; i >= 0 && late > 0; i-- {
		p := &work[i]
		ns := min(late, p.Ns)
		p.Ns, late = p.Ns-ns, late-ns
		rest = append(rest, Part{Ns: ns, Context: p.Context})
	}
	m.work, m.pays = work, m.pays[:0]
	m.told.last = b.add(g, max(m.told.since, begun), Step{Kind: Operate})
	m.work = append(m.work, rest...)
	for i, p := range m.work {
		if m.index != nil {
			m.index[p.Context] = i
		}
	}
}

// tell lets a goroutine that has ended last until it was told, if it was.
func (b *builder) tell(g *replay.G, now trace.Time) {
	m := b.my(g)
	t := &m.told
	if t.token == 0 || float64(now-t.since) > atOnce*float64(now-t.from) {
		return
	}
	gr := &b.p.Gs[m.n]
	if gr.Told = t.last; b.p.Told == nil {
		b.p.Told = map[uint32][]int32{}
	}
	b.p.Told[t.token] = append(b.p.Told[t.token], int32(m.n))
	holds := 0
	for id := gr.First; id != 0 && id <= t.last; id = b.p.Step(id).Next {
		s := b.p.Step(id)
		if id > t.first && holds == 0 {
			s.Until = t.token
		}
		switch s.Op {
		case Lock, RLock:
			holds++
		case Unlock, RUnlock:
			holds = max(0, holds-1)
		}
	}
	b.p.Step(t.last).Until = t.token
}
