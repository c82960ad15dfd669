package steps

import (
	"cmp"
	"maps"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// A wait for the network may be one for a goroutine of the same process: a test's server and its
// clients, the two ends of a pipe. Such a wait ends because another goroutine wrote, in a system
// call. Of connections between sockets the trace tells which ends belong together, and to which one
// a call writes. Of others the goroutine is found from many waits for one descriptor: each has a
// call of that goroutine in it, and each ends soon after the last one.

const (
	leastWithin = 8    // waits for a descriptor that are enough evidence
	mostWithin  = 0.95 // of them, those in which the other end has a call
	// soon is how long after a call waits end, as a share of the time from one call of that
	// goroutine to its next: by chance that is a third or more.
	soon       = 0.25
	mostCalls  = 64 // system calls that are looked back on
	candidates = 6  // goroutines with one of these
)

// network finds the waits for the network that end because a goroutine of the process wrote.
type network struct {
	*stepper
	last    [mostCalls]call // system calls, in a ring. There are none until a goroutine has waited for the network
	n       int
	by      map[G]int                 // how many each goroutine began
	replies map[trace.Address][]reply // by descriptor
	ends    ends
	accepts accepts
	written []written
}

// call is a system call that began.
type call struct {
	n    G
	step StepID // an Operate; 0: there is none
}

// calls notes that a goroutine begins a system call.
func (x *network) calls(g *replay.G, now trace.Time) {
	if x.by == nil && g.Writes == 0 {
		return
	}
	c := call{x.my(g).n, x.step(g, now, Step{Kind: Operate})}
	w := write{c.step, now}
	if x.ends.writes(g.Writes, w); x.by == nil {
		return
	}
	x.accepts.called(g.Slot, w)
	x.last[x.n%mostCalls] = c
	x.n++
	x.by[c.n]++
}

// begins notes that a goroutine begins to wait. System calls before the first wait for the network
// have no steps.
func (x *network) begins(w *replay.Wait) {
	if x.by == nil && w.Address != 0 && x.r.T.Reason(w.Reason) == "IO wait" {
		x.by, x.replies = map[G]int{}, map[trace.Address][]reply{}
	}
}

// joined notes an end of a connection, which a goroutine begins to use.
func (x *network) joined(g *replay.G, e trace.ConnectionEnd) {
	delete(x.accepts.users, x.ends.add(e)) // its other end was not the program's
	one, other, both := x.accepts.uses(g.Slot, e.Key)
	if !both {
		return
	}
	w, ok := one.joined(&other)
	if !ok {
		w, ok = other.joined(&one)
	}
	if ok {
		x.written = append(x.written, w)
	}
	for _, l := range []*line{&one, &other} {
		if w := l.dialed(); w != nil { // the connection was made when the wait began
			s := x.p.Step(w.step)
			s.number = int64(min(w.till-w.since, w.idle))
			s.At, w.step = w.since+trace.Time(s.number), 0
		}
	}
}

// reply is the end of a wait for a descriptor: its step, and the last call of each goroutine
// meanwhile. There may be one for each request of a long run.
type reply struct {
	take  StepID
	idle  trace.Time // how long before it a processor was idle
	calls [candidates]call
}

// by is a goroutine's call within the wait.
func (r *reply) by(n G) (call, bool) {
	i := slices.IndexFunc(r.calls[:], func(c call) bool { return c.step != 0 && c.n == n })
	if i < 0 {
		return call{}, false
	}
	return r.calls[i], true
}

// replied notes the end of a wait for the network, which was a goroutine's last step. idle is how
// long before it a processor was idle: data that had arrived before then waited for a processor.
func (x *network) replied(g *replay.G, w *replay.Wait, idle trace.Time) {
	if w.Address == 0 {
		return
	}
	m := x.my(g)
	if give, ok := x.ends.written(w.Address, w.Since); ok {
		x.written = append(x.written, written{m.last, give, idle})
		return
	}
	if x.by == nil {
		return // the trace has only the end of it
	}
	kind, end := x.accepts.kind(w, x.r.T), waited{m.last, w.Since, x.p.Step(m.last).At, idle}
	if x.accepts.ended(g.Slot, kind, end) {
		return
	}
	r, found := reply{take: m.last, idle: idle}, 0
	for i := x.n - 1; i >= 0 && i >= x.n-mostCalls && found < candidates; i-- {
		c := x.last[i%mostCalls]
		if x.p.Step(c.step).At < w.Since {
			break
		}
		if _, known := r.by(c.n); !known && c.n != m.n {
			r.calls[found] = c
			found++
		}
	}
	x.replies[w.Address] = append(x.replies[w.Address], r)
}

// connect makes waits for descriptors that goroutines of the process write to waits for these.
func (x *network) connect() {
	x.p.FirstWrite = x.p.Tokens
	for _, w := range x.written {
		x.joins(w)
	}
	for _, fd := range slices.Sorted(maps.Keys(x.replies)) {
		list := x.replies[fd]
		writer, ok := x.writer(list)
		if !ok {
			continue
		}
		for i := range list {
			c, ok := list[i].by(writer)
			if !ok {
				continue
			}
			x.joins(written{list[i].take, c.step, list[i].idle})
		}
	}
	x.replies, x.written = nil, nil
}

// joins makes a wait one for a goroutine's call.
func (x *network) joins(w written) {
	give, take := x.p.Step(w.give), x.p.Step(w.take)
	since := take.At - trace.Time(take.Lasts())
	way := min(take.At-give.At, w.idle)
	take.Kind, take.ref, take.At = Take, x.given(give), max(since, give.At+way)
	take.SetTransit(int64(way))
}

// writer is the goroutine at the other end of a descriptor.
func (x *network) writer(list []reply) (n G, ok bool) {
	if len(list) < leastWithin {
		return 0, false
	}
	after := map[G][]trace.Time{}
	for _, r := range list {
		for _, c := range r.calls {
			if c.step != 0 {
				after[c.n] = append(after[c.n], x.p.Step(r.take).At-x.p.Step(c.step).At)
			}
		}
	}
	first, last := x.p.Step(list[0].take), x.p.Step(list[len(list)-1].take)
	all := float64(last.At - first.At + trace.Time(first.Lasts()))
	least := trace.Time(0)
	for _, g := range slices.Sorted(maps.Keys(after)) {
		late := after[g]
		if float64(len(late)) < mostWithin*float64(len(list)) {
			continue
		}
		slices.SortFunc(late, cmp.Compare)
		middle := late[len(late)/2]
		if every := all / float64(max(1, x.by[g])); float64(middle) < soon*every && (!ok || middle < least) {
			n, ok, least = g, true, middle
		}
	}
	return n, ok
}
