package sim

import "qinst.dev/internal/analysis/steps"

// steps takes the step at whose end a goroutine is, and those after it up to the next work.
func (s *simulation) steps(g steps.G) {
	x := &s.gs[g]
	defer s.rec.acts(s.rec.acts(g))
	for x.step != 0 {
		step := s.p.Step(x.step)
		again := x.again
		x.again = false
		if step.Until != 0 && s.worksOn(g, step) {
			if x.spins {
				return
			}
			break
		}
		s.rec.came(g)
		goes := s.take(g, step)
		if s.over {
			return
		}
		if x.passed = goes && step.Kind == steps.Take && !again; !goes {
			break
		}
		s.o.Watch.passed(x.step, s.t.at)
		s.mayBeOver()
		if s.over {
			return
		}
		x.step, x.from = s.following(g, step), s.node
		if s.works(g) {
			return
		}
	}
	if s.o.Order {
		s.stops(g)
	}
	s.leave(g) // it waits, it has ended, or its next step is not known
}

// take does what ends a step, and reports whether the goroutine goes on.
func (s *simulation) take(g steps.G, step *steps.Step) bool {
	if s.barriers != nil && !s.crosses(g, s.gs[g].step) {
		return false
	}
	switch step.Kind {
	case steps.End, steps.Cut:
		s.end(g, step)
		return false
	case steps.Start:
		if more := step.Started(); !s.gs[more].started {
			// else another worker, which does what the first one did, has started it
			s.begin(more)
		}
		return true
	case steps.Delay, steps.Ready:
		return s.pause(g, step)
	}
	if free := s.p.Objects[step.Obj].Free; free && (step.Kind != steps.Take || step.Token() != 0) {
		if step.Op == steps.NoOp {
			return true
		}
		goes := s.operate(g, step)
		s.idlers.operated(s, step.Obj)
		return goes
	}
	if s.turns != nil && !s.inTurn(g, s.gs[g].step, step.Obj) {
		return false
	}
	switch step.Kind {
	case steps.Give:
		s.give(s.leaves(s.gs[g].step, step))
	case steps.Take:
		if s.o.Loose && s.p.Objects[step.Obj].AnyReleases() {
			return true
		}
		return s.takeToken(g, step)
	case steps.Operate:
		if s.idlers != nil && s.p.Objects[step.Obj].Ticks { // a tick that was there already
			s.goesFirst(g)
		}
	}
	return true
}

// end ends a goroutine. With the one that ended last in the recorded run, the run is over.
func (s *simulation) end(g steps.G, step *steps.Step) {
	s.gs[g].ended = true
	if done := s.p.Gs[g].Done; done != 0 && step.Kind == steps.End && s.p.Objects[done].Free {
		s.operate(g, &steps.Step{Obj: done, Op: steps.Done})
	}
	if g == s.p.Last { // others may end, too, before the event at hand is over
		s.returned, s.run.last = true, s.node
		s.mayBeOver()
	}
}

// mayBeOver ends the run if main has returned, and no request is waited for.
func (s *simulation) mayBeOver() {
	if s.returned && !s.o.Watch.pending() {
		s.over = true
	}
}
