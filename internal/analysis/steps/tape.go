package steps

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// tape is where the steps of goroutines are written.
type tape struct {
	r       *replay.Replay
	p       *Program
	virtual bool   // processors are the program's own
	gs      []mine // by slot
}

// mine is the state of a live goroutine, besides that of recognizers.
type mine struct {
	n    G
	last StepID // 0: none yet
	// the last step before the system call that it is in, or was in last; 0: there was none
	called StepID
	proc   int16 // on which it runs, or ran last; -1: not known
	pending
	piece
}

// pending are steps whose operation is not known yet.
type pending struct {
	wait   StepID         // where its last wait began, until it operates on an object
	give   StepID         // where it first ended a wait, until then as well
	why    trace.ReasonID // of that wait
	waited ObjectID       // the objects of these two
	gave   ObjectID
	did    ObjectID // its last operation was one on this that may end waits after it
}

// piece is a goroutine's work since its last step.
type piece struct {
	parts []Part
	index map[replay.ContextID]int // of those after the first few
	pays  []int64                  // ns of each part for events
	paid  float64                  // of [replay.G.Paid], in ns, since the goroutine began
	// a procedure that it has entered, not yet counted in the context that this made; NoPoint: none
	entered trace.PointID
}

// bySlot has a value for each live goroutine.
type bySlot[T any] struct{ list []T }

// of is that of one goroutine.
func (x *bySlot[T]) of(slot trace.Slot) *T {
	for int(slot) >= len(x.list) {
		x.list = append(x.list, *new(T))
	}
	return &x.list[slot]
}

// my is the state of a goroutine.
func (t *tape) my(g *replay.G) *mine { return &t.gs[g.Slot] }

// begin makes a goroutine.
func (t *tape) begin(g *replay.G, by G, now trace.Time) {
	for int(g.Slot) >= len(t.gs) {
		t.gs = append(t.gs, mine{})
	}
	m := t.my(g)
	*m = mine{n: G(len(t.p.Gs)), proc: -1, piece: piece{parts: m.parts[:0], index: m.index, pays: m.pays[:0],
		entered: trace.NoPoint}}
	t.p.Gs = append(t.p.Gs, Goroutine{ID: g.ID, By: by, Created: now, Context: g.Base, System: g.System})
}

// token is a new one.
func (t *tape) token() Token {
	t.p.Tokens++
	return t.p.Tokens - 1
}

// given makes an operation one that gives a token, which it returns.
func (t *tape) given(s *Step) uint32 {
	if s.Kind == Operate {
		s.Kind, s.ref = Give, uint32(t.token())
	}
	return s.ref
}

// add appends a step to a goroutine's others, with the work since the last one.
func (t *tape) add(g *replay.G, now trace.Time, s Step) StepID {
	m := t.my(g)
	t.count(g)
	id := StepID(t.p.Steps.Len())
	s.At, s.Proc = now, m.proc
	for _, part := range m.parts {
		s.Work += part.Ns
		t.p.worked = true
	}
	if s.Work > 0 && g.Paid-m.paid >= 1 {
		t.p.Clamped++
	}
	s.wakes(t.r, m.parts)
	t.p.keep(&s, m.parts, m.pays)
	m.begin()
	if m.last == 0 {
		t.p.Gs[m.n].First = id
	} else {
		t.p.Step(m.last).Next = id
	}
	m.last = id
	t.p.Steps.Add(s)
	return id
}

// before puts a step before the wait that a goroutine is in. Steps of a goroutine are in the order
// of their numbers, so the wait gets the new one.
func (t *tape) before(m *mine, s Step) StepID {
	id := StepID(t.p.Steps.Len())
	take := *t.p.Step(m.last)
	take.Work, take.n = 0, 0
	was := t.p.Step(m.last)
	s.At, s.Work, s.parts, s.n, s.Proc, s.Next = was.At, was.Work, was.parts, was.n, was.Proc, id
	*was = s
	t.p.Steps.Add(take)
	if m.wait == m.last {
		m.wait = id
	}
	first := m.last
	m.last = id
	return first
}

// worked adds what a goroutine worked, and returns what of that was for events, in ns.
func (t *tape) worked(g *replay.G, at replay.ContextID, ns int64) (paid int64) {
	t.count(g)
	m := t.my(g)
	i := m.part(at)
	m.parts[i].Ns += ns
	if g.Paid > 0 {
		if paid = m.pay(g.Paid, ns, i); paid > 0 {
			t.p.pay(at, paid)
		}
	}
	t.p.spend(at, ns, t.r.Busy())
	return max(paid, 0)
}

// pay subtracts the cost of a goroutine's events from a part of its work. An event is stamped
// first, so that its cost follows it; what exceeds a piece of work is subtracted from the next one.
func (m *piece) pay(all float64, work int64, part int) (ns int64) {
	if ns = min(int64(all-m.paid), work); ns <= 0 {
		return 0
	}
	m.paid += float64(ns)
	for part >= len(m.pays) {
		m.pays = append(m.pays, 0)
	}
	m.pays[part] += ns
	return ns
}

// count counts an activation in its own context, which it was not yet in when the replay reported
// it. One that took no time is left out.
func (t *tape) count(g *replay.G) {
	m := t.my(g)
	if m.entered != trace.NoPoint && t.r.Contexts.Node(g.Context).Proc == m.entered {
		m.parts[m.part(g.Context)].Enters++
	}
	m.entered = trace.NoPoint
}

// fewParts is how many parts are looked through.
const fewParts = 16

// begin begins another step, without work.
func (m *piece) begin() {
	if len(m.parts) > fewParts {
		clear(m.index)
	}
	m.parts, m.pays = m.parts[:0], m.pays[:0]
}

// again adds work that was taken out of a step to the one that has begun.
func (m *piece) again(parts []Part) {
	for _, p := range parts {
		m.parts[m.part(p.Context)].Ns += p.Ns
	}
}

// part is the index of a context's part.
func (m *piece) part(c replay.ContextID) int {
	if i, ok := m.index[c]; ok {
		return i
	}
	for i := min(len(m.parts), fewParts) - 1; i >= 0; i-- {
		if m.parts[i].Context == c {
			return i
		}
	}
	if len(m.parts) >= fewParts {
		if m.index == nil {
			m.index = map[replay.ContextID]int{}
		}
		m.index[c] = len(m.parts)
	}
	m.parts = append(m.parts, Part{Context: c})
	return len(m.parts) - 1
}
