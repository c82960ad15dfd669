package sim

import (
	"slices"

	"qinst.dev/internal/analysis/steps"
)

// A goroutine that waits for a timer, or for something else that may come first, goes on with the
// first of the two: see [steps.Idle]. The number of a helper's ticks follows from the length of the
// run, and not the other way round. So the time of a tick is no length: had all work before it been
// shorter, the work at that time would have been further. The events after the tick depend on that
// work: a piece of it ends with the tick. If no goroutine works, the tick began with the last event
// before; if one waits for the helper's action, as for a token of a rate limiter, with that wait.

func newIdlers(p *steps.Program) *idlers {
	if len(p.Idle) == 0 {
		return nil
	}
	return &idlers{by: map[steps.Token]steps.G{}, on: map[steps.ObjectID][]steps.G{}}
}

// came reports whether what a step waits for is there.
func (s *simulation) came(step *steps.Step) bool {
	if !s.free(step) {
		return step.Kind == steps.Take && step.Token() != 0 && s.tokens[step.Token()].given()
	}
	o := &s.objects[step.Obj]
	if step.Op == steps.Send {
		return o.closed || len(o.queue) > 0 || o.cap >= 0 && o.sent < o.got+o.cap
	}
	return o.closed || o.sent > o.got
}

// held lets a tick come, after which a helper released a lock, if a goroutine waits for that lock
// now. In the recorded run the helper held it when that goroutine came, so that all actions before
// the tick are over.
func (s *simulation) held(token steps.Token) {
	t, ok := s.p.Held[token]
	if !ok {
		return
	}
	x := &s.gs[t.G]
	if x.due = max(x.due, t.Step); x.step <= t.Step &&
		slices.ContainsFunc(s.delays, func(e entry) bool { return e.who.g() == t.G }) {
		if _, idle := s.p.Idle[x.step]; idle {
			s.stopsIdling(t.G)
		}
	}
}

// goesFirst reports whether what may come before a goroutine's timer is there.
func (s *simulation) goesFirst(g steps.G) bool {
	i, ok := s.p.Idle[s.gs[g].step]
	if ok && s.gs[g].step <= s.gs[g].due {
		return true
	}
	if i.Next == 0 || !s.came(s.p.Step(i.Next)) {
		return false
	}
	s.hurries(g, i)
	return true
}

// mayEnd lets what may come before a goroutine's timer end its wait.
func (s *simulation) mayEnd(g steps.G) {
	i := s.p.Idle[s.gs[g].step]
	if i.Next == 0 {
		return
	}
	s.gs[g].idles = true
	if next := s.p.Step(i.Next); s.free(next) {
		s.idlers.on[next.Obj] = append(s.idlers.on[next.Obj], g)
	} else if next.Kind == steps.Take && next.Token() != 0 {
		s.idlers.by[next.Token()] = g
	}
}

// hurries lets a goroutine go on with the event that came before a timer. If it then ends, it
// leaves out its action on the timer.
func (s *simulation) hurries(g steps.G, i steps.Idle) {
	if i.Ends {
		s.gs[g].hurries = i.Next
	}
}

// isOver notes that a goroutine's wait is.
func (s *simulation) isOver(g steps.G) {
	x := &s.gs[g]
	x.idles = false
	next := s.p.Step(s.p.Idle[x.step].Next)
	if s.free(next) {
		s.idlers.on[next.Obj] = slices.DeleteFunc(s.idlers.on[next.Obj], func(o steps.G) bool { return o == g })
	} else {
		delete(s.idlers.by, next.Token())
	}
}

// given ends the waits of goroutines for which a token was given.
func (i *idlers) given(s *simulation, token steps.Token) {
	if i == nil {
		return
	}
	if g, ok := i.by[token]; ok {
		s.stopsIdling(g)
	}
}

// operated ends the waits of those that can go on now that there was an operation on a channel.
func (i *idlers) operated(s *simulation, ch steps.ObjectID) {
	if i == nil {
		return
	}
	for _, g := range slices.Clone(i.on[ch]) {
		if s.came(s.p.Step(s.p.Idle[s.gs[g].step].Next)) {
			s.stopsIdling(g)
		}
	}
}

// stopsIdling ends a goroutine's wait before its timer does.
func (s *simulation) stopsIdling(g steps.G) {
	at := slices.IndexFunc(s.delays, func(e entry) bool { return e.who.g() == g })
	if at < 0 {
		return
	}
	s.delays.remove(at)
	x := &s.gs[g]
	i := s.p.Idle[x.step]
	if x.helps = true; x.idles {
		s.isOver(g)
	}
	if x.step > x.due {
		s.hurries(g, i)
	}
	s.wake(g)
}

// ticks makes the end of a wait for a timer something that began with the event before, if it is no
// length: of a helper, or of one that sleeps between two questions whether it is stopped.
func (s *simulation) ticks(delay *entry) {
	if s.idlers == nil && len(s.p.Told) == 0 || delay.who.isProcessor() {
		return
	}
	x := &s.gs[delay.who.g()]
	if !x.started {
		return
	}
	step := s.p.Step(x.step)
	if _, idle := s.p.Idle[x.step]; !idle && (step.Until == 0 || !step.Waits(steps.Timer)) {
		return
	}
	x.helps = true
	if x.idles {
		s.isOver(delay.who.g())
	}
	if s.o.Order {
		return
	}
	if w := s.waitsForTick(s.p.Step(x.step).Next); w >= 0 {
		by := &s.gs[w]
		delay.at.d, delay.len, x.from = by.blocked.d, delay.at.at-by.blocked.at, by.at
		return
	}
	delay.at.d, delay.len = s.t.d, delay.at.at-s.t.at
	if i := s.goingOn(); i >= 0 {
		delay.at.d, delay.len = s.divides(&s.work[i], delay.at.at), 0
	}
	x.from = s.node
}

// mostBehindTick is the number of steps after a tick that are searched.
const mostBehindTick = 32

// waitsForTick is a goroutine that waits for a helper's action after a tick, other than for a lock;
// -1: none does.
func (s *simulation) waitsForTick(id steps.StepID) steps.G {
	for n := 0; id != 0 && n < mostBehindTick; n++ {
		step := s.p.Step(id)
		if _, idle := s.p.Idle[id]; idle {
			break
		}
		if s.free(step) {
			if queue := s.objects[step.Obj].queue; step.Op == steps.Send && len(queue) > 0 {
				return queue[0].g
			}
		} else if _, lock := s.p.Held[step.Token()]; step.Kind == steps.Give && !lock &&
			s.tokens[step.Token()].waited() {
			return s.tokens[step.Token()].waiter()
		}
		id = step.Next
	}
	return -1
}

// goingOn is the work that ends next of a goroutine of the program's that has no such waits; -1:
// there is none.
func (s *simulation) goingOn() int {
	first := -1
	for i := range s.work {
		if g := s.work[i].who.g(); !s.gs[g].spins && !s.gs[g].helps && !s.p.Gs[g].System &&
			(first < 0 || s.work.less(i, first)) {
			first = i
		}
	}
	return first
}

// divides ends a part of a goroutine's work at a time, and returns by how much that moves.
func (s *simulation) divides(e *entry, now float64) (d float64) {
	rate, x := s.rate(), &s.gs[e.who.g()]
	done := s.v.at + (now-s.t.at)/rate - (e.at.at - e.len)
	part := done / e.len
	moves := e.at.d
	if s.o.Toward != nil {
		moves -= s.o.Toward(x.step) * (1 - part) * e.len / max(s.length(x.step), e.len)
	}
	if e.len -= done; s.sched != nil {
		x.rest -= done
	}
	if s.o.Keep {
		s.log(node{len: done, from: x.from, step: x.step, g: e.who.g(), at: now})
		s.settle()
		x.from = s.node
	}
	return s.t.d + (moves-s.v.d)*rate
}
