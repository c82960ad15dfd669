package sim

import (
	"slices"

	"qinst.dev/internal/analysis/steps"
)

// team is the progress of a pool's workers.
type team struct {
	jobs    int       // that one of them does or has done
	surplus []steps.G // workers without any
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

// dismiss lets those workers end.
func (s *simulation) dismiss(ch steps.ObjectID) {
	if w := s.o.Workers; w == nil || ch != w.ch {
		return
	}
	for _, g := range s.surplus {
		s.wake(g)
	}
	s.surplus = nil
}
