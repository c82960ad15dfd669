package replay

import "qinst.dev/internal/trace"

// SetID is a node of the tree of sets; 0 is the empty set.
type SetID int32

// Member is a member of sets: a root, a procedure or loop, or a group of goroutines, numbered in
// this order.
type Member int32

// RootMember is a root as a member of sets.
func RootMember(r Root) Member { return Member(r) }

// ProcMember is a procedure or loop as a member of sets.
func ProcMember(p trace.PointID) Member { return Member(NumRoots) + Member(p) }

// Point returns the procedure or loop that a member is. It is negative for a root, and beyond all
// points for a group.
func (m Member) Point() trace.PointID { return trace.PointID(m) - trace.PointID(NumRoots) }

// noMember is the member of the empty set.
const noMember Member = -1

// Sets interns sets of members as paths from the root of a tree, in the order in which their
// members were first entered. A member occurs at most once on a path, so that recursion adds
// nothing.
type Sets struct {
	nodes []setNode
	index map[edge]SetID
}

type edge struct {
	set    SetID
	member Member
}

type setNode struct {
	parent SetID
	member Member

	// The last extension asked for: in a loop the next one is the same.
	lastMember Member
	lastSet    SetID
}

func newSets() *Sets {
	return &Sets{nodes: []setNode{{member: noMember, lastMember: noMember}}, index: map[edge]SetID{}}
}

// Len is how many sets there are, with the empty one. Parents have smaller numbers.
func (s *Sets) Len() int { return len(s.nodes) }

// Parent is the set without its last member.
func (s *Sets) Parent(set SetID) SetID { return s.nodes[set].parent }

// Last is the member of a set that was entered last; negative: the set is empty.
func (s *Sets) Last(set SetID) Member { return s.nodes[set].member }

// With returns the set plus a member.
func (s *Sets) With(set SetID, member Member) SetID {
	n := &s.nodes[set]
	if n.lastMember == member {
		return n.lastSet
	}
	e := edge{set, member}
	id, ok := s.index[e]
	if !ok {
		if id = set; !s.Has(set, member) {
			id = SetID(len(s.nodes))
			s.nodes = append(s.nodes, setNode{parent: set, member: member, lastMember: noMember})
			n = &s.nodes[set]
		}
		s.index[e] = id
	}
	n.lastMember, n.lastSet = member, id
	return id
}

// Has reports whether a set has a member.
func (s *Sets) Has(set SetID, member Member) bool {
	for ; set != 0; set = s.nodes[set].parent {
		if s.nodes[set].member == member {
			return true
		}
	}
	return false
}
