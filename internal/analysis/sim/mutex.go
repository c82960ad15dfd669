package sim

import (
	"slices"

	"qinst.dev/internal/analysis/steps"
)

// lock takes a mutex, and reports whether it could.
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

// unlock lets a goroutine release a mutex. If the first one in the queue has waited for long, it
// gets the mutex and the processor.
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

// ordered notes whether an operation comes in the order of the recorded run.
func (s *simulation) ordered(o *object, step *steps.Step) {
	op := step.Op
	if op == steps.RLock {
		op = steps.Lock
	}
	if step.At < o.at[op] {
		s.run.Reordered++
	}
	o.at[op] = step.At
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
