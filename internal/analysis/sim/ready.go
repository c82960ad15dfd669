package sim

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/steps"
)

// begin makes a goroutine ready for the first time.
func (s *simulation) begin(g steps.G) {
	s.gs[g].started = true
	s.gs[g].step = s.p.Gs[g].First
	s.enqueue(g)
	s.startMore(g)
}

// wake lets a goroutine go on after the step that it waited in.
func (s *simulation) wake(g steps.G) {
	x := &s.gs[g]
	x.waits = false
	if step := s.p.Step(x.step); step.Kind == steps.Take {
		s.run.Waited[step.Obj] += s.t.at - x.blocked.at
	}
	if x.spins { // no goroutine stops it
		x.spins = false
		return
	}
	x.step = s.following(g, s.p.Step(x.step))
	if s.o.Order {
		s.wakeInOrder(g)
		return
	}
	s.enqueue(g)
}

// enqueue lets a goroutine run as soon as it may.
func (s *simulation) enqueue(g steps.G) {
	s.rec.could(g)
	switch s.o.Policy {
	case List:
		s.ready = append(s.ready, g)
		s.dispatch()
	case Go:
		s.sched.ready(g)
	default:
		s.enter(g)
	}
}

// leave takes a goroutine from its processor.
func (s *simulation) leave(g steps.G) {
	s.n--
	s.rec.left(g, false)
	switch s.o.Policy {
	case List:
		since := s.t.at
		if s.gs[g].got == since { // it did nothing there
			since = s.gs[g].idle
		}
		s.idle = append(s.idle, since)
		s.follow(g)
		s.dispatch()
	case Go:
		s.gs[g].yields = false // it has
		s.sched.left(s.gs[g].proc)
	default:
		s.follow(g)
	}
}

// wakeInOrder lets a goroutine go on, which depends on the beginning of its wait, too. The event
// that wakes it does not.
func (s *simulation) wakeInOrder(g steps.G) {
	was := s.node
	s.needs = append(s.needs, s.gs[g].at)
	s.after(s.needs...)
	s.needs, s.gs[g].at = s.needs[:0], -1
	s.enqueue(g)
	s.node = was
}

// startMore starts the workers that the recorded run did not have, with the first one.
func (s *simulation) startMore(g steps.G) {
	w := s.o.Workers
	if w == nil || g != w.all[0] || s.p.Gs[g].By < 0 {
		return
	}
	for more := len(s.p.Gs) - max(0, w.n-len(w.all)); more < len(s.p.Gs); more++ {
		s.begin(steps.G(more))
	}
}

// follow lets the next goroutine go on that waits for the processor of one that leaves it; see
// behind. The others then wait for the processor of that next one.
func (s *simulation) follow(g steps.G) {
	s.gs[g].runs = false
	// these were let go because nothing else could
	list := slices.DeleteFunc(s.lines[g], func(x queued) bool { return !s.gs[x.g].waits || s.gs[x.g].step != x.step })
	if delete(s.lines, g); len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(x, y queued) int { return cmp.Compare(s.p.Step(x.step).At, s.p.Step(y.step).At) })
	next := list[0].g
	if len(list) > 1 {
		s.lines[next] = append(s.lines[next], list[1:]...)
	}
	if ns := s.handOver(list[0].step, 0); ns > 0 {
		s.gs[next].waits = false
		s.delay(next, ns)
	} else {
		s.wake(next)
	}
}
