package steps

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// A goroutine that works until another one tells it to end ("for !stop.Load()", a select with a
// default) works until then: the amount of its work determines nothing. The work lasts until the
// stop, and then until the goroutine finds that out.
//
// The trace does not show which goroutine wrote a variable. It shows that an ancestor began to
// wait, and that the goroutine ended soon after that.

// atOnce is how soon that is, as a share of the time since it began to ask. By chance it would end
// there once in twenty times.
const atOnce = 0.05

// mostAncestors is how many of those that started each other are looked at.
const mostAncestors = 16

// pollers are the goroutines in functions with a loop that others end.
type pollers struct {
	*tape
	points  map[trace.PointID]bool // the functions; nil: there is none
	names   map[string]bool
	waiting map[G]trace.Slot // goroutines that wait for others
	gs      bySlot[poller]
}

// poller is the state of a goroutine that may be one, or may stop one.
type poller struct {
	alone trace.Time // since when it has waited neither for others nor for the outside,
	since StepID     // and the step in which it last did
	tells Token      // that it gave with the wait that it is in, 0: none
	told  told
}

// told is a possible stop of a goroutine.
type told struct {
	token Token
	since trace.Time // when
	from  trace.Time // since when it had asked
	first StepID     // its first step since then, 0: all
	last  StepID     // up to here
}

func newPollers(t *tape) *pollers {
	x := &pollers{tape: t}
	for i := range t.r.T.Points {
		if pt := &t.r.T.Points[i]; pt.Flags&spec.FlagPolls != 0 &&
			(pt.Kind == spec.PointProc || pt.Kind == spec.PointFunc) {
			if x.points == nil {
				x.points, x.names, x.waiting = map[trace.PointID]bool{}, map[string]bool{}, map[G]trace.Slot{}
			}
			x.points[trace.PointID(i)], x.names[pt.Name] = true, true
		}
	}
	return x
}

func (x *pollers) any() bool { return x.points != nil }

// begin notes that a goroutine is created.
func (x *pollers) begin(slot trace.Slot, now trace.Time) { *x.gs.of(slot) = poller{alone: now} }

// waited notes that a goroutine waited in a step, or does; 0: it is the same.
func (x *pollers) waited(slot trace.Slot, now trace.Time, step StepID) {
	p := x.gs.of(slot)
	if p.alone = now; step != 0 {
		p.since = step
	}
}

// asksSince is since when a goroutine has asked in a loop whether to go on, as far as is known, and
// its first step since then, 0: all.
func (x *pollers) asksSince(g *replay.G) (at trace.Time, first StepID, asks bool) {
	base := x.r.Contexts.Node(g.Base)
	if base.Group >= 0 && (x.names[x.r.Groups.Group(base.Group).Func] || x.points[x.r.Groups.Work(base.Group)]) {
		return x.p.Gs[x.my(g).n].Created, 0, true
	}
	for c := g.Context; c >= 0 && c != g.Base; c = x.r.Contexts.Node(c).From {
		if x.points[x.r.Contexts.Node(c).Proc] {
			p := x.gs.of(g.Slot)
			return p.alone, p.since, true
		}
	}
	return 0, 0, false
}

// begins and ends note that a goroutine waits for others, and that it does no longer.
func (x *pollers) begins(g *replay.G) {
	if x.any() {
		x.waiting[x.my(g).n] = g.Slot
		x.gs.of(g.Slot).tells = 0
	}
}

func (x *pollers) ends(g *replay.G) { delete(x.waiting, x.my(g).n) }

// mayBeTold notes that a goroutine may have been stopped, before an action that others could wait
// for.
func (x *pollers) mayBeTold(g *replay.G, now trace.Time) {
	m := x.my(g)
	by := x.p.Gs[m.n].By
	for range mostAncestors {
		if by < 0 {
			return
		}
		n := by
		by = x.p.Gs[n].By
		slot, waits := x.waiting[n]
		if !waits {
			continue
		}
		h := &x.tape.gs[slot]
		if h.n != n || h.last == 0 || x.p.Step(h.last).Kind != Take { // its end is not in the trace
			delete(x.waiting, n)
			continue
		}
		since := x.p.Step(h.last).At
		if t := &x.gs.of(g.Slot).told; t.token != 0 && t.token == x.gs.of(slot).tells {
			return
		}
		from, first, asks := x.asksSince(g)
		if !asks || since <= from || since >= now || float64(now-since) > atOnce*float64(now-from) {
			continue
		}
		x.gs.of(g.Slot).told = told{token: x.tells(slot), since: since, from: from, first: first}
		x.split(g, now)
		return
	}
}

// tells is the token that a goroutine gives when it begins the wait that it is in.
func (x *pollers) tells(slot trace.Slot) Token {
	h := x.gs.of(slot)
	if h.tells == 0 {
		h.tells = x.token()
		x.before(&x.tape.gs[slot], Gives(h.tells))
	}
	return h.tells
}

// split ends a step at the stop, so that later work belongs to another one.
func (x *pollers) split(g *replay.G, now trace.Time) {
	m, t := x.my(g), &x.gs.of(g.Slot).told
	begun := x.p.Gs[m.n].Created
	if m.last != 0 {
		begun = x.p.Step(m.last).At
	}
	late := int64(now - max(t.since, begun))
	work := m.parts
	m.parts = nil
	var rest []Part
	for i := len(work) - 1; i >= 0 && late > 0; i-- {
		p := &work[i]
		ns := min(late, p.Ns)
		p.Ns, late = p.Ns-ns, late-ns
		rest = append(rest, Part{Ns: ns, Context: p.Context})
	}
	m.parts, m.pays = work, m.pays[:0]
	t.last = x.add(g, max(t.since, begun), Step{Kind: Operate})
	m.again(rest)
}

// tell makes the end of a goroutine depend on its stop, if there was one.
func (x *pollers) tell(g *replay.G, now trace.Time) {
	t := &x.gs.of(g.Slot).told
	if t.token == 0 || float64(now-t.since) > atOnce*float64(now-t.from) {
		return
	}
	n := x.my(g).n
	gr := &x.p.Gs[n]
	if gr.Told = t.last; x.p.Told == nil {
		x.p.Told = map[Token][]G{}
	}
	x.p.Told[t.token] = append(x.p.Told[t.token], n)
	holds := 0
	for id := gr.First; id != 0 && id <= t.last; id = x.p.Step(id).Next {
		s := x.p.Step(id)
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
	x.p.Step(t.last).Until = t.token
}
