package steps

import "qinst.dev/internal/trace"

// Timeline returns how many goroutines worked, and how many were ready without a processor, on
// average in each of n equal parts of the run as it was. The runtime's own are among them.
func (p *Program) Timeline(n int) (running, ready []float64) {
	running, ready = make([]float64, n), make([]float64, n)
	if p.End <= 0 || n == 0 {
		return running, ready
	}
	width := float64(p.End) / float64(n)
	add := func(list []float64, from, to trace.Time) {
		for from < to {
			i := min(int(float64(from)/width), n-1)
			until := to
			if i < n-1 {
				until = min(to, max(from+1, trace.Time(float64(i+1)*width)))
			}
			list[i] += float64(until-from) / width
			from = until
		}
	}
	for g := range p.Gs {
		at := max(0, p.Gs[g].Created)
		for id := p.Gs[g].First; id != 0; {
			s := p.Step(id)
			worked := at + trace.Time(s.Work)
			add(running, at, worked)
			if s.Kind == Ready && s.Cause() == WakeUp {
				add(ready, worked, s.At)
			}
			at, id = s.At, s.Next
		}
	}
	return running, ready
}
