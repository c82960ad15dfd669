package sim

import "qinst.dev/internal/analysis/steps"

// operate does an operation of a goroutine, and reports whether it goes on.
func (s *simulation) operate(g steps.G, step *steps.Step) bool {
	w := waiter{g, step.Op, step.Amount()}
	o := s.objects[step.Obj].part(w)
	if step.Op == steps.Receive && s.idles(g, step) {
		return s.block(g)
	}
	if step.Op == steps.Send || step.Op == steps.Receive {
		s.ordered(o, step)
	}
	// a writer of a mutex that others read by waits in turn
	barging := s.sched != nil && !s.p.Objects[step.Obj].Shared()
	if barging && step.Op == steps.Lock {
		return s.sched.lock(o, g)
	}
	switch step.Op {
	case steps.Lock, steps.RLock:
		o.queue = append(o.queue, w)
		s.grant(o, g)
		if len(o.queue) > 0 && o.queue[len(o.queue)-1].g == g {
			return s.block(g)
		}
		s.granted(o, step.Op)
	case steps.Unlock:
		if barging {
			s.sched.unlock(o, g)
			break
		}
		o.writer = false
		o.order.unlock(s.node, step.Op)
		s.grant(o, -1)
	case steps.RUnlock:
		o.readers = max(0, o.readers-1)
		o.order.unlock(s.node, step.Op)
		s.grant(o, -1)
	case steps.Send:
		s.sends(o)
		o.sent++
		if len(o.queue) > 0 {
			s.pop(&o.queue)
		}
		if o.cap >= 0 && o.sent > o.got+o.cap && !o.closed {
			o.senders = append(o.senders, w)
			return s.block(g)
		}
	case steps.Receive:
		if o.closed && o.got >= o.sent {
			s.receivesNothing(o)
			return true
		}
		s.receives(o)
		o.got++
		if len(o.senders) > 0 {
			s.pop(&o.senders)
		}
		if o.got > o.sent {
			o.queue = append(o.queue, w)
			return s.block(g)
		}
	case steps.Acquire:
		o.queue = append(o.queue, w)
		s.acquire(o, g)
		if len(o.queue) > 0 && o.queue[len(o.queue)-1].g == g {
			return s.block(g)
		}
	case steps.Release:
		o.got = max(0, o.got-int(w.need))
		s.acquire(o, -1)
	case steps.Close:
		o.closed = true
		o.order.close(s.node)
		s.dismiss(step.Obj)
		for len(o.queue) > 0 {
			o.got--
			s.pop(&o.queue)
		}
	case steps.Done:
		o.sent++
		o.order.done(s.node)
		for i := 0; i < len(o.queue); {
			if x := o.queue[i]; o.sent < int(x.need) {
				i++
			} else {
				o.queue = append(o.queue[:i], o.queue[i+1:]...)
				s.need(s.joined(o, int(x.need)))
				s.wake(x.g)
			}
		}
	case steps.Join:
		if o.sent < step.Dones() {
			o.queue = append(o.queue, w)
			return s.block(g)
		}
		s.after(s.joined(o, step.Dones()))
	}
	return true
}

// acquire gives parts of a semaphore to the first ones in its queue, while there is enough. me goes
// on by itself.
func (s *simulation) acquire(o *object, me steps.G) {
	for len(o.queue) > 0 {
		w := o.queue[0]
		if o.got > 0 && o.cap >= 0 && o.got+int(w.need) > o.cap {
			return
		}
		o.got += int(w.need)
		o.queue = o.queue[1:]
		s.ordered(o, s.p.Step(s.gs[w.g].step))
		if w.g != me {
			s.wake(w.g)
		}
	}
}

// pop wakes the first one of a queue for a channel, or the last one.
func (s *simulation) pop(q *[]waiter) {
	list, last := *q, len(*q)-1
	if s.o.LIFO {
		*q = list[:last]
		s.wake(list[last].g)
		return
	}
	*q = list[1:]
	s.wake(list[0].g)
}
