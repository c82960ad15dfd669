package replay

import (
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Context is the position of a goroutine in the program, as far as its time is concerned.
type Context struct {
	Set   SetID         // of everything on whose behalf it runs
	Proc  trace.PointID // innermost procedure, to which self time is charged; NoPoint: none
	Inner trace.PointID // innermost procedure of Set; differs from Proc if Proc is on the path twice
	Loop  trace.PointID // innermost loop of Proc that is open, NoPoint if none
	Group GroupID
}

// ContextID is the number of a context. Analyses sum their measurements by it.
type ContextID int32

// NoContext is no context.
const NoContext ContextID = -1

// Node is a context among the others.
type Node struct {
	Context
	From ContextID // that it was first entered from; NoContext: a goroutine began in it. Less than its own number
	Half int64     // half events that were written in it: enters and exits count for both sides

	// The procedure or loop last entered from here, and the resulting context. They are cached
	// because in a loop the next entry is the same.
	lastPoint   trace.PointID
	lastContext ContextID
}

// Contexts interns the contexts of a replay.
type Contexts struct {
	t      *trace.Tables
	sets   *Sets
	groups *Groups
	list   []Node
	index  map[Context]ContextID
}

func newContexts(t *trace.Tables, sets *Sets, groups *Groups) Contexts {
	return Contexts{t: t, sets: sets, groups: groups, index: map[Context]ContextID{}}
}

// Len is how many contexts there are so far.
func (cs *Contexts) Len() int { return len(cs.list) }

// Node is the context of a number. It is valid until another one is found.
func (cs *Contexts) Node(id ContextID) *Node { return &cs.list[id] }

// Find returns the number of a context, which may be new.
func (r *Replay) Find(c Context) ContextID { return r.Contexts.find(c, NoContext) }

// find returns the number of a context, which is entered from another one if it is new. A context
// that exists keeps its origin: goroutines that are started recursively begin in contexts that
// others enter, and with a later origin such a context would become its own ancestor. Whoever
// follows From could then not end.
func (cs *Contexts) find(c Context, from ContextID) ContextID {
	id, ok := cs.index[c]
	if !ok {
		id = ContextID(len(cs.list))
		cs.index[c] = id
		cs.list = append(cs.list, Node{Context: c, From: from, lastPoint: trace.NoPoint})
	}
	return id
}

// into is the context to which entering a procedure or loop leads.
func (cs *Contexts) into(from ContextID, point trace.PointID) ContextID {
	if n := &cs.list[from]; n.lastPoint == point {
		return n.lastContext
	}
	c := cs.list[from].Context
	set := cs.sets.With(c.Set, ProcMember(point))
	if cs.t.Points[point].Kind == spec.PointLoop {
		c.Set, c.Loop = set, point
	} else {
		if set != c.Set {
			c.Set, c.Inner = set, point
		}
		c.Proc, c.Loop = point, trace.NoPoint
	}
	id := cs.find(c, from)
	n := &cs.list[from]
	n.lastPoint, n.lastContext = point, id
	return id
}

// AfterInit is the context of the main goroutine that leaves initialization in another.
func (cs *Contexts) AfterInit(id ContextID) Context {
	c := cs.list[id].Context
	c.Set = cs.sets.With(cs.sets.With(0, RootMember(RootMain)), cs.groups.Member(mainGroup))
	return c
}

func (cs *Contexts) afterInit(id ContextID) ContextID { return cs.find(cs.AfterInit(id), NoContext) }
