package sim

import "qinst.dev/internal/analysis/steps"

// send sends to a channel, and reports whether there was room.
func (s *simulation) send(o *object, w waiter, step *steps.Step) bool {
	s.ordered(o, step)
	s.sends(o)
	o.sent++
	if len(o.queue) > 0 {
		s.pop(&o.queue)
	}
	if o.cap >= 0 && o.sent > o.got+o.cap && !o.closed {
		o.senders = append(o.senders, w)
		return s.block(w.g)
	}
	return true
}

// receive receives from a channel, and reports whether there was something or the channel is
// closed.
func (s *simulation) receive(o *object, w waiter, step *steps.Step) bool {
	if s.idles(w.g, step) {
		return s.block(w.g)
	}
	s.ordered(o, step)
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
		return s.block(w.g)
	}
	return true
}

// close closes a channel.
func (s *simulation) close(o *object, ch steps.ObjectID) {
	o.closed = true
	o.order.close(s.node)
	s.dismiss(ch)
	for len(o.queue) > 0 {
		o.got--
		s.pop(&o.queue)
	}
}

// pop wakes the first one of a queue for a channel, or the last one.
func (s *simulation) pop(q *[]waiter) {
	list, last := *q, len(*q)-1
	if s.o.LIFO {
		*q = list[:last]
		s.finds(list[last].g)
		return
	}
	*q = list[1:]
	s.finds(list[0].g)
}

// finds lets a goroutine go on that waits for what has come: one that asks for it between sleeps
// notices that later.
func (s *simulation) finds(g steps.G) {
	if ns := s.p.Notices(s.p.Step(s.gs[g].step)); ns > 0 {
		s.gs[g].waits = false
		s.delay(g, float64(ns))
		return
	}
	s.wake(g)
}

// dismiss lets the workers end that have nothing to do, when their channel is closed.
func (s *simulation) dismiss(ch steps.ObjectID) {
	if w := s.o.Workers; w == nil || ch != w.ch {
		return
	}
	for _, g := range s.surplus {
		s.wake(g)
	}
	s.surplus = nil
}
