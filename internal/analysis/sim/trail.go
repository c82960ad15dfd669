package sim

import "qinst.dev/internal/analysis/steps"

// log makes a node the one at hand.
func (s *simulation) log(n node) {
	n.before = int32(s.n)
	if s.o.Keep {
		s.run.nodes.Add(n)
		s.node = nodeID(s.run.nodes.Len() - 1)
	}
}

// settle is called when all that an event brought about has been done.
func (s *simulation) settle() {
	if s.o.Keep {
		s.run.nodes.At(int(s.node)).behind = int32(s.n)
	}
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

// stops notes that a goroutine's work ends with the node at hand, and it does not go on.
func (s *simulation) stops(g steps.G) {
	if n := s.run.nodes.At(int(s.node)); n.g == g {
		n.stops = true
	}
}
