package sim

import "qinst.dev/internal/analysis/steps"

// next processes the next event and reports whether there was one.
func (s *simulation) next() bool {
	work, delay := s.work.first(), s.delays.first()
	if work == nil && delay == nil {
		return s.force()
	}
	g := s.rate()
	at := instant{}
	if work != nil {
		at = instant{s.t.at + (work.at.at-s.v.at)*g, s.t.d + (work.at.d-s.v.d)*g}
	}
	before := s.t
	if work != nil && (delay == nil || !delay.at.before(at)) {
		s.t, s.v = at, work.at
		s.event(s.work.pop(), false)
	} else {
		s.ticks(delay)
		s.v = instant{s.v.at + (delay.at.at-s.t.at)/g, s.v.d + (delay.at.d-s.t.d)/g}
		s.t = delay.at
		s.event(s.delays.pop(), true)
	}
	if s.t.at == before.at {
		s.run.Ties++
	}
	return true
}

// event ends a goroutine's work or delay.
func (s *simulation) event(e entry, real bool) {
	if s.sched != nil && s.sched.event(e, real) {
		return
	}
	g := &s.gs[e.who.g()]
	s.log(node{len: e.len, from: g.from, step: g.step, g: e.who.g(), real: real, at: s.t.at})
	if real {
		s.rec.acts(-1)
		g.from = s.node
		if !g.started {
			s.begin(e.who.g())
		} else {
			s.wake(e.who.g())
		}
	} else {
		s.steps(e.who.g())
	}
	s.settle()
}

// force lets the goroutine go on that has waited longest, because otherwise nothing would.
func (s *simulation) force() bool {
	for len(s.blocked) > 0 {
		g := s.blocked[0]
		s.blocked = s.blocked[1:]
		if x := &s.gs[g]; x.waits {
			if s.run.Forced++; s.run.Forced == 1 {
				s.run.stood = standstill{s.stand(append(s.blocked, g)), s.t.at}
			}
			s.forget(g)
			s.passesBy(g)
			s.wake(g)
			s.settle()
			return true
		}
	}
	return false
}

// event processes an event that only policy Go has, and reports whether this was one: a processor
// is awake, or a goroutine's time is over.
func (c *scheduler) event(e entry, real bool) bool {
	if e.who.isProcessor() {
		c.awake(e.who.processor())
		return true
	}
	x := &c.s.gs[e.who.g()]
	if real {
		step := c.s.p.Step(x.step)
		c.at, c.timer = -1, step.Kind == steps.Delay && step.Cause() == steps.Timer
		c.polled = step.Waits(steps.Network) || c.s.p.Reads(step)
		c.late = float64(c.s.p.WakeUp - step.Lasts())
		return false
	}
	c.at = x.proc
	if x.rest -= e.len; x.rest > 0 {
		if x.spins {
			c.s.run.Busy += e.len
			if c.stands() { // no goroutine is left that could stop it
				c.s.run.Forced++
				x.spins, x.waits, x.rest, x.since = false, false, 0, 0
				x.step = c.s.following(e.who.g(), c.s.p.Step(x.step))
				return false
			}
		}
		c.s.log(node{len: e.len, from: x.from, step: x.step, g: e.who.g(), at: c.s.t.at})
		x.from = c.s.node
		p := &c.procs[x.proc]
		if c.queued == 0 {
			p.since, p.until = c.s.t.at, c.over(c.s.t.at)
			c.run(e.who.g())
			return true
		}
		c.global = append(c.global, e.who.g())
		c.queued++
		c.s.n--
		c.s.rec.left(e.who.g(), true)
		c.left(x.proc)
		return true
	}
	x.rest = 0
	return false
}
