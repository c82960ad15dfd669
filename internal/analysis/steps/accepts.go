package steps

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// accepts are the waits of listeners of the program for connections that it makes itself. That of a
// connection ends because a goroutine connects, in a system call. Which one that is, shows when
// both ends are used: by the goroutines that accepted and connected, or by such as these created
// for it. The system has connected them at once then, so that a wait for that is one for a
// processor that finds out.
type accepts struct {
	gs    bySlot[line]
	users map[uint64]line // of ends whose connection is not matched, by key
	kinds map[trace.StackID]waitKind
}

// waitKind is what a wait for the network is for.
type waitKind uint8

const (
	forData waitKind = iota
	toAccept
	toConnect
)

// line are a goroutine's own recent actions, and its creator's before it was created; nil: there
// are none, as in most programs.
type line [2]*recent

// recent are the last actions that may belong to one end of a connection.
type recent struct {
	wait  *waited // for a connection; nil: none
	dials *waited // until it is connected
	calls [mostDialed]write
	n     int
}

// mostDialed is how many system calls of a goroutine are looked back on. With one of them it
// connects; those after it ask for addresses and set options.
const mostDialed = 16

// waited is the end of a wait.
type waited struct {
	step        StepID // 0: it is known who ended it
	since, till trace.Time
	idle        trace.Time // how long before the end a processor was idle
}

// create notes that a goroutine is created.
func (x *accepts) create(g, by *replay.G) {
	l := line{}
	if by != nil {
		l[1] = x.gs.of(by.Slot)[0].now()
	}
	*x.gs.of(g.Slot) = l
}

// now is a copy, which later actions do not change.
func (r *recent) now() *recent {
	if r == nil {
		return nil
	}
	is := *r
	return &is
}

// own are a goroutine's own recent actions.
func (x *accepts) own(slot trace.Slot) *recent {
	l := x.gs.of(slot)
	if l[0] == nil {
		l[0] = &recent{}
	}
	return l[0]
}

// called notes a system call.
func (x *accepts) called(slot trace.Slot, w write) {
	own := x.own(slot)
	own.calls[own.n%mostDialed] = w
	own.n++
}

// kind is what a wait is for.
func (x *accepts) kind(w *replay.Wait, t *trace.Tables) waitKind {
	kind, known := x.kinds[w.Stack]
	if known || int(w.Stack) >= len(t.Stacks) {
		return kind
	}
	for _, f := range t.Stacks[w.Stack] {
		switch f.Function {
		case "internal/poll.(*FD).Accept":
			kind = toAccept
		case "net.(*netFD).connect":
			kind = toConnect
		}
	}
	if x.kinds == nil {
		x.kinds = map[trace.StackID]waitKind{}
	}
	x.kinds[w.Stack] = kind
	return kind
}

// ended notes the end of such a wait, and reports whether it is one for a connection of the
// program's own, or to be connected.
func (x *accepts) ended(slot trace.Slot, kind waitKind, w waited) bool {
	switch kind {
	case toAccept:
		x.own(slot).wait = &w
	case toConnect:
		x.own(slot).dials = &w
	}
	return kind != forData
}

// mostUsers bounds the ends of connections whose other end is not the program's.
const mostUsers = 1 << 12

// uses notes which goroutine uses an end first, and returns those of both ends, once they are
// known.
func (x *accepts) uses(slot trace.Slot, key uint64) (one, other line, both bool) {
	one = *x.gs.of(slot)
	if other, both = x.users[key^1]; both {
		delete(x.users, key^1)
		return one, other, true
	}
	if x.users == nil {
		x.users = map[uint64]line{}
	}
	if len(x.users) < mostUsers {
		x.users[key] = line{one[0].now(), one[1]}
	}
	return one, other, false
}

// joined finds the wait for a connection, which is at one end, and the call that ended it, at the
// other.
func (l *line) joined(by *line) (written, bool) {
	for i := range l {
		if l[i] == nil || l[i].wait == nil || l[i].wait.step == 0 {
			continue
		}
		w := l[i].wait
		for j := range by {
			if c, ok := by[j].within(w); ok {
				joined := written{w.step, c.step, w.idle}
				w.step = 0
				return joined, true
			}
		}
	}
	return written{}, false
}

// within is the last call during a wait.
func (r *recent) within(w *waited) (write, bool) {
	if r == nil {
		return write{}, false
	}
	for i := r.n - 1; i >= 0 && i >= r.n-mostDialed; i-- {
		if c := r.calls[i%mostDialed]; c.at < w.till {
			return c, c.at >= w.since
		}
	}
	return write{}, false
}

// dialed is the wait to be connected, which is at one end; nil: there was none.
func (l *line) dialed() *waited {
	for i := range l {
		if l[i] != nil && l[i].dials != nil && l[i].dials.step != 0 {
			return l[i].dials
		}
	}
	return nil
}
