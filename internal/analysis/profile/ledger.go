package profile

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// ledger records usage by context. Procedures, loops, groups and sets get theirs when the whole
// trace has been read.
type ledger struct {
	r        *replay.Replay
	contexts []Usage // by context
	self     []Usage // by procedure, [len-1] for none
	groups   []Usage
	sets     []*Usage         // nil: none; most sets are only on the way to others
	again    map[topIn]*Usage // of a set's usage, the part whose innermost procedure is not its last one
}

func newLedger(r *replay.Replay) *ledger {
	return &ledger{r: r, self: make([]Usage, len(r.T.Points)+1), again: map[topIn]*Usage{}}
}

// at is the usage of a context. It is valid until another one is asked for.
func (l *ledger) at(id replay.ContextID) *Usage {
	for int(id) >= len(l.contexts) {
		l.contexts = append(l.contexts, Usage{})
	}
	return &l.contexts[id]
}

// all makes room for every context, and returns their number.
func (l *ledger) all() replay.ContextID {
	n := replay.ContextID(l.r.Contexts.Len())
	if n > 0 {
		l.at(n - 1)
	}
	return n
}

// give adds the usage of all contexts to their procedures, loops, groups and sets.
func (l *ledger) give() {
	l.groups = make([]Usage, l.r.Groups.Len())
	l.sets = make([]*Usage, l.r.Sets.Len())
	for id := range l.all() {
		u, n := l.at(id), l.r.Contexts.Node(id)
		l.selfOf(n.Proc).add(u)
		l.set(n.Set).add(u)
		if n.Group != replay.NoGroup {
			l.groups[n.Group].add(u)
		}
		if n.Loop != trace.NoPoint {
			l.self[n.Loop].add(u)
		}
		if n.Inner != n.Proc {
			l.inAgain(&n.Context).add(u)
		}
	}
}

// selfOf is the usage of a procedure, or of none.
func (l *ledger) selfOf(p trace.PointID) *Usage {
	if p == trace.NoPoint {
		return &l.self[len(l.self)-1]
	}
	return &l.self[p]
}

// set is the usage of a set itself.
func (l *ledger) set(id replay.SetID) *Usage {
	if l.sets[id] == nil {
		l.sets[id] = new(Usage)
	}
	return l.sets[id]
}

// topIn is a procedure that is the innermost one and also occurs further out on its path.
type topIn struct {
	set replay.SetID
	top trace.PointID
}

// inAgain returns the usage for a context whose innermost procedure occurs twice on the path and
// is therefore not the last one of its set.
func (l *ledger) inAgain(c *replay.Context) *Usage {
	k := topIn{c.Set, c.Proc}
	u := l.again[k]
	if u == nil {
		u = new(Usage)
		l.again[k] = u
	}
	return u
}

// inclusive returns for each member the usage of all sets that contain it.
func (l *ledger) inclusive() []Usage {
	out := make([]Usage, int(l.r.Groups.Member(replay.GroupID(l.r.Groups.Len()))))
	l.subtrees(func(set replay.SetID, all *Usage) { out[l.r.Sets.Last(set)].add(all) })
	return out
}

// called returns for each procedure and loop the processor time of its activations, in ns: with
// what they called, and without goroutines that they started. all is the usage with these.
func (l *ledger) called(all []Usage) []int64 {
	out, total := make([]int64, len(l.r.T.Points)), make([]int64, len(l.sets))
	for id := replay.SetID(len(l.sets) - 1); id > 0; id-- {
		if u := l.sets[id]; u != nil {
			total[id] += u.Busy()
		}
		if p := l.r.Sets.Last(id).Point(); p >= 0 && int(p) < len(out) { // else it begins a goroutine
			out[p] += total[id]
			total[l.r.Sets.Parent(id)] += total[id]
		}
	}
	// A procedure that is entered again in a goroutine that it has started is on the path once, on
	// the other side. All that such goroutines do is its own, then.
	for k := range l.again {
		if k.top != trace.NoPoint && l.beyond(k) {
			out[k.top] = all[replay.ProcMember(k.top)].Busy()
		}
	}
	return out
}

// beyond reports whether a goroutine begins on a path after a procedure's first entry.
func (l *ledger) beyond(k topIn) bool {
	for set := k.set; set != 0; set = l.r.Sets.Parent(set) {
		switch p := l.r.Sets.Last(set).Point(); {
		case p == k.top:
			return false
		case p < 0 || int(p) >= len(l.r.T.Points):
			return true
		}
	}
	return false
}

// subtrees visits every set except the empty one with its usage and that of its extensions.
// Children have larger numbers than their parents, so one pass from the end adds up each subtree.
func (l *ledger) subtrees(visit func(set replay.SetID, all *Usage)) {
	total := make([]*Usage, len(l.sets))
	add := func(set replay.SetID, u *Usage) {
		if total[set] == nil {
			total[set] = new(Usage)
		}
		total[set].add(u)
	}
	for id := replay.SetID(len(l.sets) - 1); id > 0; id-- {
		if u := l.sets[id]; u != nil {
			add(id, u)
		}
		if all := total[id]; all != nil {
			visit(id, all)
			add(l.r.Sets.Parent(id), all)
			total[id] = nil
		}
	}
}

func isCall(pt *trace.Point) bool { return pt.Kind == spec.PointCall || pt.Kind == spec.PointGo }
