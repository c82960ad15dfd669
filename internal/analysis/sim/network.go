package sim

import "qinst.dev/internal/analysis/steps"

// give ends the waits for a token. A goroutine that waits for data goes on when they have arrived.
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

// reads lets a goroutine wait for data that have been written and have not arrived, and reports
// whether they have.
func (s *simulation) reads(g steps.G, step *steps.Step) bool {
	rest := s.wrote[step.Token()-s.p.FirstWrite] + s.comes(s.gs[g].step) - s.t.at
	if rest <= 0 {
		return true
	}
	s.delay(g, rest)
	return false
}
