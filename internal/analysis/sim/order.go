package sim

import "qinst.dev/internal/analysis/steps"

// Weights need only the predecessor of each event: a small change matters only where one event
// waited for another. Slack is about larger changes. It needs every event that another one would
// have waited for, had it come later, and so every dependence in the order of the run: the n-th
// send and the n-th receive, each unlock and the next lock, every Done and the Join after it, and
// where each goroutine began its wait.

// order are the nodes that an object's operations depend on.
type order struct {
	writer          nodeID   // the last Unlock, -1: none
	readers         []nodeID // each RUnlock since
	sends, receives []nodeID
	closed          nodeID
	dones           []nodeID // the first one stands for all up to joined, if that is not 0
	joined          int
}

// after notes that all further steps of a goroutine depend on some nodes, -1: none.
func (s *simulation) after(nodes ...nodeID) {
	if !s.o.Order {
		return
	}
	own := false // a node of its own: what others began with the node at hand does not need these
	for _, n := range nodes {
		if n < 0 || n == s.node {
			continue
		}
		if !own {
			own = true
			s.log(node{from: s.node, at: s.t.at, g: -1})
		}
		s.run.edges = append(s.run.edges, edge{n, s.node})
	}
}

// need notes that the goroutine that is woken next waited for some nodes too.
func (s *simulation) need(nodes ...nodeID) {
	if s.o.Order {
		s.needs = append(s.needs, nodes...)
	}
}

// wakeInOrder lets a goroutine go on, which depends on the beginning of its wait, too. The event
// that wakes it does not.
func (s *simulation) wakeInOrder(g steps.G) {
	was := s.node
	s.needs = append(s.needs, s.gs[g].at)
	s.after(s.needs...)
	s.needs, s.gs[g].at = s.needs[:0], -1
	s.enqueue(g)
	s.node = was
}

// stops notes that a goroutine's work ends with the node at hand, and it does not go on.
func (s *simulation) stops(g steps.G) {
	if n := s.run.nodes.At(int(s.node)); n.g == g {
		n.stops = true
	}
}

// held are the nodes at which a lock was released, for its next holder.
func (o *order) held(op steps.Op) []nodeID {
	if o == nil {
		return nil
	}
	nodes := []nodeID{o.writer}
	if op == steps.Lock {
		nodes, o.readers = append(nodes, o.readers...), nil
	}
	return nodes
}

func (s *simulation) granted(o *object, op steps.Op) {
	if o.order != nil {
		s.after(o.order.held(op)...)
	}
}

func (o *order) unlock(at nodeID, op steps.Op) {
	switch {
	case o == nil:
	case op == steps.Unlock:
		o.writer = at
	default:
		o.readers = append(o.readers, at)
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

func (s *simulation) receivesNothing(o *object) {
	if o.order != nil {
		s.after(o.order.closed)
	}
}

func (o *order) close(at nodeID) {
	if o != nil {
		o.closed = at
	}
}

func (o *order) done(at nodeID) {
	if o != nil {
		o.dones = append(o.dones, at)
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
