package sim

import "qinst.dev/internal/analysis/steps"

// Weights need only the predecessor of each event: a small change matters only where one event
// waited for another. Slack is about larger changes. It needs every event that another one would
// have waited for, had it come later, and so every dependence in the order of the run: the n-th
// send and the n-th receive, each unlock and the next lock, every Done and the Join after it, and
// where each goroutine began its wait.

// granted is called when a lock is taken at once: it needs the operations that released it.
func (s *simulation) granted(o *object, op steps.Op) {
	if o.order != nil {
		s.after(o.order.held(op)...)
	}
}

// sends is called before a send begins: it needs the receive that made room for it.
func (s *simulation) sends(o *object) {
	if o.order == nil {
		return
	}
	if o.cap >= 0 && o.sent >= o.cap && o.sent-o.cap < len(o.order.receives) {
		s.after(o.order.receives[o.sent-o.cap])
	}
	o.order.sends = append(o.order.sends, s.node)
}

// receives is called before a receive begins: it needs the send of its element.
func (s *simulation) receives(o *object) {
	if o.order == nil {
		return
	}
	if o.got < len(o.order.sends) {
		s.after(o.order.sends[o.got])
	}
	o.order.receives = append(o.order.receives[:min(o.got, len(o.order.receives))], s.node)
}

// receivesNothing is called before a receive of no element: it needs the channel's close.
func (s *simulation) receivesNothing(o *object) {
	if o.order != nil {
		s.after(o.order.closed)
	}
}

// joined is a node that the first operations Done come before, as many as a Join needs; -1: none.
func (s *simulation) joined(o *object, need int) nodeID {
	if o.order == nil || need == 0 || len(o.order.dones) == 0 {
		return -1
	}
	d := o.order
	n := need // of dones
	if d.joined > 0 {
		n = need - d.joined + 1
	}
	if n = min(n, len(d.dones)); n <= 1 {
		return d.dones[0]
	}
	was := s.node
	s.node = d.dones[0]
	s.after(d.dones[1:n]...)
	all := s.node
	s.node = was
	d.dones, d.joined = append([]nodeID{all}, d.dones[n:]...), max(need, d.joined)
	return all
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
