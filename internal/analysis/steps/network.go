package steps

import (
	"cmp"
	"maps"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// A wait for the network may be one for a goroutine of the same process: a test's server and its clients, the two ends of a pipe. Such a wait ends
// because another goroutine wrote, which the trace shows as a system call that is over soon before. Who it is follows from many waits
// for one descriptor: each has a call of that goroutine in it, and each ends soon after the last one.

const (
	leastWithin = 8    // waits for a descriptor that tell anything
	mostWithin  = 0.95 // of them, those in which the other end has a call
	// soon is how long behind a call waits end, as a share of the time from one call of that goroutine to its next: by chance that is a third or more.
	soon       = 0.25
	mostCalls  = 64 // system calls that are looked back on
	candidates = 6  // goroutines with one of these
)

// call is a system call that began.
type call struct {
	n    int32  // in Program.Gs
	step StepID // an Operate; 0: there is none
}

// calls are the last ones, in a ring. There are none until somebody has waited for the network.
type calls struct {
	list [mostCalls]call
	n    int
	by   map[int32]int // how many each goroutine began
}

// calling notes that a goroutine begins a system call.
func (b *builder) calling(g *replay.G, now trace.Time) {
	c := &b.calls
	if c.by == nil {
		return
	}
	x := call{int32(b.my(g).n), b.step(g, now, Step{Kind: Operate})}
	c.list[c.n%mostCalls] = x
	c.n++
	c.by[x.n]++
}

// reply is the end of a wait for a descriptor: its step, and the last call of each goroutine meanwhile. There may be one for each request of a long run.
type reply struct {
	take  StepID
	calls [candidates]call
}

// by is a goroutine's call within the wait.
func (r *reply) by(n int32) (call, bool) {
	i := slices.IndexFunc(r.calls[:], func(c call) bool { return c.step != 0 && c.n == n })
	if i < 0 {
		return call{}, false
	}
	return r.calls[i], true
}

// replied notes the end of a wait for the network, which was a goroutine's last step.
func (b *builder) replied(m *mine, w *replay.Wait) {
	if w.Address == 0 {
		return
	}
	c := &b.calls
	if c.by == nil {
		c.by, b.replies = map[int32]int{}, map[trace.Address][]reply{}
	}
	r, found := reply{take: m.last}, 0
	for i := c.n - 1; i >= 0 && i >= c.n-mostCalls && found < candidates; i-- {
		x := c.list[i%mostCalls]
		if b.p.Step(x.step).At < w.Since {
			break
		}
		if _, known := r.by(x.n); !known && int(x.n) != m.n {
			r.calls[found] = x
			found++
		}
	}
	b.replies[w.Address] = append(b.replies[w.Address], r)
}

// connect makes waits for descriptors that goroutines of the process write to waits for these.
func (b *builder) connect() {
	b.p.FirstWrite = uint32(b.p.Tokens)
	for _, fd := range slices.Sorted(maps.Keys(b.replies)) {
		list := b.replies[fd]
		writer, ok := b.writer(list)
		if !ok {
			continue
		}
		for i := range list {
			c, ok := list[i].by(writer)
			if !ok {
				continue
			}
			give, take := b.p.Step(c.step), b.p.Step(list[i].take)
			if give.Kind == Operate {
				give.Kind, give.Arg = Give, uint32(b.p.Tokens)
				b.p.Tokens++
			}
			take.Kind, take.Arg, take.Wait = Take, give.Arg, int64(take.At-give.At)
		}
	}
	b.replies = nil
}

// writer is the goroutine at the other end of a descriptor.
func (b *builder) writer(list []reply) (n int32, ok bool) {
	if len(list) < leastWithin {
		return 0, false
	}
	behind := map[int32][]trace.Time{}
	for _, r := range list {
		for _, c := range r.calls {
			if c.step != 0 {
				behind[c.n] = append(behind[c.n], b.p.Step(r.take).At-b.p.Step(c.step).At)
			}
		}
	}
	first, last := b.p.Step(list[0].take), b.p.Step(list[len(list)-1].take)
	all := float64(last.At - first.At + trace.Time(first.Wait))
	least := trace.Time(0)
	for _, g := range slices.Sorted(maps.Keys(behind)) {
		late := behind[g]
		if float64(len(late)) < mostWithin*float64(len(list)) {
			continue
		}
		slices.SortFunc(late, cmp.Compare)
		middle := late[len(late)/2]
		if every := all / float64(max(1, b.calls.by[g])); float64(middle) < soon*every && (!ok || middle < least) {
			n, ok, least = g, true, middle
		}
	}
	return n, ok
}
