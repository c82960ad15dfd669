package sim

import "qinst.dev/internal/analysis/steps"

// give gives a token, and ends the waits for it. A goroutine that waits for data goes on when they
// have arrived.
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
		s.finds(g)
	}
	s.idlers.given(s, token)
	if token >= s.p.FirstWrite && s.p.FirstWrite > 0 {
		s.wrote[token-s.p.FirstWrite] = s.t.at
	} else if s.p.Told != nil {
		s.tell(token)
	}
}

// takeToken lets a goroutine wait for a token, and reports whether it was given.
func (s *simulation) takeToken(g steps.G, step *steps.Step) bool {
	token := step.Token()
	if token == 0 {
		s.gs[g].waits = false // for ever
		return false
	}
	w := s.tokens[token]
	if !w.given() {
		s.tokens[token], s.gs[g].also = waitedBy(g), w
		s.block(g)
		s.held(token)
		return false
	}
	s.after(w.node())
	return !s.p.Reads(step) || s.reads(g, step)
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

// comes is the time from the start of a write to the arrival of the data, in ns: the paper's
// communication time, with the system's part (Sarukkai and Malony 1993, section 4.1).
func (s *simulation) comes(id steps.StepID) float64 {
	if s.o.HandOver != nil {
		return s.o.HandOver(id, -1)
	}
	return float64(s.p.Step(id).Transit())
}
