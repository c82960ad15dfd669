package steps

import (
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// Of some locks a few operations have no event: those at the moment when what is recorded changes. They do not matter for who waits for the lock
// otherwise, so that the rest need not be given up for them. The n-th send pairs with the n-th receive, and every Done counts: of channels
// and WaitGroups all operations are needed.

// mostMissed is the share of a lock's operations that may have no event.
const mostMissed = 0.02

// few reports whether of a point's hits so few have no event.
func few(p *trace.Point) bool { return float64(p.Degraded()) <= mostMissed*float64(p.Hits) }

// locks is how many operations there were that locks have.
func (o *Object) locks() int64 { return o.ops[Lock] + o.ops[Unlock] + o.ops[RLock] + o.ops[RUnlock] }

// complete reports whether what was seen of an object is enough to decide who waits for it.
func (o *Object) complete() bool {
	if o.unfit || !o.agrees() {
		return false
	}
	if o.locks() > 0 {
		return float64(o.missed) <= mostMissed*float64(o.locks())
	}
	return o.missed == 0 && (!o.silent || o.goes)
}

// missed is how many operations of locks that are not given up have no event, of how many, and the name of the lock of which most have none.
func (p *Program) missed() (n, of int64, name trace.PointID) {
	most := int64(0)
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Free && o.missed > 0 && o.Name != trace.NoPoint {
			n, of = n+o.missed, of+o.locks()
			if o.missed > most {
				most, name = o.missed, o.Name
			}
		}
	}
	return n, of, name
}

// Strict gives up the locks of which a few operations are missing, and reports whether there are any: in a computed run that comes to a standstill
// some of these mattered.
func (p *Program) Strict() (any bool) {
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Free && o.missed > 0 {
			o.Free, any = false, true
		}
	}
	return any
}

// Fix lets the order of the run decide for all objects, and returns those for which it did not before.
func (p *Program) Fix() (free []ObjectID) {
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Free {
			o.Free = false
			free = append(free, ObjectID(i))
		}
	}
	return free
}

// Ordered returns the same program, in which the order of the run decides for some objects more, or for all, and whether that is another one.
func (p *Program) Ordered(list []ObjectID, all bool) (next *Program, changed bool) {
	same := *p
	same.Objects = slices.Clone(p.Objects)
	if all {
		return &same, len(same.Fix()) > 0
	}
	for _, id := range list {
		o := &same.Objects[id]
		o.Free, changed = false, changed || o.Free
	}
	return &same, changed
}

// KeepReceives lets the order of the run decide who gets what from channels with several senders or receivers.
func (p *Program) KeepReceives() {
	type user struct {
		id ObjectID
		op Op
	}
	first := map[user]int{}
	for g := range p.Gs {
		for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
			s := p.Step(id)
			if s.Op != Send && s.Op != Receive {
				continue
			}
			if by, ok := first[user{s.Obj, s.Op}]; ok && by != g {
				p.Objects[s.Obj].Free = false
			}
			first[user{s.Obj, s.Op}] = g
		}
	}
}

// hold is a lock that a goroutine has taken.
type hold struct {
	id    ObjectID
	op    Op
	point trace.PointID // where
	step  StepID
}

// holding is the index of the last hold of a lock, -1: none.
func (m *mine) holding(id ObjectID) int {
	i := len(m.holds) - 1
	for i >= 0 && m.holds[i].id != id {
		i--
	}
	return i
}

// gives ends the last hold of a lock, and returns the operation with which it ends, and where it began; NoOp if there is none. A goroutine gives back
// only what it took: in a computed run what others do comes in another order.
func (m *mine) gives(id ObjectID) (Op, trace.PointID) {
	i := m.holding(id)
	if i < 0 {
		return NoOp, trace.NoPoint
	}
	h, op := m.holds[i], Unlock
	if h.op == RLock {
		op = RUnlock
	}
	m.holds = append(m.holds[:i], m.holds[i+1:]...)
	return op, h.point
}

// giveBack makes the step with which a goroutine gave a lock back that nobody saw it do: before what it does now.
func (b *builder) giveBack(g *replay.G, id ObjectID, now trace.Time) {
	m, o := b.my(g), &b.p.Objects[id]
	o.missed++
	op, point := m.gives(id)
	if op == NoOp {
		return
	}
	o.ops[op]++
	b.p.Operations++
	s := Step{Kind: Operate, Obj: id, Op: op, Point: point}
	switch {
	case m.last == 0 || g.State == trace.Running || len(m.work) > 0:
		b.step(g, now, s)
	case g.State == trace.Waiting && b.p.Step(m.last).Kind == Take:
		b.before(m, s)
	default:
		b.step(g, b.p.Step(m.last).At, s)
	}
}

// lets gives back what a goroutine holds where the trace ends. In a computed run it may come there while others go on, who would wait for ever.
func (b *builder) lets(g *replay.G) {
	m := b.my(g)
	for len(m.holds) > 0 {
		id := m.holds[len(m.holds)-1].id
		b.giveBack(g, id, b.p.End)
		b.p.Objects[id].missed-- // it is not missing
	}
}

// before puts a step before the wait that a goroutine is in. Steps of a goroutine are in the order of their numbers, so the wait gets the new one.
func (b *builder) before(m *mine, s Step) StepID {
	id := StepID(b.p.Steps.Len())
	take := *b.p.Step(m.last)
	take.Work, take.n = 0, 0
	was := b.p.Step(m.last)
	s.At, s.Work, s.parts, s.n, s.Proc, s.Next = was.At, was.Work, was.parts, was.n, was.Proc, id
	*was = s
	b.p.Steps.Add(take)
	if m.wait == m.last {
		m.wait = id
	}
	first := m.last
	m.last = id
	return first
}
