package sim

import "qinst.dev/internal/analysis/steps"

// A goroutine that gets a processor begins to work, or takes its steps. Under policy Go it may
// instead give its processor to another goroutine, which then does the same.

// enter gives a goroutine a processor, on which it goes on.
func (s *simulation) enter(g steps.G) {
	s.n++
	s.gs[g].from, s.gs[g].runs = s.node, true
	s.rec.runs(g)
	if !s.works(g) {
		s.goOn(g)
	}
}

// dispatch gives idle processors to the goroutines that are ready, under list scheduling.
func (s *simulation) dispatch() {
	for last := len(s.idle) - 1; last >= 0 && len(s.ready) > 0; last = len(s.idle) - 1 {
		g := s.ready[0]
		s.ready = s.ready[1:]
		s.gs[g].got, s.gs[g].idle = s.t.at, s.idle[last]
		s.idle = s.idle[:last]
		s.enter(g)
	}
}

// works begins the work of a goroutine's step, and reports whether there is any.
func (s *simulation) works(g steps.G) bool {
	x := &s.gs[g]
	if x.step == 0 || x.again {
		return false
	}
	if x.rest > 0 {
		s.sched.run(g)
		return true
	}
	if step := s.p.Step(x.step); step.Until != 0 && s.skips(g, step) {
		return false
	}
	if x.hurries != 0 {
		if x.step == x.hurries { // its work is the goroutine's action on the timer
			x.hurries = 0
		}
		return false
	}
	length, d := s.length(x.step)+x.owes, 0.
	x.owes = 0
	if s.o.Toward != nil {
		d = s.o.Toward(x.step)
	}
	if length == 0 && d == 0 {
		return false
	}
	s.run.Busy += length
	if s.sched != nil {
		x.rest = length
		s.sched.begin(g)
		return true
	}
	s.work.push(entry{instant{s.v.at + length, s.v.d + d}, length, actor(g)})
	return true
}

// skips lets a goroutine whose work others may stop, and that was stopped before it, go to the step
// in which it finds that out. It reports whether it was stopped.
func (s *simulation) skips(g steps.G, step *steps.Step) bool {
	last := s.p.Gs[g].Told
	if last == 0 || !s.tokens[step.Until].given() {
		return false
	}
	x := &s.gs[g]
	s.after(s.tokens[step.Until].node())
	s.rec.leftOut(x.step, last)
	x.step, x.rest = last, 0
	return true
}

// ready makes a goroutine ready on the processor at hand.
func (c *scheduler) ready(g steps.G) {
	c.queued++
	if c.at < 0 && c.timer {
		c.due = append(c.due, g)
	} else if c.at < 0 && c.polled {
		c.arrived = append(c.arrived, g)
	} else if c.at < 0 {
		c.global = append(c.global, g)
	} else {
		p := &c.procs[c.at]
		if p.next >= 0 {
			p.queue = append(p.queue, p.next)
		}
		p.next = g
	}
	if c.at < 0 && c.polled {
		c.polls()
	}
	c.wake()
}

// polls lets an idle processor run a goroutine that the network made ready: it is the one that
// found that out, which takes a while. In the recorded run that was part of the goroutine's wait,
// or no processor was idle.
func (c *scheduler) polls() {
	for i := range c.procs {
		switch {
		case c.procs[i].g >= 0:
			continue
		case c.late <= 0:
			c.look(int32(i))
		case !c.waking:
			c.looksIn(int32(i), c.late)
		}
		return
	}
}

// awake lets a processor look for work. If there is more, another one is woken.
func (c *scheduler) awake(i int32) {
	c.waking = false
	if c.procs[i].g >= 0 {
		return
	}
	if c.s.o.Keep {
		c.s.log(node{len: c.looks, from: c.from, g: -1, real: true, at: c.s.t.at})
	}
	c.at = i
	if found := c.look(i); !found {
		c.procs[i].freed = c.s.t.at
	} else if c.queued > 0 {
		c.at = -1
		c.wake()
	}
}

// left gives a processor that a goroutine has left to another one.
func (c *scheduler) left(i int32) {
	if c.procs[i].g = -1; !c.look(i) {
		c.procs[i].freed = c.s.t.at
	}
}

// look runs the next goroutine on a processor, and reports whether there was one.
func (c *scheduler) look(i int32) bool {
	if c.queued == 0 {
		return false
	}
	p := &c.procs[i]
	g, inherits := p.next, p.next >= 0
	switch {
	case len(c.due) > 0:
		g, c.due, inherits = c.due[0], c.due[1:], false
	case inherits:
		p.next = -1
	case len(p.queue) > 0:
		g, p.queue = p.queue[0], p.queue[1:]
	case len(c.global) > 0:
		g, c.global = c.global[0], c.global[1:]
	case len(c.arrived) > 0:
		g, p.queue = c.arrived[0], append(p.queue, c.arrived[1:]...)
		c.arrived = nil
	default:
		g = c.steal(i)
	}
	if g < 0 {
		return false
	}
	c.queued--
	if now := c.s.t.at; !inherits || p.until <= now {
		p.since, p.until = now, c.over(now)
	}
	p.g, p.seen, c.s.gs[g].proc = g, -1, i
	was := c.at
	c.at = i
	c.s.enter(g)
	c.at = was
	return true
}

// begin lets a goroutine begin to work, unless it has given its processor to another one: then it
// is the last in the queue there.
func (c *scheduler) begin(g steps.G) {
	x := &c.s.gs[g]
	if !x.yields {
		c.run(g)
		return
	}
	x.yields = false
	p := &c.procs[x.proc]
	p.queue = append(p.queue, g)
	c.queued++
	c.s.n--
	c.s.rec.left(g, true)
	c.left(x.proc)
}
