package sim

import (
	"math"
	"slices"

	"qinst.dev/internal/analysis/steps"
)

// A goroutine that works until another one stops it does its recorded work. If the stop comes
// earlier, it leaves the rest out; if later, it keeps its processor until then: see
// [steps.Step.Until]. Neither is a length of the program's, and so neither has a weight. If it does
// not work when it is stopped, it finds that out later: see skips.

// worksOn lets a goroutine work on until it is stopped, if it has done all its recorded work and
// has not been stopped yet, and reports whether it does. Under list scheduling, where it would keep
// its processor from others, it waits.
func (s *simulation) worksOn(g steps.G, step *steps.Step) bool {
	x := &s.gs[g]
	if x.step != s.p.Gs[g].Told || s.tokens[step.Until].given() {
		return false
	}
	s.block(g)
	if s.o.Policy == List {
		return true
	}
	x.spins, x.rest = true, math.Inf(1)
	x.since = s.v.at // under Go's scheduler since when it has the processor
	if s.sched != nil {
		s.sched.run(g)
	}
	return true
}

// tell stops goroutines.
func (s *simulation) tell(token steps.Token) {
	for _, g := range s.p.Told[token] {
		x := &s.gs[g]
		if x.step == 0 || s.p.Step(x.step).Until != token {
			continue // it finds out when it comes there
		}
		if x.waits && !x.spins {
			if x.step == s.p.Gs[g].Told {
				s.wake(g)
			}
			continue
		}
		works := slices.IndexFunc(s.work, func(e entry) bool { return e.who.g() == g })
		s.stop(x, works)
		if works >= 0 || x.spins && s.sched == nil {
			x.spins, x.waits = false, false
			s.rec.leftOut(x.step, s.p.Gs[g].Told)
			x.step, x.from = s.p.Gs[g].Told, s.node
			s.stepsOf(g)
		} else { // it waits for a processor
			x.spins, x.waits = false, false
		}
	}
}

// stop ends a goroutine's work or spinning; its entry is the one at works, -1: it has none.
func (s *simulation) stop(x *goroutine, works int) {
	left := x.rest // under Go's scheduler, at the beginning of its entry
	if works >= 0 {
		e := s.work.remove(works)
		if s.sched == nil {
			left = e.at.at - s.v.at
		} else {
			left -= e.len - (e.at.at - s.v.at)
		}
	}
	switch {
	case !x.spins:
		s.run.Busy -= left
	case s.sched == nil:
		s.run.Busy += s.v.at - x.since
	case works >= 0:
		s.run.Busy += s.sched.spun(x, s.t.at)
	}
	x.rest, x.since = 0, 0
}

// stepsOf takes the steps of a goroutine that is not the one at hand.
func (s *simulation) stepsOf(g steps.G) {
	if s.sched == nil {
		s.goOn(g)
		return
	}
	was := s.sched.at
	s.sched.at = s.gs[g].proc
	s.goOn(g)
	s.sched.at = was
}
