package profile

import (
	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

// gor is what the builder keeps of a live goroutine, by its slot.
type gor struct {
	set    setID
	top    int32 // procedure that self time goes to, noProc if none
	state  trace.State
	reason uint64 // of a wait
	since  int64  // ns: accounted up to here
	busyAt int32  // index in builder.running while busy
	group  int32  // index in groups.list
	frames []frame
	main   bool // the main goroutine, whose procedure main.main ends the root "init"
	system bool
}

// frame is what an enter must restore at its exit.
type frame struct {
	set setID
	top int32
}

// noProc is the procedure of an empty profile stack.
const noProc = -1

// builder accumulates a profile from the events of a trace.
type builder struct {
	t       *trace.Trace
	sets    *sets
	groups  *groups
	gs      []gor   // by slot
	running []int32 // slots of the busy goroutines
	time    int64   // ns: the running ones are accounted up to here

	self       []Usage // by procedure, [len-1] for none
	selfInh    []int64 // of self's busy time: in goroutines that had not entered a procedure of their own
	groupSelf  []Usage // by group
	calls      []uint64
	atBusy     []int64 // by number of busy processors
	reasons    map[uint64]int64
	procs      int
	events     int64
	traced     int64 // of these enters and exits
	mainMain   int32 // procedure main.main, noProc if it is not instrumented
	goroutines int64
}

func newBuilder(t *trace.Trace) *builder {
	b := &builder{t: t, sets: newSets(), reasons: map[uint64]int64{}, mainMain: noProc,
		self: make([]Usage, len(t.Points)+1), selfInh: make([]int64, len(t.Points)+1), calls: make([]uint64, len(t.Points))}
	b.groups = newGroups(t)
	for i := range t.Points {
		if p := &t.Points[i]; p.Kind == spec.PointProc && p.Symbol() == "main.main" {
			b.mainMain = int32(i)
		}
	}
	return b
}

func (b *builder) batch(events []trace.Event) error {
	for i := range events {
		b.event(&events[i])
	}
	return nil
}

func (b *builder) event(e *trace.Event) {
	b.events++
	switch e.Kind {
	case trace.Enter:
		b.traced++
		g := &b.gs[e.Slot]
		b.settle(g, e.Time)
		b.enter(g, int32(e.Arg))
	case trace.Exit:
		b.traced++
		g := &b.gs[e.Slot]
		b.settle(g, e.Time)
		b.exit(g)
	case trace.Change:
		b.change(e)
	case trace.Create:
		b.create(e)
	case trace.Procs:
		b.procs = max(b.procs, int(e.Arg))
	}
}

func (b *builder) enter(g *gor, proc int32) {
	b.calls[proc]++
	g.frames = append(g.frames, frame{g.set, g.top})
	if g.main && proc == b.mainMain && len(g.frames) == 1 {
		// Initialization is over, for good: exits return here.
		g.set = b.sets.with(b.sets.with(0, rootMember(RootMain)), b.groups.mainMember())
		g.frames[0].set = g.set
	}
	g.set = b.sets.with(g.set, b.groups.procMember(proc))
	g.top = proc
}

func (b *builder) exit(g *gor) {
	n := len(g.frames) - 1
	if n < 0 {
		return // the model balances enters and exits
	}
	g.set, g.top = g.frames[n].set, g.frames[n].top
	g.frames = g.frames[:n]
}

func (b *builder) create(e *trace.Event) {
	for int(e.Slot) >= len(b.gs) {
		b.gs = append(b.gs, gor{})
	}
	b.goroutines++
	var by *gor
	if e.By != trace.NoSlot {
		by = &b.gs[e.By]
	}
	g := &b.gs[e.Slot]
	frames := g.frames[:0]
	*g = gor{state: e.To, since: e.Time, top: noProc, frames: frames}
	b.groups.place(b.sets, g, by, e)
	for len(b.groupSelf) < len(b.groups.list) {
		b.groupSelf = append(b.groupSelf, Usage{})
	}
	g.main = e.G == 1 && b.mainMain != noProc
}

func (b *builder) change(e *trace.Event) {
	g := &b.gs[e.Slot]
	was, is := e.From.Busy(), e.To.Busy()
	if was != is {
		// The number of busy processors changes: everyone's time so far
		// was at the old number.
		b.advance(e.Time)
	}
	b.settle(g, e.Time)
	g.state, g.reason = e.To, e.Arg
	switch {
	case is && !was:
		g.busyAt = int32(len(b.running))
		b.running = append(b.running, e.Slot)
	case was && !is:
		last := b.running[len(b.running)-1]
		b.running[g.busyAt] = last
		b.gs[last].busyAt = g.busyAt
		b.running = b.running[:len(b.running)-1]
	}
}

// advance accounts the time of all busy goroutines up to now.
func (b *builder) advance(now int64) {
	if now == b.time {
		return
	}
	for _, slot := range b.running {
		b.settle(&b.gs[slot], now)
	}
	i := len(b.running)
	for i >= len(b.atBusy) {
		b.atBusy = append(b.atBusy, 0)
	}
	b.atBusy[i] += now - b.time
	b.time = now
}

// settle accounts a goroutine's time since it was last accounted: to the procedure
// on top of its profile stack, and to the set of those on it.
func (b *builder) settle(g *gor, now int64) {
	dt := now - g.since
	if dt == 0 {
		return
	}
	g.since = now
	self := len(b.self) - 1
	if g.top != noProc {
		self = int(g.top)
	}
	us, un, ug := &b.self[self], &b.sets.nodes[g.set].usage, &b.groupSelf[g.group]
	switch g.state {
	case trace.Running, trace.Syscall:
		i := len(b.running)
		us.busy(i, dt)
		un.busy(i, dt)
		ug.busy(i, dt)
		if len(g.frames) == 0 {
			b.selfInh[self] += dt
		}
	case trace.Runnable:
		us.Ready += dt
		un.Ready += dt
		ug.Ready += dt
	case trace.Waiting:
		us.Blocked += dt
		un.Blocked += dt
		ug.Blocked += dt
		if !g.system {
			b.reasons[g.reason] += dt
		}
	case trace.Blocked:
		us.Syscall += dt
		un.Syscall += dt
		ug.Syscall += dt
	}
}

// finish accounts up to the end of the trace.
func (b *builder) finish() {
	b.advance(b.t.Wall)
	for i := range b.gs {
		if g := &b.gs[i]; g.state != trace.None {
			b.settle(g, b.t.Wall)
		}
	}
}
