package sim

import "qinst.dev/internal/analysis/steps"

// Once runs a program, with the objects as they are.
func Once(p *steps.Program, o Options) *Run {
	if o.Workers != nil {
		p = o.Workers.hire(p)
	}
	if p.R != nil { // else it was made by hand
		p.R.T.Progress.Run()
	}
	return within(p, o, mostEvents*(p.Steps.Len()+fewSteps))
}

// within is a run of so many events at most. One that has more goes around in a circle, and is none
// of the program.
func within(p *steps.Program, o Options, events int) *Run {
	s := newSimulation(p, o)
	s.start()
	for ; events > 0 && !s.over && s.next(); events-- {
	}
	return s.result()
}

// mostEvents is how many events a run has for each step at most, which is far more than one that
// ends; fewSteps more are taken for granted.
const mostEvents, fewSteps = 50, 100_000

func newSimulation(p *steps.Program, o Options) *simulation {
	s := &simulation{p: p, o: o, gs: make([]goroutine, len(p.Gs)), objects: make([]object, len(p.Objects)),
		tokens: make([]tokenState, p.Tokens)}
	s.goOn = s.steps
	s.run.Waited = make([]float64, len(p.Objects))
	s.procs = float64(o.Procs)
	if o.Procs == 0 {
		s.procs = float64(max(len(p.Gs), 1))
	}
	s.idle = make([]float64, int(s.procs))
	for i := range p.Objects {
		s.objects[i] = newObject(steps.ObjectID(i), &p.Objects[i], &o)
	}
	if o.Policy == Go {
		s.sched = newScheduler(s)
	}
	if p.FirstWrite > 0 {
		s.wrote = make([]float64, max(int(p.Tokens)-int(p.FirstWrite), 0))
	}
	s.rec, s.barriers, s.idlers = newRecorder(s), newBarriers(p, o.Exit), newIdlers(p)
	s.turns = newTurns(p, o.Turns)
	return s
}

// newObject is an object at the beginning of a run.
func newObject(id steps.ObjectID, of *steps.Object, o *Options) object {
	x := object{cap: of.Cap, sent: of.Held}
	if o.Capped[id] && o.Lends[id] {
		x.sent += max(0, o.Cap-of.Cap)
	}
	if o.Order {
		x.order = &order{writer: -1, closed: -1}
		for range x.sent {
			x.order.sends = append(x.order.sends, -1) // nobody's
		}
	}
	if o.Capped[id] {
		x.cap = o.Cap
	}
	if o.Split[id] {
		x.parts = make([]object, o.Parts)
	}
	return x
}

// start lets the goroutines begin that no other one starts.
func (s *simulation) start() {
	s.log(node{from: -1})
	for i := range s.p.Gs {
		if g := &s.p.Gs[i]; g.By >= 0 {
			continue
		} else if g.Created <= 0 {
			s.begin(steps.G(i))
		} else {
			s.gs[i].step = 0
			s.delay(steps.G(i), float64(g.Created))
		}
	}
	s.settle()
}

// result is the result of a run that is over.
func (s *simulation) result() *Run {
	if s.rec != nil {
		s.rec.End = s.rec.stamp()
	}
	s.run.T, s.run.Slope, s.run.procs, s.run.list = s.t.at, s.t.d, s.procs, s.o.Policy == List
	if !s.over {
		s.run.last = s.node
	}
	s.run.Ends = s.over || s.p.Last < 0
	// With another number of workers, one does what another did. Where operations decide all waits,
	// a run may end while goroutines go on that nobody waits for.
	if s.o.Workers == nil {
		if ns := s.undone(); ns > 0 && s.p.Repeats() {
			s.run.Undone = ns
		}
	}
	return &s.run
}

// undone is the work that is left of goroutines that ended in the recorded run.
func (s *simulation) undone() (ns float64) {
	working := map[steps.G]float64{} // what is left of the work at hand
	for _, e := range s.work {
		working[e.who.g()] = e.at.at - s.v.at + max(0, s.gs[e.who.g()].rest-e.len)
	}
	for i := range s.gs {
		x, left, last := &s.gs[i], 0., steps.StepID(0)
		at := x.step
		rest, works := working[steps.G(i)]
		switch {
		case x.ended:
			continue
		case !x.started:
			at = s.p.Gs[i].First
		case works || x.rest > 0:
			left, last, at = max(rest, 0), at, s.p.Step(at).Next
			if !works {
				left = x.rest
			}
		case x.waits || x.runs && (s.sched == nil || s.sched.procs[x.proc].g == steps.G(i)):
			at = s.p.Step(at).Next // what it works before the wait, or the step at hand, is done
		}
		for ; at != 0; at = s.p.Step(at).Next {
			left, last = left+s.length(at), at
		}
		if last != 0 && s.p.Step(last).Kind == steps.End {
			ns += left
		}
	}
	return ns
}
