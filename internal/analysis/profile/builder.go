package profile

import (
	"fmt"

	"qinst.dev/internal/analysis/price"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// builder is the visitor that accumulates a profile. It accounts every segment of a goroutine's
// time.
type builder struct {
	replay.Nop
	r        *replay.Replay
	wall     trace.Time
	gs       []mine // by slot
	ledger   *ledger
	parallel parallel
	objects  *objects
	blame    *blame
	named    *named
	samples  samples
	within   *within // nil: the whole run
	gc       collector
	memory   memory
	idled    idled
	totals   totals
}

// mine is the profile's state of a live goroutine.
type mine struct {
	since   since
	alone   int64 // of alone.ns, accounted
	held    bool  // it could run, but for the garbage collector
	past    history
	spun    int64      // ns for a mutex, of which the next operation tells
	uses    []*lockUse // of its locks: the point's, or its own until it certainly belongs to the point
	waits   bool       // and the wait counts
	queue   *queue     // in which it waits; nil if the object is known only at the end of the wait
	woken   woken      // since its wait has ended and it does not run yet
	again   again
	woke    idleKey    // its last wait, or system call without a processor
	wokeAt  trace.Time // the end of that
	calling callPlace  // its system call, as far as samples show
	inside  bool       // see within
	started bool       // by one that was
}

// woken is what a wait has ended in: the sum that it is in, and the queue; nil: none.
type woken struct {
	sum   *waitSum
	queue *queue
}

// startedIn is who started goroutines of a group; NoPoint: no procedure.
type startedIn struct {
	proc  trace.PointID
	group replay.GroupID
}

// totals are sums over the run, or over the part of it that the profile is restricted to.
type totals struct {
	started map[startedIn]int64 // its busy time in goroutines that had not entered a procedure of their own
	calls   []uint64            // by procedure or loop: entries
	trips   []uint64            // by loop
	tripsOf []uint64            // by loop: entries that told them
	// most processor time of one of a group's goroutines, as far as the system gave it
	longest    map[replay.GroupID]int64
	got        map[replay.GroupID]int64 // that of all of them
	reasons    map[trace.ReasonID]int64 // ns waited
	left       left
	lives      map[replay.GroupID]lives
	spin       int64
	searched   int64
	goroutines int64
	paid       paid
	off        Off
	doubts     doubts
}

func newBuilder(source trace.Source, in Within) *builder {
	r := replay.New(source, replay.Options{VirtualProcs: in.Procs})
	points := len(r.T.Points)
	b := &builder{r: r, wall: source.Wall(), ledger: newLedger(r), objects: newObjects(r), blame: newBlame(r),
		named: &named{r: r}, samples: newSamples(r),
		within: newWithin(in, r.Spans), gc: collector{markSince: -1, stopSince: -1}, memory: newMemory(r),
		parallel: parallel{line: newTimeline(source.Wall())}, idled: idled{},
		totals: totals{started: map[startedIn]int64{}, calls: make([]uint64, points),
			trips: make([]uint64, points), tripsOf: make([]uint64, points),
			longest: map[replay.GroupID]int64{}, got: map[replay.GroupID]int64{}, reasons: map[trace.ReasonID]int64{},
			left: left{r, map[leftKey]*Left{}}, lives: map[replay.GroupID]lives{}}}
	b.objects.busy = &b.parallel.busy
	return b
}

// end ends the reading of the trace.
func (b *builder) end() error {
	if s := b.r.Spans.Find(replay.Span{Name: replay.VirtualRun}); b.virtual() &&
		(s == replay.NoSpan || b.named.of(s).count == 0) {
		return fmt.Errorf("found no region %q: the program's processors are not virtual", replay.VirtualRun)
	}
	b.finish()
	return nil
}

func (b *builder) virtual() bool { return b.r.Virtual() }

// out reports whether a goroutine's time is not asked for.
func (b *builder) out(m *mine) bool { return b.within != nil && !m.inside }

// look determines whether a goroutine is inside. It must be called after the goroutine's regions
// or labels have changed.
func (b *builder) look(g *replay.G) {
	if b.within != nil {
		m := &b.gs[g.Slot]
		in := b.within.inside(g)
		m.inside = m.started || in
	}
}

func (b *builder) Create(g, by *replay.G, now trace.Time) {
	for int(g.Slot) >= len(b.gs) {
		b.gs = append(b.gs, mine{})
	}
	b.totals.goroutines++
	if group := b.r.Contexts.Node(g.Context).Group; !g.System {
		b.totals.lives[group] = b.totals.lives[group].begins(now)
	}
	b.parallel.lives(now, 1)
	m := &b.gs[g.Slot]
	*m = mine{since: b.parallel.nominal.from(now), alone: b.parallel.alone.until(now),
		past: history{m.past.marks[:0]}, uses: m.uses[:0]}
	m.past.note(now, 0)
	if runnable(g.State) {
		b.parallel.countRunnable(g, now, 1)
	}
	switch {
	case by != nil:
		m.started = b.gs[by.Slot].inside
		b.look(g)
	case !g.System && !g.Repaired: // only a timer starts a goroutine where none runs
		m.woke, m.wokeAt = idleKey{timer: true, started: b.r.Contexts.Node(g.Context).Group}, now
	}
}

// Segment charges a segment of a goroutine's time to its context, to its regions and labels, and
// to the locks that it holds.
func (b *builder) Segment(g *replay.G, from, to trace.Time) {
	m := &b.gs[g.Slot]
	s := b.parallel.nominal.stretch(b.r.Busy(), &m.since, from, to)
	s.alone = b.parallel.alone.of(g, &m.alone, to)
	if b.out(m) {
		b.within.outside.spend(g, s)
		return
	}
	b.ledger.at(g.Where()).spend(g, s)
	if g.State == trace.OffCPU && g.Spins == 0 {
		b.ledger.at(b.r.Aside(b.r.System.OffCPU)).spendAs(useBusy, s)
	}
	if len(g.Regions) > 0 || g.Labels != replay.NoSpan {
		b.named.spend(g, s)
	}
	if len(g.Held) > 0 {
		spendHeld(g, m.uses, s)
	}
	switch {
	case g.Busy() && g.Depth() == 0:
		in := &b.r.Contexts.Node(g.Context).Context
		b.totals.started[startedIn{in.Proc, in.Group}] += s.ns
	case g.State.Busy() && g.Spins > 0:
		if b.totals.spin += s.ns; g.Locking {
			m.spun += s.ns
		}
	case g.State == trace.Waiting && !g.System:
		b.totals.reasons[g.Reason] += s.ns
	}
}

// spendHeld accounts a goroutine's time to the locks that it holds: of one name once.
func spendHeld(g *replay.G, uses []*lockUse, s *stretch) {
	for k := range g.Held {
		if !g.Held[k].Again {
			uses[k].all.spend(g, s)
		}
		if k == len(g.Held)-1 {
			uses[k].self.spend(g, s)
		}
	}
}

// Turn accounts a change of how many processors are busy, and of how many goroutines could be.
func (b *builder) Turn(g *replay.G, now trace.Time, to trace.State, is bool) {
	m := &b.gs[g.Slot]
	was, n := g.Keeps(), b.r.Busy()
	ran, runs := g.Busy(), is && to != trace.OffCPU
	if m.held {
		m.held = false
		b.parallel.alone.change(now, -1)
	}
	b.parallel.turn(g, now, to)
	if to == trace.Syscall && g.State == trace.Running {
		m.calling = callPlace{}
	}
	if g.State == trace.Blocked {
		m.woke, m.wokeAt = idleKey{wait: waitKey{in: b.r.Contexts.Node(g.Context).Proc}, call: true, place: m.calling},
			now
	}
	if m.woken.sum != nil && to == trace.Running {
		m.woken.sum.ready += int64(now - m.wokeAt)
		b.objects.runs(m.woken.queue, now)
		m.woken = woken{}
	}
	if was == is && ran == runs {
		return
	}
	if ran != runs {
		m.past.note(now, g.Ran)
	}
	if is && !was && n == 0 {
		b.endIdle(g, b.parallel.busy.idleAt, now)
	}
	b.parallel.keep(n, now, one(is)-one(was), one(is && !runs)-one(was && !ran))
}

// endIdle charges a time without busy processors to the goroutine that ends it.
func (b *builder) endIdle(g *replay.G, from, now trace.Time) {
	if b.out(&b.gs[g.Slot]) {
		b.within.outside.Idle += int64(now - from)
		return
	}
	b.ledger.at(g.Context).Idle += int64(now - from)
	if m := &b.gs[g.Slot]; m.wokeAt > from { // after that it was ready
		b.idled[m.woke] += int64(m.wokeAt - from)
	}
}

// Enter counts an entry.
func (b *builder) Enter(g *replay.G, p trace.PointID, _ trace.Time) {
	m := &b.gs[g.Slot]
	if b.r.IsSystem(p) || !b.out(m) {
		b.totals.calls[p]++
	}
	m.spun = 0 // nothing told of the mutex
}

func (b *builder) Region(g *replay.G, span replay.SpanID, begins bool, since, now trace.Time) {
	if u := b.named.of(span); begins {
		u.count++
	} else {
		u.took.Add(int64(now - since))
	}
	b.look(g)
}

func (b *builder) Labels(g *replay.G, _ trace.Time) {
	if g.Labels != replay.NoSpan {
		b.named.of(g.Labels).count++
	}
	b.look(g)
}

func (b *builder) End(g *replay.G, now trace.Time) {
	b.lived(g)
	if group := b.r.Contexts.Node(g.Context).Group; !g.System {
		b.totals.lives[group] = b.totals.lives[group].ends(now)
	}
	for _, h := range g.Held {
		b.objects.lock(b.r.Object(h.Address)).dead = abandonedBy(b.r, g, h, now)
	}
	b.parallel.lives(now, -1)
}

// lived records the total busy time of a goroutine that has ended.
func (b *builder) lived(g *replay.G) {
	group := b.r.Contexts.Node(g.Context).Group
	b.totals.longest[group] = max(b.totals.longest[group], int64(g.Got))
	b.totals.got[group] += int64(g.Got)
}

func (b *builder) Wait(g *replay.G) {
	m := &b.gs[g.Slot]
	if b.r.Names.OfRuntime(g.Wait.Stack, g.Wait.Reason) {
		m.held = true
		b.parallel.alone.change(g.Wait.Since, 1)
	}
	if m.waits = !b.out(m); m.waits {
		m.queue = b.objects.begin(g.Wait)
	}
	b.spunFor(m, g.Wait.Object)
	if m.again.addr != 0 && b.r.T.Reason(g.Wait.Reason) == condition && m.queue != nil {
		if used := g.Ran - m.again.ran; m.again.addr == g.Wait.Address && used < inVain {
			b.objects.vain(g.Wait, used)
		}
		m.again = again{}
	}
}

// spunFor charges what a goroutine has spun to the mutex that it then took or waited for; nil: it
// is not known.
func (b *builder) spunFor(m *mine, ob *replay.Object) {
	if m.spun > 0 && ob != nil {
		b.objects.lock(ob).spin += m.spun
	}
	m.spun = 0
}

func (b *builder) Wake(g *replay.G, w *replay.Wait, by replay.Waker, now trace.Time) {
	m := &b.gs[g.Slot]
	if !m.waits {
		return
	}
	own := int64(0)
	if by.G != nil {
		own = min(b.gs[by.G.Slot].past.since(w.Since, now, by.G.Ran), int64(now-w.Since))
	}
	m.woke, m.wokeAt = idleKey{wait: key(w), by: b.blame.ends(w, m.queue != nil, by, now, b.samples.sampled)}, now
	after := ended{m.woke.by, b.blame.meanwhile(w, m.woke.by, by.G)}
	m.woken = woken{b.objects.end(w, m.queue, now, after, by.G, own), m.queue}
	if by.G != nil && b.r.Peers(by.G, g) {
		m.woken.sum.peers += int64(now - w.Since)
	}
	if b.r.T.Reason(w.Reason) == condition {
		m.again = again{w.Address, g.Ran}
	}
	m.waits, m.queue = false, nil
}

func (b *builder) Sync(_ *replay.G, ob *replay.Object, op trace.Operation, _ trace.Time) {
	if l := b.objects.lock(ob); replay.KindOf(b.r.T.Points[op.Point].Op) != replay.KindSemaphore {
		// whose number is an amount
		l.longestQueue = max(l.longestQueue, op.Queue)
	}
}

func (b *builder) Acquire(g *replay.G, ob *replay.Object, _ replay.Holder, h replay.Held, now trace.Time) {
	b.objects.lock(ob).take(ob, h.Point, now)
	b.spunFor(&b.gs[g.Slot], ob)
	use := b.objects.use(h.Point)
	if ob.Partly || ob.Unseen { // it counts if its end is seen
		use = new(lockUse)
	}
	m := &b.gs[g.Slot]
	m.uses = append(m.uses, use)
}

func (b *builder) Release(g *replay.G, ob *replay.Object, held int, how replay.Release, now trace.Time) {
	b.objects.lock(ob).free(ob, now, how)
	if held < 0 {
		return
	}
	m := &b.gs[g.Slot]
	if use, own := b.objects.use(g.Held[held].Point), m.uses[held]; how == replay.Unlocked && use != own {
		use.add(own)
	}
	m.uses = append(m.uses[:held], m.uses[held+1:]...)
}

func (b *builder) Forget() { b.objects.fold(false) }

// Sample adds a sample.
func (b *builder) Sample(g *replay.G, s trace.Sampled) {
	if s.First {
		b.samples.looked()
	}
	if g == nil || b.virtual() || b.out(&b.gs[g.Slot]) {
		return
	}
	busy := 0
	switch {
	case g.Busy():
		busy = b.r.Busy()
	case g.State != trace.Blocked:
		return // it spins, or has just left
	}
	if b.samples.whole { // events divide all times
		probe := b.r.IsProbe(s)
		if b.samples.seen.Add(s, probe); !probe {
			b.samples.text.note(b.r, g.Context, s.Code, busy, float64(max(s.Gap, 1)))
		}
		return
	}
	at, found := b.samples.add(g, s, busy)
	if found && (g.State == trace.Syscall || g.State == trace.Blocked) {
		proc := b.r.Contexts.Node(at).Proc
		if line, ok := b.r.LineIn(s.Code, proc); ok {
			b.gs[g.Slot].calling = callPlace{proc, line}
		}
	}
}

// Off accounts a time in which the operating system had taken a goroutine's processor.
func (b *builder) Off(g *replay.G, why trace.OffReason, from, to trace.Time) {
	m := &b.gs[g.Slot]
	if b.out(m) || g.Spins > 0 { // to spin is no work
		return
	}
	b.totals.off.add(why, int64(to-from), len(g.Held) > 0)
	for k := range g.Held {
		if why != trace.OffBlocked && !g.Held[k].Again {
			m.uses[k].taken += int64(to - from)
		}
	}
}

func (b *builder) Other(g *replay.G, e *trace.Event) {
	switch e.Kind {
	case trace.Trips:
		if loop := b.r.Contexts.Node(g.Context).Loop; loop != trace.NoPoint {
			b.totals.trips[loop] += e.Count()
			b.totals.tripsOf[loop]++
		}
	case trace.Alloc:
		if !b.out(&b.gs[g.Slot]) {
			b.memory.take(g, e.Alloc())
		}
	case trace.Searched:
		b.totals.searched += int64(e.Count())
	case trace.Mark:
		b.gc.mark(e.Time, e.Mark())
		marking := 0.0
		if b.gc.markSince >= 0 {
			marking = 1
		}
		b.parallel.line.marking.set(e.Time, marking)
	}
}

// finish accounts up to the end of the trace.
func (b *builder) finish() {
	b.parallel.busy.until(b.r.Busy(), b.wall)
	for _, g := range b.r.Goroutines() {
		if g.State == trace.None {
			continue
		}
		b.lived(g)
		if m := &b.gs[g.Slot]; m.waits && g.State == trace.Waiting {
			b.totals.left.note(g, b.wall)
			if ob := g.Wait.Object; ob != nil {
				b.objects.lock(ob).dead.waits(int64(b.wall - g.Wait.Since))
			}
			b.objects.end(g.Wait, m.queue, b.wall, ended{stillWaiting, stillWaiting}, nil, 0)
			m.woken.queue = m.queue
		}
		b.objects.runs(b.gs[g.Slot].woken.queue, b.wall)
	}
	t := taker{costs: costsOf(b.r, &b.samples.seen, b.parallel.busy.sum()), ledger: b.ledger, told: b.samples.sampled,
		inLine: map[line]float64{}}
	t.events()
	before := t.probesTime()
	b.samples.divide(b.ledger)
	called := t.probesTime() - before
	t.counts()
	if b.within == nil {
		b.totals.paid = t.text()
		b.totals.paid.called, b.totals.paid.found = called, b.samples.probes
	} else { // what was counted within is not known
		b.totals.paid = t.priced()
	}
	b.totals.paid.prices, b.totals.paid.events = t.prices,
		numbers{price.Call: b.r.Entries, price.Sync: b.r.Operations, price.Schedule: b.r.Changes,
			price.Yield: b.r.Yields,
			price.Other: max(0, b.r.Events-b.r.Entries-b.r.Operations-b.r.Changes-b.r.Switches)}
	b.totals.paid.probed = t.probedTime(float64(b.parallel.busy.sum()))
	b.totals.calls[b.r.System.Probes] += t.probes
	b.totals.doubts = doubts{guesses: b.samples.estimates(), inLine: t.inLine}
	if !b.virtual() {
		lost := untold(b.r, b.r.T, b.parallel.busy.sum()+b.totals.spin, b.totals.searched)
		b.totals.doubts.lose(lost, t.offCPU(b.r.T, lost.ns))
	}
	b.ledger.give()
}
