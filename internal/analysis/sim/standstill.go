package sim

import (
	"slices"

	"qinst.dev/internal/analysis/steps"
)

// Operations leave the order open, and tokens repeat it. Together they may be contradictory: a
// goroutine that has taken a place in a channel waits, by a token, for one that waits for a place;
// and one that sends only if there is room (a select with a default) does not wait for any. A run
// that comes to a standstill is made once more, with the order of the recorded run for the objects
// that goroutines waited for then.

// mostStandstills is how often that is tried. The last time it holds for all objects.
const mostStandstills = 4

// Simulate runs a program.
func Simulate(p *steps.Program, o Options) *Run {
	run := Once(p, o)
	if !o.recorded() { // the order of the recorded run is none of these
		return run
	}
	for n := 1; run.Forced > 0 && n <= mostStandstills; n++ {
		next, changed := p.Ordered(run.standstill, n == mostStandstills)
		if !changed {
			if next, changed = p.Ordered(nil, true); !changed {
				break
			}
		}
		if o.Watch != nil {
			*o.Watch = *o.Watch.Again()
		}
		p = next
		run = Once(p, o)
	}
	return run
}

// atEnd is how near its end a run may come to a standstill, as a share of it: goroutines that wait
// for ever are let go when all has been done.
const atEnd = 0.01

// Sound reports whether a run is one of the program at all: it has ended as the recorded run did,
// no goroutine went on before its wait was over, so that the run is at least as long as its longest
// chain, and its processors have worked no longer than the run took.
func (r *Run) Sound() bool {
	const exact = 1e-6
	return r.Ends && (r.Forced == 0 || r.T-r.stoodAt <= atEnd*r.T) && r.Busy <= r.T*r.procs*(1+exact)+1
}

// freeOf are the objects that goroutines wait for operations on.
func (s *simulation) freeOf(gs []steps.G) (list []steps.ObjectID) {
	for _, g := range gs {
		step := s.p.Step(s.gs[g].step)
		if s.gs[g].waits && s.free(step) && step.Op != steps.Join && !slices.Contains(list, step.Obj) {
			list = append(list, step.Obj)
		}
	}
	return list
}

// free reports whether a step is an operation on a channel for which operations decide who goes on.
func (s *simulation) free(step *steps.Step) bool {
	return step.Op != steps.NoOp && s.p.Objects[step.Obj].Free && (step.Kind != steps.Take || step.Token() != 0)
}
