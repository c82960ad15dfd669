package profile

import (
	"math"

	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

// gor is what the builder keeps of a live goroutine, by its slot.
type gor struct {
	place     int32 // index in builder.places
	base      int32 // likewise: where it started
	waits     int32 // likewise: while it waits, where
	spins     int32 // open loops that spin
	state     trace.State
	real      trace.State // but for virtual processors
	virtual   in
	reason    uint64 // of a wait
	since     int64  // ns: accounted up to here
	busyAt    int32  // index in builder.running while busy
	frames    []frame
	regions   []openRegion
	held      []heldLock // in the order in which they were taken
	lent      heldLock   // while it waits for a condition
	wokeAt    int64      // ns: it runs since it last waited
	woken     bool       // it does not yet
	did       operation  // the last one
	ran       int64      // ns busy
	sinceArea int64      // builder.area at since
	crowd     crowd      // builder.crowd at since
	past      history
	labels    int32 // index in spans.list, noProc if none
	inside    bool  // see within
	started   bool  // by one that was
	main      bool  // the main goroutine, whose procedure main.main ends the root "init"
	system    bool
}

// frame is what an enter must restore at its exit.
type frame struct {
	place int32
	spins int32
}

// noProc is the procedure of an empty profile stack.
const noProc = -1

// busy reports whether g works on a processor. Spinning is no work: while one
// goroutine spins, the others have the run to themselves.
func (g *gor) busy() bool { return g.state.Busy() && g.spins == 0 }

// builder accumulates a profile from the events of a trace.
type builder struct {
	t        *trace.Trace
	sets     *sets
	places   places
	groups   *groups
	objects  *objects
	spans    spans
	sampled  sampled
	within   *within // nil: all of the run
	virtual  *virtual
	pseudo   pseudo
	gc       collector
	line     timeline
	costs    costs
	condWait uint64       // the reason of waits for a condition
	given    *trace.Trace // of which t is a copy with pseudo procedures
	gs       []gor        // by slot
	running  []int32      // slots of the busy goroutines
	time     int64        // ns: the running ones are accounted up to here

	runnable     int64 // goroutines that are, on a processor or not
	runnableArea int64 // the integral of runnable up to runnableAt
	runnableAt   int64 // ns
	crowd        crowd
	stretched    Crowd // of the stretch at hand
	idleAt       int64 // ns: nobody has been busy since

	self       []Usage // by procedure, [len-1] for none
	selfInh    []int64 // of self's busy time: in goroutines that had not entered a procedure of their own
	groupSelf  []Usage // by group
	calls      []uint64
	trips      []uint64 // by loop
	spin       int64
	searched   int64
	atBusy     []int64 // by number of busy processors
	reasons    map[uint64]int64
	procs      int
	events     int64
	traced     int64 // of these enters and exits
	procNames  map[string]bool
	again      map[topIn]*Usage // of the sets' usage, where the innermost procedure is not the last
	mainMain   int32            // procedure main.main, noProc if it is not instrumented
	goroutines int64
	guesses    map[line]estimate
	busyTime   int64 // ns in which a processor was busy
}

func newBuilder(t *trace.Trace) *builder {
	given := t
	t, procs := withPseudo(given)
	b := &builder{given: given, t: t, pseudo: procs, gc: collector{markSince: -1, stopSince: -1}, costs: costsOf(t), line: newTimeline(t.Wall), sets: newSets(), reasons: map[uint64]int64{}, again: map[topIn]*Usage{}, mainMain: noProc,
		self: make([]Usage, len(t.Points)+1), selfInh: make([]int64, len(t.Points)+1), calls: make([]uint64, len(t.Points)), trips: make([]uint64, len(t.Points))}
	b.places.index = map[where]int32{}
	b.groups = newGroups(t)
	b.objects = newObjects(t)
	b.sampled = newSampled(t)
	b.condWait = math.MaxUint64 // none: codes begin at 0
	for code, s := range t.Reasons {
		if s == "sync.Cond.Wait" {
			b.condWait = code
		}
	}
	b.spans.index = map[[2]string]int32{}
	b.procNames = map[string]bool{}
	for i := range t.Points {
		if p := &t.Points[i]; p.Kind == spec.PointProc || p.Kind == spec.PointFunc {
			b.procNames[p.Name] = true
		}
		if p := &t.Points[i]; p.Kind == spec.PointProc && p.Name == "main.main" {
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
		b.enter(e.Slot, e.Time, int32(e.Arg))
	case trace.Exit:
		b.traced++
		b.exit(e.Slot, e.Time)
	case trace.Trips:
		if loop := b.at(&b.gs[e.Slot]).loop; loop != noProc {
			b.trips[loop] += e.Arg
		}
	case trace.Change:
		b.change(e)
	case trace.Create:
		b.create(e)
	case trace.Searched:
		b.searched += int64(e.Arg)
	case trace.Region:
		b.region(e)
	case trace.Named:
		b.rename(e)
	case trace.Labeled:
		b.label(e)
	case trace.Sync:
		b.operate(e)
	case trace.Sample:
		b.sample(e)
	case trace.Mark:
		b.mark(e)
	case trace.Spin:
		g := &b.gs[e.Slot]
		if e.Arg == 1 {
			b.turn(e.Slot, e.Time, g.state, g.spins+1)
		} else if g.spins > 0 {
			b.turn(e.Slot, e.Time, g.state, g.spins-1)
		}
	case trace.Procs:
		b.procs = max(b.procs, int(e.Arg))
	}
}

// at is the place where a goroutine is. It is valid until the next one is found.
func (b *builder) at(g *gor) *place { return &b.places.list[g.place] }

func (b *builder) enter(slot int32, now int64, proc int32) {
	g := &b.gs[slot]
	b.settle(g, now)
	if !b.out(g) {
		b.calls[proc]++
	}
	g.frames = append(g.frames, frame{g.place, g.spins})
	if g.main && proc == b.mainMain && len(g.frames) == 1 {
		// Initialization is over, for good: exits return here.
		g.place = b.places.find(b.afterInit(g.place))
		g.frames[0].place = g.place
	}
	b.places.list[g.place].halves++
	g.place = b.into(g.place, proc)
	b.places.list[g.place].halves++
	if b.t.Points[proc].Spins() {
		b.turn(slot, now, g.state, g.spins+1)
	}
}

// afterInit is where the main goroutine is that leaves initialization.
func (b *builder) afterInit(place int32) where {
	w := b.places.list[place].where
	w.set = b.sets.with(b.sets.with(0, rootMember(RootMain)), b.groups.mainMember())
	return w
}

func (b *builder) exit(slot int32, now int64) {
	if g := &b.gs[slot]; b.isPseudo(b.at(g).top) && len(g.frames) > 1 {
		b.leave(slot, now) // its own end is lost
	}
	b.at(&b.gs[slot]).halves++
	b.leave(slot, now)
	b.at(&b.gs[slot]).halves++
}

func (b *builder) leave(slot int32, now int64) {
	g := &b.gs[slot]
	b.settle(g, now)
	n := len(g.frames) - 1
	if n < 0 {
		return // the model balances enters and exits
	}
	f := g.frames[n]
	g.place = f.place
	g.frames = g.frames[:n]
	if f.spins != g.spins {
		b.turn(slot, now, g.state, f.spins)
	}
}

func (b *builder) create(e *trace.Event) {
	for int(e.Slot) >= len(b.gs) {
		b.gs = append(b.gs, gor{})
	}
	b.goroutines++
	b.line.alive.set(e.Time, b.line.alive.is+1)
	var by *gor
	if e.By != trace.NoSlot {
		by = &b.gs[e.By]
	}
	g := &b.gs[e.Slot]
	*g = gor{state: e.To, real: e.To, since: e.Time, labels: noProc, frames: g.frames[:0], held: g.held[:0], past: history{g.past.marks[:0]}}
	g.past.note(e.Time, 0)
	g.sinceArea = b.area(e.Time)
	g.crowd = b.crowd
	g.state = b.virtualState(g, e.To)
	if runnable(g.state) {
		b.countRunnable(e.Time, 1)
	}
	if by != nil {
		g.labels, g.started = by.labels, by.inside
		b.look(g)
	}
	w, parent := where{top: noProc, inner: noProc, loop: noProc}, (*where)(nil)
	if by != nil {
		at := by.place
		if e.Aux != 0 {
			if w := b.follow(by, int32(e.Aux)); w.told == at {
				at = w.all
			}
		}
		parent = &b.places.list[at].where
	}
	g.system = b.groups.place(b.sets, &w, parent, e)
	if b.groups.works(w.group) {
		w.top, w.inner = b.pseudo.worker, b.pseudo.worker
		w.set = b.sets.with(w.set, b.groups.procMember(b.pseudo.worker))
		b.calls[b.pseudo.worker]++
	}
	g.place = b.places.find(w)
	g.base, g.waits = g.place, g.place
	for len(b.groupSelf) < len(b.groups.list) {
		b.groupSelf = append(b.groupSelf, Usage{})
	}
	g.main = e.G == 1 && b.mainMain != noProc
}

func (b *builder) change(e *trace.Event) {
	g := &b.gs[e.Slot]
	g.real = e.To
	b.turn(e.Slot, e.Time, b.virtualState(g, e.To), g.spins)
	switch {
	case e.To == trace.Running:
		if g.woken {
			g.wokeAt, g.woken = e.Time, false
		}
		b.regain(e.Slot, e.Time)
	case e.To == trace.Waiting && e.Arg == b.condWait:
		b.lend(e.Slot, e.Time)
	case e.To == trace.None:
		b.dies(e.Slot, e.Time)
		b.lived(g)
		b.line.alive.set(e.Time, b.line.alive.is-1)
	}
	g.reason = e.Arg
	if e.To == trace.Waiting {
		g.woken = true
		g.waits = b.waitsAt(g, e.Aux)
	}
	if !g.system && (e.To != trace.Waiting || !b.out(g) && !g.token()) {
		b.objects.change(e, b.places.list[g.waits].top, b.ender(e))
	}
}

// lived notes how long a goroutine was busy in all.
func (b *builder) lived(g *gor) {
	group := &b.groups.list[b.at(g).group]
	group.longest = max(group.longest, g.ran)
}

// ender is who ended a wait, if that is what the event tells.
func (b *builder) ender(e *trace.Event) ender {
	if e.By == trace.NoSlot {
		return ender{by: -2 - int32(e.Cause), slot: trace.NoSlot}
	}
	by := &b.gs[e.By]
	b.settle(by, e.Time)
	return ender{b.wakes(by, e), by, e.By}
}

// turn changes what a goroutine does.
func (b *builder) turn(slot int32, now int64, to trace.State, spins int32) {
	g := &b.gs[slot]
	was, is := g.busy(), to.Busy() && spins == 0
	if was != is {
		// The number of busy processors changes: everyone's time so far
		// was at the old number.
		b.advance(now)
	}
	b.settle(g, now)
	if a, z := runnable(g.state), runnable(to); a != z {
		d := int64(1)
		if a {
			d = -1
		}
		b.countRunnable(now, d)
	}
	g.state, g.spins = to, spins
	if was != is {
		g.past.note(now, g.ran)
	}
	switch {
	case is && !was:
		if len(b.running) == 0 {
			b.endIdle(g, now-b.idleAt)
		}
		g.busyAt = int32(len(b.running))
		b.running = append(b.running, slot)
		b.line.busy.set(now, float64(len(b.running)))
	case was && !is:
		last := b.running[len(b.running)-1]
		b.running[g.busyAt] = last
		b.gs[last].busyAt = g.busyAt
		b.running = b.running[:len(b.running)-1]
		b.line.busy.set(now, float64(len(b.running)))
		b.idleAt = now
	}
}

// endIdle charges a time in which nobody was busy to the goroutine that ends it.
func (b *builder) endIdle(g *gor, ns int64) {
	if b.out(g) {
		b.within.outside.Idle += ns
		return
	}
	b.at(g).usage.Idle += ns
}

// runnable reports whether a goroutine is, on a processor or without one.
func runnable(s trace.State) bool { return s.Busy() || s == trace.Runnable }

// area is the integral of the number of runnable goroutines up to now, in ns.
func (b *builder) area(now int64) int64 { return b.runnableArea + b.runnable*(now-b.runnableAt) }

// crowd follows the times by the number of runnable goroutines.
type crowd struct {
	times Crowd // up to from
	from  int64 // ns: since then the number is what it is
	is    int   // index of it
	n     int64 // changes so far
}

// until are the times up to now.
func (c *crowd) until(now int64) Crowd {
	t := c.times
	t[c.is] += now - c.from
	return t
}

// crowdOver sets what a stretch of a goroutine is by the number of runnable goroutines:
// mostly that did not change.
func (b *builder) crowdOver(s *stretch, g *gor, now int64) {
	if g.crowd.n == b.crowd.n {
		s.at = b.crowd.is
		return
	}
	before := g.crowd.until(now - s.ns)
	after := b.crowd.until(now)
	for i := range after {
		b.stretched[i] = after[i] - before[i]
	}
	s.crowd = &b.stretched
	g.crowd = b.crowd
}

func (b *builder) countRunnable(now, d int64) {
	b.crowd = crowd{b.crowd.until(now), now, crowdOf(b.runnable + d), b.crowd.n + 1}
	b.runnableArea, b.runnableAt = b.area(now), now
	b.runnable += d
	b.line.runnable.set(now, float64(b.runnable))
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
	area := b.area(now)
	s := stretch{busy: len(b.running), ns: dt, runnable: area - g.sinceArea}
	b.crowdOver(&s, g, now)
	g.sinceArea = area
	if g.busy() {
		g.ran += dt
	}
	if b.out(g) {
		b.within.outside.spend(g, s)
		return
	}
	at := g.place
	if g.state == trace.Waiting {
		at = g.waits
	}
	b.places.list[at].usage.spend(g, s)
	if len(g.regions) > 0 || g.labels != noProc {
		b.spendNamed(g, s)
	}
	if len(g.held) > 0 {
		b.spendHeld(g, s)
	}
	switch {
	case g.busy() && len(g.frames) == 0:
		self := len(b.selfInh) - 1
		if top := b.at(g).top; top != noProc {
			self = int(top)
		}
		b.selfInh[self] += dt
	case g.state.Busy() && g.spins > 0:
		b.spin += dt
	case g.state == trace.Waiting && !g.system:
		b.reasons[g.reason] += dt
	}
}

// finish accounts up to the end of the trace.
func (b *builder) finish() {
	b.advance(b.t.Wall)
	for i := range b.gs {
		if g := &b.gs[i]; g.state != trace.None {
			b.settle(g, b.t.Wall)
			b.lived(g)
		}
	}
	copy(b.t.Points, b.given.Points) // what reading the events has found out
	b.takeProbes()
	b.divide()
	b.takeCounts()
	b.takeCalls()
	if len(b.atBusy) > 0 {
		b.busyTime = b.t.Wall - b.atBusy[0]
	}
	b.guesses = b.estimates()
	b.give()
}
