package profile

// setID is a node of the tree of sets; 0 is the empty set.
type setID int32

// noMember is the member of the empty set.
const noMember = -1

// sets interns sets of members (roots, goroutine groups and procedures) as paths
// from the root of a tree. A member occurs at most once on a path.
type sets struct {
	nodes []setNode
	index map[edge]setID
}

type edge struct {
	set    setID
	member int32
}

type setNode struct {
	parent setID
	member int32
	usage  *Usage // nil: none; most sets are only on the way to others

	// The last extension asked for: in a loop the next one is the same.
	lastMember int32
	lastSet    setID
}

func newSets() *sets {
	return &sets{nodes: []setNode{{member: noMember, lastMember: noMember}}, index: map[edge]setID{}}
}

// with returns the set plus a member.
func (s *sets) with(set setID, member int32) setID {
	n := &s.nodes[set]
	if n.lastMember == member {
		return n.lastSet
	}
	e := edge{set, member}
	id, ok := s.index[e]
	if !ok {
		if id = set; !s.has(set, member) {
			id = setID(len(s.nodes))
			s.nodes = append(s.nodes, setNode{parent: set, member: member, lastMember: noMember})
			n = &s.nodes[set]
		}
		s.index[e] = id
	}
	n.lastMember, n.lastSet = member, id
	return id
}

func (s *sets) has(set setID, member int32) bool {
	for ; set != 0; set = s.nodes[set].parent {
		if s.nodes[set].member == member {
			return true
		}
	}
	return false
}

// inclusive returns for each of n members the usage of all sets that contain it.
func (s *sets) inclusive(n int) []Usage {
	out := make([]Usage, n)
	s.subtrees(func(set setID, all *Usage) { out[s.nodes[set].member].add(all) })
	return out
}

// subtrees visits all sets but the empty one with the usage of those that extend them, too.
// Children come after their parents: one pass from the end adds each subtree up.
func (s *sets) subtrees(visit func(set setID, all *Usage)) {
	total := make([]*Usage, len(s.nodes))
	add := func(set setID, u *Usage) {
		if total[set] == nil {
			total[set] = new(Usage)
		}
		total[set].add(u)
	}
	for i := len(s.nodes) - 1; i > 0; i-- {
		n := &s.nodes[i]
		if n.usage != nil {
			add(setID(i), n.usage)
		}
		if all := total[i]; all != nil {
			visit(setID(i), all)
			add(n.parent, all)
			total[i] = nil
		}
	}
}

// use is the usage of a set itself.
func (s *sets) use(set setID) *Usage {
	n := &s.nodes[set]
	if n.usage == nil {
		n.usage = new(Usage)
	}
	return n.usage
}
