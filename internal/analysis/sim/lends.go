package sim

import "qinst.dev/internal/analysis/steps"

// Lends returns those of some channels that lend their items: who receives one sends one back, and
// nobody else sends more than fill the channel. The items are permits, or things of which there are
// only so many.
func Lends(p *steps.Program, of map[steps.ObjectID]bool) map[steps.ObjectID]bool {
	type use struct{ lent, back, kept, filled int }
	uses := map[steps.ObjectID]*use{}
	for g := range p.Gs {
		has := map[steps.ObjectID]bool{}
		for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
			s := p.Step(id)
			if !of[s.Obj] || s.Op != steps.Receive && s.Op != steps.Send {
				continue
			}
			u := uses[s.Obj]
			if u == nil {
				u = new(use)
				uses[s.Obj] = u
			}
			switch had := has[s.Obj]; {
			case s.Op == steps.Receive && had:
				u.kept++
			case s.Op == steps.Receive:
				u.lent++
			case had:
				u.back++
			default:
				u.filled++
			}
			has[s.Obj] = s.Op == steps.Receive
		}
	}
	lends := map[steps.ObjectID]bool{}
	for id, u := range uses {
		// at the end some may still have theirs
		nearly := u.kept+u.lent-u.back <= 1+u.lent/mostKept
		if u.lent >= fewLent && nearly && u.filled <= p.Objects[id].Cap {
			lends[id] = true
		}
	}
	return lends
}

// A channel lends if it did so a few times, and of so many items all but one come back.
const (
	fewLent  = 4
	mostKept = 20
)
