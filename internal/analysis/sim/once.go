package sim

import "qinst.dev/internal/analysis/steps"

// Once runs a program, with the objects as they are.
func Once(p *steps.Program, o Options) *Run {
	if o.Workers != nil {
		p = o.Workers.hire(p)
	}
	s := &simulation{p: p, o: o, gs: make([]goroutine, len(p.Gs)), objects: make([]object, len(p.Objects)),
		tokens: make([]tokenState, p.Tokens)}
	s.goOn = s.steps
	s.procs = float64(o.Procs)
	if o.Procs == 0 {
		s.procs = float64(max(len(p.Gs), 1))
	}
	s.idle = make([]float64, int(s.procs))
	for i := range p.Objects {
		ob := &s.objects[i]
		if o.Order {
			ob.order = &order{writer: -1, closed: -1}
		}
		if ob.cap = p.Objects[i].Cap; o.Capped[steps.ObjectID(i)] {
			ob.cap = o.Cap
		}
		if o.Split[steps.ObjectID(i)] {
			ob.parts = make([]object, o.Parts)
		}
	}
	if o.Policy == Go {
		s.sched = newScheduler(s)
	}
	if p.FirstWrite > 0 {
		s.wrote = make([]float64, max(int(p.Tokens)-int(p.FirstWrite), 0))
	}
	s.rec, s.barriers, s.idlers = newRecorder(s), newBarriers(p, o.Exit), newIdlers(p)
	s.log(node{from: -1})
	for i := range p.Gs {
		if g := &p.Gs[i]; g.By >= 0 {
			continue
		} else if g.Created <= 0 {
			s.begin(steps.G(i))
		} else {
			s.gs[i].step = 0
			s.delay(steps.G(i), float64(g.Created))
		}
	}
	s.settle()
	for !s.over && s.next() {
	}
	if s.rec != nil {
		s.rec.End = s.rec.stamp()
	}
	s.run.T, s.run.Slope, s.run.procs, s.run.list = s.t.at, s.t.d, s.procs, o.Policy == List
	if !s.over {
		s.run.last = s.node
	}
	s.run.Ends = s.over || p.Last < 0
	return &s.run
}
