package steps

import (
	"slices"

	"qinst.dev/internal/trace"
)

// The waits for an object are decided by its operations ([Object.Free]) or by the recorded order.
// Here programs get the latter for more objects.

// Partly reports whether there are locks with unseen operations.
func (p *Program) Partly() bool {
	return slices.ContainsFunc(p.Objects, func(o Object) bool { return !o.Free && o.locks() > 0 })
}

// Repeats reports whether waits of the program's goroutines for what others have done are in the
// order of the run, because operations do not decide them. Those for locks do not count: who gets a
// lock earlier has nothing less to wait for.
func (p *Program) Repeats() bool {
	for g := range p.Gs {
		if p.Gs[g].System {
			continue
		}
		for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
			if s := p.Step(id); s.Kind == Take && s.Token() != 0 && !p.Objects[s.Obj].Free &&
				p.Objects[s.Obj].locks() == 0 {
				return true
			}
		}
	}
	return false
}

// missed is the number of operations without an event of locks that are not given up, the number of
// all their operations, and the name of the lock with the most such operations.
func (p *Program) missed() (n, of int64, name trace.PointID) {
	most := int64(0)
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Free && o.seen.missed > 0 && o.Name != trace.NoPoint {
			n, of = n+o.seen.missed, of+o.locks()
			if o.seen.missed > most {
				most, name = o.seen.missed, o.Name
			}
		}
	}
	return n, of, name
}

// Fix lets the order of the run decide for all objects, and returns those for which it did not
// before.
func (p *Program) Fix() (free []ObjectID) {
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Free {
			o.Free = false
			free = append(free, ObjectID(i))
		}
	}
	return free
}

// WaitedFor is how long goroutines waited for each object in the recorded run, in ns, all together.
func (p *Program) WaitedFor() []int64 {
	list := make([]int64, len(p.Objects))
	for g := range p.Gs {
		at := p.Gs[g].Created
		for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
			s := p.Step(id)
			if s.Kind == Take {
				list[s.Obj] += int64(s.At-at) - s.Work
			}
			at = s.At
		}
	}
	return list
}

// Ordered returns the same program, in which the order of the run decides for some objects more, or
// for all, and whether that is another one.
func (p *Program) Ordered(list []ObjectID, all bool) (next *Program, changed bool) {
	same := *p
	same.Objects = slices.Clone(p.Objects)
	if all {
		return &same, len(same.Fix()) > 0
	}
	for _, id := range list {
		o := &same.Objects[id]
		o.Free, changed = false, changed || o.Free
	}
	return &same, changed
}

// KeepReceives lets the order of the run decide who gets what from channels with several senders or
// receivers.
func (p *Program) KeepReceives() {
	type user struct {
		id ObjectID
		op Op
	}
	first := map[user]int{}
	for g := range p.Gs {
		for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
			s := p.Step(id)
			if s.Op != Send && s.Op != Receive {
				continue
			}
			if by, ok := first[user{s.Obj, s.Op}]; ok && by != g {
				p.Objects[s.Obj].Free = false
			}
			first[user{s.Obj, s.Op}] = g
		}
	}
}
