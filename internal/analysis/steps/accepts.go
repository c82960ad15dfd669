package steps

import (
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// accepts are the waits of listeners of the program for connections that it makes itself. That of a
// connection ends because a goroutine connects, in a system call. Which one that is, shows when
// both ends are used: by the goroutines that accepted and connected, or by such as these created
// for it.
type accepts struct {
	gs    bySlot[line]
	users map[uint64]line // of ends whose connection is not matched, by key
	calls map[trace.StackID]bool
}

// line are a goroutine's own recent actions, and its creator's before it was created.
type line [2]recent

// recent are the last actions that may belong to one end of a connection.
type recent struct {
	wait  *accept // for a connection; nil: none
	calls [mostDialed]write
	n     int
}

// mostDialed is how many system calls of a goroutine are looked back on. With one of them it
// connects; those after it ask for addresses and set options.
const mostDialed = 16

// accept is the end of a wait for a connection.
type accept struct {
	take        StepID // 0: it is known who ended it
	since, till trace.Time
}

// create notes that a goroutine is created.
func (x *accepts) create(g, by *replay.G) {
	l := x.gs.of(g.Slot)
	if *l = (line{}); by != nil {
		x.gs.of(g.Slot)[1] = x.gs.of(by.Slot)[0]
	}
}

// called notes a system call.
func (x *accepts) called(slot trace.Slot, w write) {
	own := &x.gs.of(slot)[0]
	own.calls[own.n%mostDialed] = w
	own.n++
}

// is reports whether a wait is for a connection.
func (x *accepts) is(w *replay.Wait, t *trace.Tables) bool {
	is, known := x.calls[w.Stack]
	if !known && int(w.Stack) < len(t.Stacks) {
		is = slices.ContainsFunc(t.Stacks[w.Stack], func(f trace.Frame) bool {
			return f.Function == "internal/poll.(*FD).Accept"
		})
		if x.calls == nil {
			x.calls = map[trace.StackID]bool{}
		}
		x.calls[w.Stack] = is
	}
	return is
}

// accepted notes the end of such a wait.
func (x *accepts) accepted(slot trace.Slot, a accept) { x.gs.of(slot)[0].wait = &a }

// uses notes which goroutine uses an end first. Once both are used, the wait for this connection may
// be known: the one end is that of who waited, the other that of a call meanwhile.
func (x *accepts) uses(slot trace.Slot, key uint64) (written, bool) {
	l := *x.gs.of(slot)
	other, ok := x.users[key^1]
	if !ok {
		if x.users == nil {
			x.users = map[uint64]line{}
		}
		if len(x.users) < mostUsers {
			x.users[key] = l
		}
		return written{}, false
	}
	delete(x.users, key^1)
	if w, ok := l.ended(&other); ok {
		return w, true
	}
	return other.ended(&l)
}

// mostUsers bounds those of connections whose other end is not the program's.
const mostUsers = 1 << 12

// ended finds a wait for a connection, and the call of another line that ended it.
func (l *line) ended(by *line) (written, bool) {
	for i := range l {
		a := l[i].wait
		if a == nil || a.take == 0 {
			continue
		}
		for j := range by {
			if w, ok := by[j].within(a); ok {
				taken := written{a.take, w.step}
				a.take = 0
				return taken, true
			}
		}
	}
	return written{}, false
}

// within is the last call during a wait.
func (r *recent) within(a *accept) (write, bool) {
	for i := r.n - 1; i >= 0 && i >= r.n-mostDialed; i-- {
		if w := r.calls[i%mostDialed]; w.at < a.till {
			return w, w.at >= a.since
		}
	}
	return write{}, false
}
