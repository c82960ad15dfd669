package sim

import "qinst.dev/internal/analysis/steps"

// steps takes the step at whose end a goroutine is, and those after it up to the next work.
func (s *simulation) steps(g steps.G) {
	x := &s.gs[g]
	defer s.rec.acts(s.rec.acts(g))
	for x.step != 0 {
		step := s.p.Step(x.step)
		x.again = false
		if s.goesOn(g, step) {
			if x.spins {
				return
			}
			break
		}
		s.rec.came(g)
		if goes := s.take(g, step); s.over {
			return
		} else if !goes {
			break
		}
		s.o.Watch.passed(x.step, s.t.at)
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
		if done := s.p.Gs[g].Done; done != 0 && step.Kind == steps.End && s.p.Objects[done].Free {
			s.operate(g, &steps.Step{Obj: done, Op: steps.Done})
		}
		if g == s.p.Last { // others may end, too, before the event at hand is over
			s.over, s.run.last = true, s.node
		}
		return false
	case steps.Start:
		if more := step.Started(); !s.gs[more].started {
			// else another worker, which does what the first one did, has started it
			s.begin(more)
		}
		return true
	case steps.Delay, steps.Ready:
		if s.gs[g].awake && step.Kind == steps.Ready {
			s.gs[g].awake = false
			return true
		}
		if s.sched == nil && s.behind(g, step) {
			return false
		}
		if step.Lasts() == 0 || step.Kind == steps.Ready && s.sched != nil { // which wakes processors itself
			return true
		}
		if s.gs[g].hurries != 0 {
			return true
		}
		if s.idlers != nil && s.goesFirst(g) {
			return true
		}
		if s.p.Objects[step.Obj].Ticks {
			return s.ticked(g, float64(step.At))
		}
		ns := s.o.Watch.delay(s.gs[g].step, step, s.t.at)
		if step.Kind == steps.Ready {
			ns = s.handOver(s.gs[g].step, s.idleFor(g))
		}
		if s.o.Delayed != nil && Outside(step) {
			ns *= s.o.Delayed(s.gs[g].step)
		}
		if ns == 0 {
			return true
		}
		s.mayEnd(g)
		s.delay(g, ns)
		return false
	}
	if free := s.p.Objects[step.Obj].Free; free && (step.Kind != steps.Take || step.Token() != 0) {
		if step.Op == steps.NoOp {
			return true
		}
		goes := s.operate(g, step)
		s.idlers.operated(s, step.Obj)
		return goes
	}
	switch step.Kind {
	case steps.Give:
		s.give(s.leaves(s.gs[g].step, step))
	case steps.Take:
		if step.Token() == 0 {
			s.gs[g].waits = false // for ever
			return false
		}
		if w := s.tokens[step.Token()]; !w.given() {
			s.tokens[step.Token()], s.gs[g].also = waitedBy(g), w
			s.block(g)
			s.held(step.Token())
			return false
		} else {
			s.after(w.node())
		}
		if s.p.Reads(step) {
			return s.reads(g, step)
		}
	}
	return true
}

// ticked lets a goroutine wait for a tick, which comes when it came, and reports whether that is
// over.
func (s *simulation) ticked(g steps.G, at float64) bool {
	if at <= s.t.at {
		return true
	}
	s.mayEnd(g)
	s.gs[g].from = 0
	s.delays.push(entry{instant{at, 0}, at, actor(g)})
	return false
}

// behind lets a goroutine wait in the queue of another one's processor, as it did; see
// [steps.Step.After]. It reports whether that other one has a processor.
func (s *simulation) behind(g steps.G, step *steps.Step) bool {
	after := step.After()
	if after < 0 || after == g || !s.gs[after].runs {
		return false
	}
	if s.lines == nil {
		s.lines = map[steps.G][]queued{}
	}
	s.lines[after] = append(s.lines[after], queued{g, s.gs[g].step})
	s.block(g)
	return true
}
