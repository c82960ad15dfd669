package sim

import (
	"slices"

	"qinst.dev/internal/analysis/steps"
)

// hired reports whether a goroutine is a worker.
func (s *simulation) hired(g steps.G) bool {
	w := s.o.Workers
	if w == nil {
		return false
	}
	_, was := w.of[g]
	return was || int(g) >= len(s.p.Gs)-max(0, w.n-len(w.all))
}

// following is the step after one that a goroutine has done: after a worker's receive that of the
// next job.
func (s *simulation) following(g steps.G, step *steps.Step) steps.StepID {
	w := s.o.Workers
	if w == nil || !w.receives(step) || !s.hired(g) {
		return step.Next
	}
	if s.jobs < len(w.jobs) && slices.Index(w.all, g) < w.n {
		s.jobs++
		return s.p.Step(w.jobs[s.jobs-1]).Next
	}
	if last := w.of[g]; last != 0 {
		return s.p.Step(last).Next
	}
	return 0
}

// idles reports whether a goroutine is a worker who has nothing to do, because there are fewer. It
// waits until the channel is closed.
func (s *simulation) idles(g steps.G, step *steps.Step) bool {
	w := s.o.Workers
	if w == nil || !w.receives(step) || s.objects[w.ch].closed {
		return false
	}
	i := slices.Index(w.all, g)
	if i < w.n {
		return false
	}
	s.surplus = append(s.surplus, g)
	s.gs[g].step = w.of[g]
	return true
}
