package sim

import "qinst.dev/internal/analysis/steps"

// rate is by how much faster than virtual time real time goes by.
func (s *simulation) rate() float64 {
	if s.o.Policy != Sharing {
		return 1
	}
	return rate(s.n, s.procs)
}

// length is how long a step's work is. Under policy Go it is without waking threads, which depends
// on the processors that are idle in the computed run.
func (s *simulation) length(id steps.StepID) float64 {
	step := s.p.Step(id)
	length := float64(step.Work)
	if s.o.Length != nil {
		length = s.o.Length(id)
	}
	if s.sched != nil && s.p.Wakes != nil {
		length = max(0, length-float64(step.Waking()))
	}
	return length
}

// idleFor is the idle time, in ns, of the processor that a goroutine has just got; below 0: not
// known.
func (s *simulation) idleFor(g steps.G) float64 {
	if s.o.Policy != List {
		return -1
	}
	return s.gs[g].got - s.gs[g].idle
}

// handOver is how long it takes until a goroutine runs at the end of a Ready, in ns, while a
// processor is idle.
func (s *simulation) handOver(id steps.StepID, idle float64) float64 {
	if s.o.HandOver != nil {
		return s.o.HandOver(id, idle)
	}
	return float64(s.p.Step(id).Lasts())
}
