package steps

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// stepper ends pieces of work. The nature of one may show only at its end.
type stepper struct {
	*tape
	pollers *pollers
	off     offCPU
}

// step ends a goroutine's work so far.
func (x *stepper) step(g *replay.G, now trace.Time, s Step) StepID {
	if x.pollers.any() && (s.Kind == Give || s.Kind == Operate || s.Kind == End) {
		x.pollers.mayBeTold(g, now)
	}
	if x.off.guesses {
		x.off.takeOff(g, now)
	}
	id := x.add(g, now, s)
	if outer := s.Kind == Delay && s.Cause() < Call; outer || s.Kind == Take && s.Obj != 0 {
		x.pollers.waited(g.Slot, now, id)
	}
	return id
}
