package sim

import (
	"slices"

	"qinst.dev/internal/analysis/steps"
)

// Under policy Go a mutex that is released has no owner: the goroutine that is woken for it may
// find it taken, and then waits as the first one. When it has waited for more than starveNS it gets
// the mutex when that is next released.

const starveNS = 1e6

// barges reports whether goroutines may take a mutex before others that wait for it.
func (s *simulation) barges(lock steps.ObjectID) bool {
	// a writer of a mutex that others read by waits in turn
	return s.sched != nil && !s.p.Objects[lock].Shared()
}

// lock takes a lock, to write or to read by it, and reports whether it was free.
func (s *simulation) lock(o *object, w waiter, step *steps.Step) bool {
	if w.op == steps.Lock && s.barges(step.Obj) {
		return s.sched.lock(o, w.g)
	}
	o.queue = append(o.queue, w)
	s.grant(o, w.g)
	if len(o.queue) > 0 && o.queue[len(o.queue)-1].g == w.g {
		return s.block(w.g)
	}
	s.granted(o, w.op)
	return true
}

// unlock releases a lock.
func (s *simulation) unlock(o *object, w waiter, step *steps.Step) {
	if w.op == steps.Unlock {
		if s.barges(step.Obj) {
			s.sched.unlock(o, w.g)
			return
		}
		o.writer = false
	} else {
		o.readers = max(0, o.readers-1)
	}
	o.order.unlock(s.node, w.op)
	s.grant(o, -1)
}

// lock takes a mutex as Go does, and reports whether it could.
func (c *scheduler) lock(o *object, g steps.G) bool {
	x := &c.s.gs[g]
	if !o.writer && o.readers == 0 {
		o.writer, x.since = true, 0
		c.s.ordered(o, c.s.p.Step(x.step))
		return true
	}
	if x.since == 0 {
		x.since = c.s.t.at + 1 // 0 is no time
		o.queue = append(o.queue, waiter{g: g, op: steps.Lock})
	} else {
		o.queue = slices.Insert(o.queue, 0, waiter{g: g, op: steps.Lock})
	}
	return c.s.block(g)
}

// unlock lets a goroutine release a mutex as Go does. If the first one in the queue has waited for
// long, it gets the mutex and the processor.
func (c *scheduler) unlock(o *object, by steps.G) {
	o.writer = false
	if len(o.queue) == 0 || o.queue[0].op != steps.Lock {
		c.s.grant(o, -1)
		return
	}
	g := o.queue[0].g
	o.queue = o.queue[1:]
	x := &c.s.gs[g]
	if c.s.t.at+1-x.since > starveNS {
		o.writer, x.since = true, 0
		c.s.ordered(o, c.s.p.Step(x.step))
		c.s.wake(g)
		c.s.gs[by].yields = true
		return
	}
	x.waits, x.again = false, true
	c.s.rec.could(g)
	c.ready(g)
}

// grant gives a lock to those who are first in its queue: one who writes, or all up to the next who
// does. me goes on by itself.
func (s *simulation) grant(o *object, me steps.G) {
	for len(o.queue) > 0 && !o.writer {
		w := o.queue[0]
		if w.op == steps.Lock {
			if o.readers > 0 {
				return
			}
			o.writer = true
		} else {
			o.readers++
		}
		o.queue = o.queue[1:]
		s.ordered(o, s.p.Step(s.gs[w.g].step))
		if w.g != me {
			s.need(o.order.held(w.op)...)
			s.wake(w.g)
		}
	}
}
