package steps

import (
	"math"
	"strings"

	"qinst.dev/internal/analysis/price"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Options are what a reading of a trace depends on.
type Options struct {
	VirtualProcs int // see [replay.Options]
	// Price is the cost of an event, in ns, for [Program.PaidOf]; nil: there are no prices.
	Price func(*trace.Event) float64
	// Watch sees the trace while it is read; nil: there is none.
	Watch Watcher
}

// Build reads a trace.
func Build(source trace.Source, o Options) (*Program, trace.Losses, error) {
	options := replay.Options{VirtualProcs: o.VirtualProcs, Price: o.Price}
	var b *builder
	if o.Watch != nil {
		options.After = func(e *trace.Event) { b.shown(e) }
	}
	r := replay.New(source, options)
	b = newBuilder(r, o, source.Wall())
	if o.Watch != nil {
		o.Watch.Reads(b.p)
	} else if o.Price != nil && r.T.Periods.N > 0 {
		b.periods = &r.T.Periods
	}
	losses, err := r.Run(b)
	if err != nil {
		return nil, losses, err
	}
	b.finish()
	prices := b.p.Prices()
	b.p.event = prices[price.Call].Each
	b.p.dealAll()
	b.p.sortWaits()
	b.p.findSetters()
	b.p.warn(source)
	b.p.note(&losses, b.off.lacked)
	return b.p, losses, nil
}

// builder is the visitor that makes the steps. It hands events to recognizers, which find the cause
// of waits.
type builder struct {
	replay.Nop
	*stepper
	watch      Watcher
	periods    *trace.Periods // that work is divided by, which prices need; nil: it is not
	processors processors
	objects    *objects
	operations operations
	idlers     *idlers
	barriers   barriers
	network    network
	requests   requests
	timers     timers
	wakened    wakened
}

func newBuilder(r *replay.Replay, o Options, end trace.Time) *builder {
	p := &Program{R: r, Last: NoG, Objects: []Object{{Name: trace.NoPoint}}, Tokens: 1, End: end}
	p.Memory, p.named = map[Took]int64{}, map[string]trace.PointID{}
	p.Steps.Add(Step{})
	p.whole = price.Whole(r.T)
	t := &tape{r: r, p: p, virtual: o.VirtualProcs > 0}
	s := &stepper{t, newPollers(t), offCPU{tape: t, guesses: !t.virtual && !r.T.AllSwitches()}}
	x, idlers := &objects{p: p, r: r, by: map[trace.Address]ObjectID{}}, &idlers{tape: t}
	return &builder{
		stepper: s, watch: o.Watch, objects: x, idlers: idlers,
		processors: processors{r: r, n: o.VirtualProcs},
		operations: operations{stepper: s, objects: x, idlers: idlers},
		barriers:   barriers{tape: t},
		network:    network{stepper: s},
		requests:   requests{stepper: s, tasks: map[uint64]task{}},
		timers:     timers{stepper: s, armed: map[trace.Address]armed{}},
	}
}

// Create makes a goroutine, and the step of its creator.
func (b *builder) Create(g, by *replay.G, now trace.Time) {
	b.processors.begin(g.Slot, now)
	b.pollers.begin(g.Slot, now)
	b.off.begin(g.Slot)
	b.operations.begin(g.Slot)
	b.idlers.begin(g.Slot)
	b.barriers.begin(g.Slot)
	b.requests.create(g)
	b.network.accepts.create(g, by)
	n, creator := G(len(b.p.Gs)), NoG
	if by != nil {
		creator = b.my(by).n
	}
	b.begin(g, creator, now)
	if by != nil {
		b.r.Settle(by, now)
		b.step(by, now, Starts(n))
	}
}

// Segment adds a goroutine's work. Its waits are in the step that the next change of its state
// makes.
func (b *builder) Segment(g *replay.G, from, to trace.Time) {
	if !g.Busy() {
		return
	}
	at := g.Where()
	paid := b.worked(g, at, int64(to-from))
	if b.watch != nil {
		b.watch.Worked(b.my(g).n, at, from, to, paid)
	}
	if b.periods != nil {
		b.p.inPeriods(b.periods, at, from, to)
	}
}

// Turn ends steps where a goroutine's state changes.
func (b *builder) Turn(g *replay.G, now trace.Time, to trace.State, keeps bool) {
	m := b.my(g)
	b.operations.by = nil
	switch was := g.Keeps(); {
	case was && !keeps:
		b.processors.leaves(g.Slot, m, now)
		if b.virtual { // what it does after that is no wait yet
			b.step(g, now, Delays(Unknown, 0))
		}
	case !was && keeps:
		b.processors.takes(g.Slot, now)
	}
	if g.State == to {
		return
	}
	if to == trace.Running && !b.virtual && g.Proc <= math.MaxInt16 {
		m.proc = int16(g.Proc)
	}
	b.turned(g, now)
	if g.CalledIn != 0 {
		b.calledIn(m, g.CalledIn)
	}
	turn := b.processors.gs.of(g.Slot)
	turn.since = now
	switch to {
	case trace.Runnable:
		turn.idle = b.processors.idleUntil(now)
	case trace.Syscall:
		b.network.calls(g, now)
		if g.State == trace.Running {
			m.called = m.last
		}
	}
}

// calledIn notes the stack of a system call that ends, in which the goroutine's thread may have
// waited several times.
func (b *builder) calledIn(m *mine, stack trace.StackID) {
	id := b.p.Gs[m.n].First
	if m.called != 0 {
		id = b.p.Step(m.called).Next
	}
	for again := false; id != 0; id = b.p.Step(id).Next {
		if b.p.Step(id).Waits(Call) {
			b.p.waits = append(b.p.waits, wait{id, stack, again})
			again = true
		}
	}
}

// turned ends the state that a goroutine was in.
func (b *builder) turned(g *replay.G, now trace.Time) {
	since := b.processors.gs.of(g.Slot).since
	switch g.State {
	case trace.Runnable:
		b.step(g, now, b.processors.ready(g.Slot, b.my(g), now))
	case trace.Blocked:
		s := Delays(Call, int64(now-since))
		s.point = b.r.Contexts.Node(g.Context).Proc
		b.step(g, now, s)
	case trace.OffCPU:
		b.step(g, now, readies(OffCPU, 0))
	case trace.Waiting:
		switch {
		case b.virtual: // it did without a processor of the program's
			b.step(g, now, Delays(Unknown, 0))
		case g.Wait != nil:
		case b.timers.cycle != 0 && b.timers.cycleAt > since: // the collector's, for its next cycle
			b.step(g, now, Takes(b.timers.cycle))
		default: // the runtime's own
			b.step(g, now, Delays(Unknown, int64(now-since)))
		}
	}
}

// Wait begins a wait. How it ends is known later.
func (b *builder) Wait(g *replay.G) {
	m, w := b.my(g), g.Wait
	b.pollers.begins(g)
	b.network.begins(w)
	s := Takes(0)
	s.Obj, s.point = b.objects.of(w.Object), w.In
	id := b.step(g, w.Since, s)
	obj, selects := s.Obj, strings.HasPrefix(b.r.T.Reason(w.Reason), "select")
	if obj == 0 && !selects || !selects && m.wait != 0 && m.waited == obj {
		return // for nothing that has operations, or another attempt
	}
	b.objects.unseen(m.wait, m.waited)
	m.wait, m.waited, m.why = id, obj, w.Reason
}

// Wake ends it.
func (b *builder) Wake(g *replay.G, w *replay.Wait, by replay.Waker, now trace.Time) {
	m := b.my(g)
	if b.pollers.any() {
		if by.G != nil { // while g still waits
			b.pollers.mayBeTold(by.G, now)
		}
		b.pollers.ends(g)
	}
	s := b.p.Step(m.last)
	if s.Kind != Take {
		return
	}
	s.At = now
	b.pollers.waited(g.Slot, now, 0)
	if s.Obj == 0 && w.Object != nil { // a select, which now knows its channel
		s.Obj = b.objects.of(w.Object)
		if m.wait == m.last {
			m.waited = s.Obj
		}
	}
	if by.G == nil {
		b.wokenOutside(g, w, by, now)
		return
	}
	b.idlers.ended(g, w, by)
	if first := b.p.Gs[b.my(by.G).n].First; first != 0 && b.p.Step(first).Waits(Timer) {
		b.p.waits = append(b.p.waits, wait{step: m.last, stack: w.Stack})
	}
	token := b.token()
	s.ref = uint32(token)
	give := Gives(token)
	give.Obj = s.Obj
	b.gives(g, w, by.G, give, now)
}

// gives makes the step with which a goroutine ends another one's wait.
func (b *builder) gives(g *replay.G, w *replay.Wait, by *replay.G, give Step, now trace.Time) {
	var id StepID
	y := b.my(by)
	if by.State == trace.Waiting && y.last != 0 && b.p.Step(y.last).Kind == Take {
		// a coroutine that hands its thread over waits itself
		id = b.before(y, give)
	} else {
		id = b.step(by, now, give)
	}
	h := b.operations.gs.of(by.Slot)
	b.barriers.ends(g, by, w, b.my(g).last, id, h.last(), h.closed)
	if give.Obj != 0 && y.did != give.Obj && (y.give == 0 || y.gave != give.Obj) {
		b.objects.silent(y.give, y.gave)
		y.give, y.gave = id, give.Obj
	}
}

// wokenOutside ends a wait that no goroutine ended.
func (b *builder) wokenOutside(g *replay.G, w *replay.Wait, by replay.Waker, now trace.Time) {
	s := b.p.Step(b.my(g).last)
	s.At -= b.late(by, w, now)
	s.Kind, s.number, s.ref = Delay, int64(s.At-w.Since), uint32(causeOf(by.Cause))
	switch by.Cause {
	case trace.WakeNetpoll:
		b.p.waits = append(b.p.waits, wait{step: b.my(g).last, stack: w.Stack})
		b.network.replied(g, w, b.processors.idleFor(now))
	case trace.WakeTimer:
		b.p.waits = append(b.p.waits, wait{step: b.my(g).last, stack: w.Stack})
		if pace := b.objects.pace(w.Stack); s.Obj == 0 {
			s.Obj = pace
		} else if pace != 0 { // a timer's channel
			b.p.Objects[s.Obj].seen.paces = true
		}
		b.idlers.ended(g, w, by)
	}
}

// late is how long before it was woken a goroutine could have run, had a processor been idle: its
// timer was due, and all were working.
func (b *builder) late(by replay.Waker, w *replay.Wait, now trace.Time) trace.Time {
	late := trace.Time(by.Late)
	late -= min(late, b.processors.idleFor(now)) // then the system was late
	return min(late, now-w.Since)
}

func causeOf(c trace.Cause) Cause {
	switch c {
	case trace.WakeTimer:
		return Timer
	case trace.WakeNetpoll:
		return Network
	}
	return Unknown
}

// Off adds up when running threads had no processor. The steps are Turn's.
func (b *builder) Off(_ *replay.G, _ trace.OffReason, from, to trace.Time) {
	b.p.OffCPU += int64(to - from)
}

// mostBytes bounds the memory of a sample, so that a damaged file's add up.
const mostBytes = 1 << 40

// Other notes channels, timers, threads that are woken, and where cycles of the collector begin
// and end.
func (b *builder) Other(g *replay.G, e *trace.Event) {
	switch {
	case e.Kind == trace.Channel:
		b.objects.made(e.Channel())
	case e.Kind == trace.Semaphore:
		at, size := e.Channel()
		b.objects.holds(b.objects.at(at), size)
	case e.Kind == trace.Woke:
		b.wakened.note(e.Woke())
	case e.Kind == trace.Joined:
		b.network.joined(g, e.Joined())
	case g == nil:
	case e.Kind == trace.Alloc:
		a := e.Alloc()
		b.p.Memory[Took{g.Where(), a.Stack}] += int64(min(a.Bytes, mostBytes))
	case e.Kind == trace.Timer:
		b.timers.set(g, e)
	case e.Kind == trace.Trips:
		b.requests.iterates(g, e.Count())
	case e.Kind == trace.Task:
		b.requests.task(g, e)
	case e.Kind == trace.Fired:
		b.timers.fire(g, e)
	case e.Kind == trace.Mark && (e.Mark() == spec.EvGCBegin || e.Mark() == spec.EvGCEnd):
		b.timers.collect(g, e.Time)
	}
}

// End ends a goroutine.
func (b *builder) End(g *replay.G, now trace.Time) {
	m := b.my(g)
	b.objects.unseen(m.wait, m.waited)
	b.objects.silent(m.give, m.gave)
	b.step(g, now, Step{Kind: End})
	b.pollers.tell(g, now)
	b.idlers.leaves(g.Slot)
}

// Sync makes a step of an operation.
func (b *builder) Sync(g *replay.G, ob *replay.Object, op trace.Operation, now trace.Time) {
	b.operations.sync(g, ob, op, now)
}

// Acquire makes the step of an operation that takes a lock.
func (b *builder) Acquire(g *replay.G, ob *replay.Object, _ replay.Holder, held replay.Held, now trace.Time) {
	b.operations.acquire(g, ob, held, now)
}

// Release makes that of one that gives it back.
func (b *builder) Release(g *replay.G, ob *replay.Object, held int, how replay.Release, now trace.Time) {
	b.operations.release(g, ob, held, how, now)
}

// Enter counts activations, and opens a request where a server's goroutine calls a handler.
func (b *builder) Enter(g *replay.G, point trace.PointID, now trace.Time) {
	b.count(g)
	if b.p.isProc(point) {
		b.my(g).entered = point
	}
	b.requests.enter(g, point, now)
}

// Outside closes it.
func (b *builder) Outside(g *replay.G, now trace.Time) { b.requests.outside(g, now) }

// Labels opens and closes what a goroutine does with labels.
func (b *builder) Labels(g *replay.G, now trace.Time) { b.requests.labeled(g, now) }

// Region opens and closes the program's own regions.
func (b *builder) Region(g *replay.G, span replay.SpanID, begins bool, _, now trace.Time) {
	b.requests.region(g, span, begins, now)
}

// Sample notes where a sampler found a goroutine that works.
func (b *builder) Sample(g *replay.G, s trace.Sampled) {
	if s.First {
		b.p.looks++
	}
	if g == nil || !g.Busy() || b.virtual {
		return
	}
	if b.p.whole {
		b.p.seen.Add(s, b.r.IsProbe(s))
		return
	}
	to, probe := b.r.Found(g, s)
	if probe {
		to = b.r.Outside(b.r.System.Probes, replay.RootTool, b.r.Contexts.Node(g.Context).Group)
	}
	node := b.r.Contexts.Node(g.Context)
	b.p.samples.note(g.Context, stratum{node.Group, node.Proc}, b.p.beyond(g.Context, to), float64(max(s.Gap, 1)))
}

// finish ends the steps of goroutines that have not ended, and decides what waits were for where
// that shows in many of them.
func (b *builder) finish() {
	for _, g := range b.r.Goroutines() {
		if g.State == trace.None {
			continue
		}
		m := b.my(g)
		if g.ID == 1 && (g.Keeps() || b.r.Virtual()) {
			b.p.Last = m.n // the program ends when main returns
		}
		if m.wait != 0 && b.p.Step(m.wait).Token() != 0 && !b.operations.comes(g) {
			b.objects.unseen(m.wait, m.waited)
		}
		b.operations.lets(g)
		b.step(g, b.p.End, Step{Kind: Cut})
	}
	b.requests.finish()
	newAskers(b.tape).finish()
	b.network.connect()
	if b.p.Procs = b.processors.n; !b.virtual {
		b.p.Procs = max(b.r.MostProcs(b.p.End), 1)
	}
	if !b.virtual {
		b.p.WakeUp, b.p.HoldOff = b.processors.wakeUps()
		if b.p.Wakes = b.wakened.wakes(); b.p.Wakes == nil {
			b.p.Wakes = measured(b.r.T)
		}
	}
	b.p.groups()
	b.barriers.finish()
	b.objects.finish()
	for _, g := range b.r.Goroutines() {
		if g.State != trace.None {
			b.idlers.stays(g)
		}
	}
	b.idlers.held()
}

// shown shows an event to who watches, and first what its goroutine has worked up to that.
func (b *builder) shown(e *trace.Event) {
	b.watch.Event(e, b.place(e.Slot, e.Time), b.place(e.By, e.Time))
}

// place is where the goroutine of a slot is.
func (b *builder) place(slot trace.Slot, now trace.Time) Place {
	if slot == trace.NoSlot {
		return Place{N: NoG}
	}
	if g := b.r.Goroutines()[slot]; g.State != trace.None {
		b.r.Settle(g, now)
	}
	m := &b.gs[slot]
	return Place{m.n, m.last}
}
