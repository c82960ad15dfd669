package sim

import "qinst.dev/internal/analysis/steps"

// pause lets a goroutine wait for the end of a delay, or for a processor, and reports whether it
// need not.
func (s *simulation) pause(g steps.G, step *steps.Step) bool {
	x := &s.gs[g]
	if x.awake && step.Kind == steps.Ready {
		x.awake = false
		return true
	}
	if step.Kind == steps.Ready && s.sched == nil && x.passed {
		return true
	}
	if s.sched == nil && s.behind(g, step) {
		return false
	}
	if step.Lasts() == 0 || step.Kind == steps.Ready && s.sched != nil { // which wakes processors itself
		return true
	}
	if x.hurries != 0 || s.idlers != nil && s.goesFirst(g) {
		return true
	}
	if s.p.Objects[step.Obj].Ticks {
		return s.ticked(g, step)
	}
	ns := s.lasts(g, step)
	if ns == 0 {
		return true
	}
	s.mayEnd(g)
	s.delay(g, ns)
	return false
}

// lasts is how long a goroutine's delay takes that begins now, in ns.
func (s *simulation) lasts(g steps.G, step *steps.Step) float64 {
	id := s.gs[g].step
	ns := s.o.Watch.delay(id, step, s.t.at)
	if step.Kind == steps.Ready {
		ns = s.handOver(id, s.idleFor(g))
	}
	if s.o.Delayed != nil && Outside(step) {
		ns *= s.o.Delayed(id)
	}
	return ns
}

// ticked lets a goroutine wait for a tick, and reports whether that is over. Ticks come when they
// came, as seen from the first wait for one, since whoever waits has made the ticker shortly
// before.
func (s *simulation) ticked(g steps.G, step *steps.Step) bool {
	o := &s.objects[step.Obj]
	if !o.ticks {
		o.ticks, o.later = true, s.t.at-float64(int64(step.At)-step.Lasts())
	}
	at := float64(step.At) + o.later
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
