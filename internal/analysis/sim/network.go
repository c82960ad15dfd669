package sim

import "qinst.dev/internal/analysis/steps"

// give ends the waits for a token. Who waits for what is written goes on when that has come.
func (s *simulation) give(token steps.Token) {
	w := s.tokens[token]
	for s.tokens[token] = givenAt(s.node); w.waited(); {
		g := w.waiter()
		w = s.gs[g].also
		if step := s.p.Step(s.gs[g].step); s.p.Reads(step) {
			s.gs[g].waits = false
			s.delay(g, s.comes(s.gs[g].step))
			continue
		}
		s.wake(g)
	}
	s.idlers.given(s, token)
	if token >= s.p.FirstWrite && s.p.FirstWrite > 0 {
		s.wrote[token-s.p.FirstWrite] = s.t.at
	} else if s.p.Told != nil {
		s.tell(token)
	}
}

// comes is how long what is written takes to come, in ns, from when it begins to be: the paper's
// communication time, and what the system does with it (Sarukkai and Malony 1993, section 4.1).
func (s *simulation) comes(id steps.StepID) float64 {
	if s.o.HandOver != nil {
		return s.o.HandOver(id, -1)
	}
	return float64(s.p.Step(id).Transit())
}

// reads lets a goroutine wait for what has been written but has not come, and reports whether it
// has.
func (s *simulation) reads(g steps.G, step *steps.Step) bool {
	rest := s.wrote[step.Token()-s.p.FirstWrite] + s.comes(s.gs[g].step) - s.t.at
	if rest <= 0 {
		return true
	}
	s.delay(g, rest)
	return false
}
