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
	usage  Usage

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
	// Children come after their parents: one pass from the end adds each
	// subtree up.
	total := make([]Usage, len(s.nodes))
	for i := len(s.nodes) - 1; i > 0; i-- {
		total[i].add(&s.nodes[i].usage)
		out[s.nodes[i].member].add(&total[i])
		total[s.nodes[i].parent].add(&total[i])
		total[i] = Usage{}
	}
	return out
}
