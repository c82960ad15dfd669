package steps

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// Packages without probes have WaitGroups, too, and channels for the same purpose. A goroutine that
// starts others, and goes on when the last of these ends, waits for all of them: in a computed run
// another one may be the last.

// What goroutines may do after they are done: a share of what they work, or some ns.
const (
	afterDone = 0.01
	shortly   = 5000
)

// awaiter finds such waits, of which no operations were seen. Each gets an object of its own.
type awaiter struct {
	*Program
	last map[Token]G  // tokens that goroutines give just before they end
	ends []trace.Time // of goroutines; -1: it has not ended
	left []G          // that the one at hand has started, and for which it did not wait yet
}

func (p *Program) awaited() {
	a := awaiter{Program: p, last: map[Token]G{}, ends: make([]trace.Time, len(p.Gs))}
	children := map[G][]G{}
	for i := range p.Gs {
		a.ended(G(i))
		if by := p.Gs[i].By; by >= 0 && p.Gs[i].Done == 0 {
			children[by] = append(children[by], G(i))
		}
	}
	for by := range p.Gs {
		if a.left = children[G(by)]; len(a.left) < 2 || p.Gs[by].System {
			continue
		}
		for id := p.Gs[by].First; id != 0; id = p.Step(id).Next {
			s := p.Step(id)
			if s.Kind != Take || p.Objects[s.Obj].complete() {
				continue
			}
			if g, ok := a.last[s.Token()]; ok {
				a.await(s, g)
			}
		}
	}
}

// group is that of a goroutine.
func (a *awaiter) group(g G) replay.GroupID { return a.R.Contexts.Node(a.Gs[g].Context).Group }

// ended notes when a goroutine ended, and what it gave then.
func (a *awaiter) ended(g G) {
	token, work, after := Token(0), int64(0), int64(0)
	a.ends[g] = -1
	for id := a.Gs[g].First; id != 0; id = a.Step(id).Next {
		s := a.Step(id)
		work, after = work+s.Work, after+s.Work
		switch s.Kind {
		case Give:
			token, after = s.Token(), 0
		case End:
			a.ends[g] = s.At
		}
	}
	if a.ends[g] >= 0 && token != 0 && float64(after) <= max(shortly, afterDone*float64(work)) {
		a.last[token] = g
	}
}

// await makes a wait that a goroutine ended one for all that the waiting one has started and that
// have ended by then, unless others like this one went on.
func (a *awaiter) await(s *Step, by G) {
	var members, rest []G
	own := false
	for i, g := range a.left {
		if a.Gs[g].Created >= s.At {
			rest = append(rest, a.left[i:]...)
			break
		}
		if a.ends[g] < 0 || a.ends[g] > a.ends[by] {
			if a.group(g) == a.group(by) {
				return
			}
			rest = append(rest, g)
			continue
		}
		members, own = append(members, g), own || g == by
	}
	if !own || len(members) < 2 {
		return
	}
	o := Object{Name: trace.NoPoint, Cap: -1}
	o.ops[Join], o.seen.goes = 1, true
	s.Obj, s.Op = ObjectID(len(a.Objects)), Join
	a.Objects = append(a.Objects, o)
	for _, g := range members {
		a.Gs[g].Done = s.Obj
	}
	a.left = rest
}
