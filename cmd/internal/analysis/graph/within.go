package graph

import (
	"cmp"
	"maps"
	"slices"

	"qinst.dev/cmd/internal/analysis/replay"
	"qinst.dev/cmd/internal/trace"
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
	candidates = 8  // goroutines with one of these
)

// call is a system call that began.
type call struct {
	n    int // in Program.Gs
	at   trace.Time
	step StepID // an Operate
}

// calls are the last ones, in a ring. There are none until somebody has waited for the network.
type calls struct {
	list [mostCalls]call
	n    int
	by   map[int]int // how many each goroutine began
}

// calling notes that a goroutine begins a system call.
func (b *builder) calling(g *replay.G, now trace.Time) {
	c := &b.calls
	if c.by == nil {
		return
	}
	n := b.my(g).n
	c.list[c.n%mostCalls] = call{n, now, b.step(g, now, Step{Kind: Operate})}
	c.n++
	c.by[n]++
}

// reply is the end of a wait for a descriptor.
type reply struct {
	take      StepID
	since, at trace.Time // it began, and ended
	calls     []call     // the last one of each goroutine meanwhile
}

// replied notes the end of a wait for the network, which was a goroutine's last step.
func (b *builder) replied(m *mine, w *replay.Wait, now trace.Time) {
	if w.Address == 0 {
		return
	}
	c := &b.calls
	if c.by == nil {
		c.by, b.replies = map[int]int{}, map[trace.Address][]reply{}
	}
	r := reply{take: m.last, since: w.Since, at: now}
	for i := c.n - 1; i >= 0 && i >= c.n-mostCalls && len(r.calls) < candidates; i-- {
		x := c.list[i%mostCalls]
		if x.at < w.Since {
			break
		}
		if x.n != m.n && !slices.ContainsFunc(r.calls, func(y call) bool { return y.n == x.n }) {
			r.calls = append(r.calls, x)
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
		for _, r := range list {
			i := slices.IndexFunc(r.calls, func(c call) bool { return c.n == writer })
			if i < 0 {
				continue
			}
			give, take := b.p.Step(r.calls[i].step), b.p.Step(r.take)
			if give.Kind == Operate {
				give.Kind, give.Arg = Give, uint32(b.p.Tokens)
				b.p.Tokens++
			}
			take.Kind, take.Arg, take.Wait = Take, give.Arg, int64(r.at-r.calls[i].at)
		}
	}
	b.replies = nil
}

// writer is the goroutine at the other end of a descriptor.
func (b *builder) writer(list []reply) (n int, ok bool) {
	if len(list) < leastWithin {
		return 0, false
	}
	behind := map[int][]trace.Time{}
	for _, r := range list {
		for _, c := range r.calls {
			behind[c.n] = append(behind[c.n], r.at-c.at)
		}
	}
	least := trace.Time(0)
	for _, g := range slices.Sorted(maps.Keys(behind)) {
		late := behind[g]
		if float64(len(late)) < mostWithin*float64(len(list)) {
			continue
		}
		slices.SortFunc(late, cmp.Compare)
		middle := late[len(late)/2]
		every := float64(list[len(list)-1].at-list[0].since) / float64(max(1, b.calls.by[g]))
		if float64(middle) < soon*every && (!ok || middle < least) {
			n, ok, least = g, true, middle
		}
	}
	return n, ok
}
