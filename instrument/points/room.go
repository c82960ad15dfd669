package points

// The body of a range over a function is a function to the compiler. One that it
// inlines must stay so: it has room for as many probes as the budget of such
// functions leaves; see cmd/compile/internal/inline, inlineClosureCalledOnceCost.
const (
	bodyBudget = 800
	probeCost  = 70
	unbounded  = 1 << 30
)

// openBody is called before the points in such a body are placed; cost is what the
// compiler says of it, 0 if it is not inlined.
func (l *looper) openBody(cost int) {
	room := unbounded
	if cost > 0 {
		room = 0 // within the budget of any function, and to stay there
		if cost > 80 {
			room = max(0, (bodyBudget-cost)/probeCost)
		}
	}
	l.rooms = append(l.rooms, room)
}

func (l *looper) closeBody() { l.rooms = l.rooms[:len(l.rooms)-1] }

// room takes room for n probes, if there is that much.
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
