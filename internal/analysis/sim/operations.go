package sim

import "qinst.dev/internal/analysis/steps"

// operate does an operation of a goroutine, and reports whether it goes on.
func (s *simulation) operate(g steps.G, step *steps.Step) bool {
	w := waiter{g, step.Op, step.Amount()}
	o := s.objects[step.Obj].part(w)
	switch step.Op {
	case steps.Lock, steps.RLock:
		return s.lock(o, w, step)
	case steps.Unlock, steps.RUnlock:
		s.unlock(o, w, step)
	case steps.Send:
		return s.send(o, w, step)
	case steps.Receive:
		return s.receive(o, w, step)
	case steps.Close:
		s.close(o, step.Obj)
	case steps.Acquire:
		o.queue = append(o.queue, w)
		s.acquire(o, g)
		if len(o.queue) > 0 && o.queue[len(o.queue)-1].g == g {
			return s.block(g)
		}
	case steps.Release:
		o.got = max(0, o.got-int(w.need))
		s.acquire(o, -1)
	case steps.Done:
		s.done(o)
	case steps.Join:
		return s.join(o, w, step)
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

// done does an operation Done, and wakes the goroutines that waited for no more than that.
func (s *simulation) done(o *object) {
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
}

// join waits for operations Done, and reports whether there were enough.
func (s *simulation) join(o *object, w waiter, step *steps.Step) bool {
	if o.sent < step.Dones() {
		o.queue = append(o.queue, w)
		return s.block(w.g)
	}
	s.after(s.joined(o, step.Dones()))
	return true
}
