package predict

import "qinst.dev/cmd/internal/analysis/graph"

// give ends the waits for a token. Who waits for what is written goes on when that has come.
func (s *sim) give(token uint32) {
	w := s.tokens[token]
	for s.tokens[token] = -1 - s.node; w > 0; {
		g := w - 1
		w = s.gs[g].also
		if step := s.p.Step(s.gs[g].step); s.p.Reads(step) {
			s.gs[g].waits = false
			s.delay(g, float64(step.Wait))
			continue
		}
		s.wake(g)
	}
	if token >= s.p.FirstWrite && s.p.FirstWrite > 0 {
		s.wrote[token-s.p.FirstWrite] = s.t.at
	} else if s.p.Told != nil {
		s.tell(token)
	}
}

// reads lets a goroutine wait for what has been written but has not come, and reports whether it has.
func (s *sim) reads(g int32, step *graph.Step) bool {
	rest := s.wrote[step.Arg-s.p.FirstWrite] + float64(step.Wait) - s.t.at
	if rest <= 0 {
		return true
	}
	s.delay(g, rest)
	return false
}
