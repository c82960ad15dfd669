package points

// Room for probes in the body of a range over a function. The compiler treats such a
// body as a function and may inline it. The probes must not end the inlining, so that
// their number is limited by the budget of such functions; see
// inlineClosureCalledOnceCost in cmd/compile/internal/inline.
const (
	bodyBudget = 800
	probeCost  = 70
	unbounded  = 1 << 30
)

// openBody is called before the points in such a body are placed. cost is the body's
// cost as the compiler reports it, 0 if the body is not inlined.
func (l *looper) openBody(cost int) {
	room := unbounded
	if cost > 0 {
		room = 0 // the body is within the budget of any function and must stay there
		if cost > 80 {
			room = max(0, (bodyBudget-cost)/probeCost)
		}
	}
	l.rooms = append(l.rooms, room)
}

func (l *looper) closeBody() { l.rooms = l.rooms[:len(l.rooms)-1] }

// room takes room for n probes and reports whether there was enough.
func (l *looper) room(n int) bool {
	for _, r := range l.rooms {
		if r < n {
			return false
		}
	}
	for i := range l.rooms {
		l.rooms[i] -= n
	}
	return true
}
