package steps

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/price"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Options are what a reading of a trace depends on.
type Options struct {
	VirtualProcs int // see [replay.Options]
	// Price is what an event cost, in ns, so that [Program.PaidOf] tells it; nil: it does not.
	Price func(*trace.Event) float64
	// Watch is shown the trace while it is read; nil: nobody is.
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
	b = &builder{periods: o.Price != nil && o.Watch == nil && source.Tables().Periods.N > 0, watch: o.Watch, r: r, virtual: o.VirtualProcs, p: &Program{R: r, Last: -1, Objects: []Object{{Name: trace.NoPoint}}, Tokens: 1, End: source.Wall()}, objects: map[trace.Address]ObjectID{}, timers: map[trace.Address]armed{}, tasks: map[uint64]task{}}
	b.p.Steps.Add(Step{})
	if o.Watch != nil {
		o.Watch.Reads(b.p)
	}
	b.whole = price.Whole(r.T)
	b.pollers = newPollers(r.T.Points)
	b.untold = o.VirtualProcs == 0 && !r.T.AllSwitches()
	losses, err := r.Run(b)
	if err != nil {
		return nil, losses, err
	}
	b.finish()
	prices := b.p.Prices()
	b.p.event = prices[price.Call].Each
	b.doubts(source)
	b.notes(&losses)
	return b.p, losses, nil
}

// builder is the visitor that makes the steps.
type builder struct {
	replay.Nop
	r       *replay.Replay
	watch   Watcher
	whole   bool // see [price.Whole]
	periods bool // work is divided by periods: who asks for prices needs that
	virtual int  // processors of the program's own, 0: none
	p       *Program
	gs      []mine // by slot
	objects map[trace.Address]ObjectID
	timers  map[trace.Address]armed // those that are set
	tasks   map[uint64]task         // those that are open

	had      []had      // by processor of the scheduler, who had it last
	idle     int64      // ns so far in which a processor of the scheduler had nothing to do
	idleAt   trace.Time // up to here
	idleFrom trace.Time // since when one has been idle, if one is
	busy     int        // processors in use since then
	operator *replay.G  // of the operation at hand; nil: the runtime operates for a goroutine
	amount   int64      // of the operation at hand, on a semaphore
	worked   bool       // somebody did
	cycle    uint32     // the token that a goroutine gave when it began or ended the collector's last cycle, 0: none
	cycleAt  trace.Time // when that was

	untold    bool  // the system did not always tell when it took processors away
	lacked    int64 // ns so far that it took then
	crossings []crossing
	pollers   pollers
	waiting   map[int]trace.Slot // the slots of goroutines that wait for others, if there are pollers
	calls     calls
	replies   map[trace.Address][]reply // by descriptor
}

// armed is where a timer was set.
type armed struct {
	by   int // goroutine
	step StepID
	proc trace.PointID // in which it was set
}

// mine is what is known of a live goroutine.
type mine struct {
	n     int                      // in Program.Gs
	last  StepID                   // 0: none yet
	work  []Part                   // since then
	index map[replay.ContextID]int // of those in work behind the first few
	idle  int64                    // builder.idle when it became ready
	got   float64                  // G.Got at its last step
	paid  float64                  // of G.Paid, ns
	pays  []int64                  // of that, by part of work
	seen  trace.Time
	proc  int16      // on which it runs, or ran last; -1: not known
	began trace.Time // since when it has had that

	wait   StepID   // where its last wait began, until it operates on an object
	give   StepID   // likewise, where it first ended one
	waited ObjectID // the objects of these two
	gave   ObjectID
	open   []opened // requests
	labels string   // with which it was started
	did    ObjectID // its last operation was one on this that may end waits behind it

	holds    []hold
	closes   StepID // in which it last closed a channel
	crossing int    // the last one that it made, and 1

	alone trace.Time // since when it has neither waited for others nor for what is outside, and the step in which it last did
	since StepID
	tells uint32 // the token that it gave with the wait that it is in, 0: none
	told  told
	idles []idles

	entered trace.PointID // a procedure that it has entered, not yet counted in the context that this made; NoPoint: none
}

// my is the state of a goroutine.
func (b *builder) my(g *replay.G) *mine { return &b.gs[g.Slot] }

// idleUntil returns how long so far a processor had nothing to do.
func (b *builder) idleUntil(now trace.Time) int64 {
	if b.busy < b.procs() {
		b.idle += int64(now - b.idleAt)
	}
	b.idleAt = now
	return b.idle
}

// procs is how many processors there are.
func (b *builder) procs() int {
	if b.virtual > 0 {
		return b.virtual
	}
	return max(b.r.Procs, 1)
}

// Create makes a goroutine, and the step of its creator.
func (b *builder) Create(g, by *replay.G, now trace.Time) {
	for int(g.Slot) >= len(b.gs) {
		b.gs = append(b.gs, mine{})
	}
	m := b.my(g)
	*m = mine{n: len(b.p.Gs), work: m.work[:0], pays: m.pays[:0], index: m.index, open: m.open[:0], holds: m.holds[:0], idles: m.idles[:0], seen: now, idle: b.idleUntil(now), entered: trace.NoPoint, alone: now, proc: -1, labels: b.labels(g)}
	gr := Goroutine{ID: g.ID, By: -1, Created: now, Context: g.Base, System: g.System}
	if by != nil {
		gr.By = b.my(by).n
		b.r.Settle(by, now)
		b.step(by, now, Step{Kind: Start, Arg: uint32(m.n)})
	}
	b.p.Gs = append(b.p.Gs, gr)
}

// step ends a goroutine's work so far.
func (b *builder) step(g *replay.G, now trace.Time, s Step) StepID {
	if b.pollers.any() && (s.Kind == Give || s.Kind == Operate || s.Kind == End) {
		b.mayBeTold(g, now)
	}
	if b.untold {
		b.takeOff(g, now)
	}
	id := b.add(g, now, s)
	if outer := s.Kind == Delay && Cause(s.Arg) < Call; outer || s.Kind == Take && s.Obj != 0 {
		m := b.my(g)
		m.alone, m.since = now, id
	}
	return id
}

// add puts a step behind a goroutine's others.
func (b *builder) add(g *replay.G, now trace.Time, s Step) StepID {
	m := b.my(g)
	b.count(g)
	id := StepID(b.p.Steps.Len())
	s.At, s.Proc = now, m.proc
	for _, part := range m.work {
		s.Work += part.Ns
		b.worked = true
	}

	if b.owes(g, s.Work) {
		b.p.Clamped++
	}
	b.p.keep(&s, m.work, m.pays)
	if len(m.work) > fewParts {
		clear(m.index)
	}
	m.work, m.pays = m.work[:0], m.pays[:0]
	if m.last == 0 {
		b.p.Gs[m.n].First = id
	} else {
		b.p.Step(m.last).Next = id
	}
	m.last = id
	b.p.Steps.Add(s)
	return id
}

// Segment adds what a goroutine worked. What it waited is in the step that the next change of its state makes.
func (b *builder) Segment(g *replay.G, from, to trace.Time) {
	if !g.Busy() {
		return
	}
	b.count(g)
	m, at := b.my(g), g.Where()
	i := m.part(at)
	m.work[i].Ns += int64(to - from)
	paid := int64(0)
	if g.Paid > 0 {
		paid = b.pays(g, int64(to-from), i)
	}
	if b.watch != nil {
		b.watch.Worked(m.n, at, from, to, paid)
	}
	if b.periods {
		b.inPeriods(at, from, to)
	}
	for int(at) >= len(b.p.npt) {
		b.p.npt, b.p.work = append(b.p.npt, 0), append(b.p.work, 0)
	}
	b.p.work[at] += int64(to - from)
	b.p.npt[at] += float64(to-from) / float64(max(b.r.Busy(), 1))
}

// count counts an activation in its own context, which it was not yet in when the replay told of it. One that took no time is left out.
func (b *builder) count(g *replay.G) {
	m := b.my(g)
	if m.entered != trace.NoPoint && b.r.Contexts.Node(g.Context).Proc == m.entered {
		m.work[m.part(g.Context)].Enters++
	}
	m.entered = trace.NoPoint
}

// fewParts is how many parts are looked through.
const fewParts = 16

// part is the index of a context's part, in what a goroutine has worked since its last step.
func (m *mine) part(c replay.ContextID) int {
	if i, ok := m.index[c]; ok {
		return i
	}
	for i := min(len(m.work), fewParts) - 1; i >= 0; i-- {
		if m.work[i].Context == c {
			return i
		}
	}
	if len(m.work) >= fewParts {
		if m.index == nil {
			m.index = map[replay.ContextID]int{}
		}
		m.index[c] = len(m.work)
	}
	m.work = append(m.work, Part{Context: c})
	return len(m.work) - 1
}

// Turn ends steps where a goroutine's state changes.
func (b *builder) Turn(g *replay.G, now trace.Time, to trace.State, keeps bool) {
	m := b.my(g)
	b.operator = nil
	if was := g.Keeps(); was != keeps {
		b.idleUntil(now)
		if b.busy++; was {
			b.busy -= 2
			if b.busy == b.procs()-1 {
				b.idleFrom = now
			}
		}
		if was {
			b.leaves(m, now)
		} else {
			m.began = now
		}
		if was && b.virtual > 0 { // what it does behind that is no wait yet
			b.step(g, now, Step{Kind: Delay, Arg: uint32(Unknown)})
		}
	}
	if from := g.State; from != to {
		if to == trace.Running && b.virtual == 0 && g.Proc <= math.MaxInt16 {
			m.proc = int16(g.Proc)
		}
		switch from {
		case trace.Runnable:
			s := Step{Kind: Ready, Arg: uint32(WakeUp)}
			if idle := b.idleUntil(now) - m.idle; b.virtual == 0 {
				s.Wait, s.Slept = idle, b.slept(m)
				b.behind(m, now, &s)
			}
			b.step(g, now, s)
		case trace.Blocked:
			b.step(g, now, Step{Kind: Delay, Wait: int64(now - m.seen), Arg: uint32(Call)})
		case trace.OffCPU:
			b.step(g, now, Step{Kind: Ready, Arg: uint32(Off)})
		case trace.Waiting:
			if s := (Step{Kind: Delay, Arg: uint32(Unknown)}); b.virtual > 0 { // it did without a processor of the program's
				b.step(g, now, s)
			} else if g.Wait == nil && b.cycle != 0 && b.cycleAt > m.seen { // the collector's, for its next cycle
				b.step(g, now, Step{Kind: Take, Arg: b.cycle})
			} else if g.Wait == nil { // the runtime's own
				s.Wait = int64(now - m.seen)
				b.step(g, now, s)
			}
		}
		m.seen = now
		switch to {
		case trace.Runnable:
			m.idle = b.idleUntil(now)
		case trace.Syscall:
			b.calling(g, now)
		}
	}
}

// Wait begins a wait. How it ends is known later.
func (b *builder) Wait(g *replay.G) {
	m, w := b.my(g), g.Wait
	if b.pollers.any() {
		b.waits(m.n, g.Slot)
		m.tells = 0
	}
	id := b.step(g, w.Since, Step{Kind: Take, Obj: b.object(w.Object), Point: w.In})
	obj, selects := b.p.Step(id).Obj, strings.HasPrefix(b.r.T.Reason(w.Reason), "select")
	if obj == 0 && !selects || !selects && m.wait != 0 && m.waited == obj {
		return // for nothing that has operations, or another attempt
	}
	b.unseen(m.wait, m.waited)
	m.wait, m.waited = id, obj
}

// Wake ends it.
func (b *builder) Wake(g *replay.G, w *replay.Wait, by replay.Waker, now trace.Time) {
	m := b.my(g)
	if b.pollers.any() {
		if by.G != nil { // while g still waits
			b.mayBeTold(by.G, now)
		}
		delete(b.waiting, m.n)
	}
	s := b.p.Step(m.last)
	if s.Kind != Take {
		return
	}
	s.At, m.alone = now, now
	if s.Obj == 0 && w.Object != nil { // a select, which now knows its channel
		s.Obj = b.object(w.Object)
		if m.wait == m.last {
			m.waited = s.Obj
		}
	}
	obj := s.Obj
	if by.G == nil {
		s.At -= b.late(by, w, now)
		s.Kind, s.Wait, s.Arg = Delay, int64(s.At-w.Since), uint32(causeOf(by.Cause))
		switch by.Cause {
		case trace.WakeNetpoll:
			b.replied(m, w)
		case trace.WakeTimer:
			b.p.slept = append(b.p.slept, sleep{m.last, w.Stack})
			b.ended(m, w, by)
		}
		return
	}
	b.ended(m, w, by)
	token := uint32(b.p.Tokens)
	b.p.Tokens++
	s.Arg = token
	give := Step{Kind: Give, Obj: obj, Arg: token}
	var id StepID
	if y := b.my(by.G); by.G.State == trace.Waiting && y.last != 0 && b.p.Step(y.last).Kind == Take { // a coroutine that hands its thread over waits itself
		id = b.before(y, give)
	} else {
		id = b.step(by.G, now, give)
	}
	b.crosses(g, by.G, w, m.last, id)
	if y := b.my(by.G); obj != 0 && y.did != obj && (y.give == 0 || y.gave != obj) {
		b.silent(y.give, y.gave)
		y.give, y.gave = id, obj
	}
}

// late is how long before it was woken a goroutine could have run, had a processor been idle: its timer was due, and all were working.
func (b *builder) late(by replay.Waker, w *replay.Wait, now trace.Time) trace.Time {
	late := trace.Time(by.Late)
	if b.busy < b.procs() { // the system was late
		late -= min(late, now-b.idleFrom)
	}
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
	b.p.Off += int64(to - from)
}

// Other notes channels, and where cycles of the collector begin and end.
func (b *builder) Other(g *replay.G, e *trace.Event) {
	switch {
	case e.Kind == trace.Channel:
		at, capacity := e.Channel()
		id, ok := b.objects[at]
		if o := &b.p.Objects[id]; !ok || o.Name != trace.NoPoint || o.unfit || o.silent { // else somebody waits for it already
			id = ObjectID(len(b.p.Objects))
			b.objects[at] = id
			b.p.Objects = append(b.p.Objects, Object{Address: at, Name: trace.NoPoint})
		}
		o := &b.p.Objects[id]
		o.Cap, o.told = capacity, true
	case e.Kind == trace.Semaphore:
		at, size := e.Channel()
		o := &b.p.Objects[b.at(at)]
		o.Cap, o.told = size, true
	case e.Kind == trace.Timer && g != nil:
		b.r.Settle(g, e.Time)
		b.timers[e.Timer()] = armed{b.my(g).n, b.step(g, e.Time, Step{Kind: Operate}), b.r.Contexts.Node(g.Context).Proc}
	case e.Kind == trace.Trips && g != nil:
		b.iterates(g, e.Count())
	case e.Kind == trace.Task && g != nil:
		b.task(g, e)
	case e.Kind == trace.Fired && g != nil:
		b.fire(g, e)
	case e.Kind == trace.Mark && g != nil && (e.Mark() == spec.EvGCBegin || e.Mark() == spec.EvGCEnd):
		b.collect(g, e.Time)
	}
}

// fire lets a goroutine be started by who set the timer, and begin with the wait for it.
func (b *builder) fire(g *replay.G, e *trace.Event) {
	at, ok := b.timers[e.Timer()]
	if !ok {
		return
	}
	delete(b.timers, e.Timer()) // a ticker's function would have to be set again
	m := b.my(g)
	gr, s := &b.p.Gs[m.n], b.p.Step(at.step)
	s.Kind, s.Arg = Start, uint32(m.n)
	gr.By, gr.Created = at.by, s.At
	b.step(g, e.Time, Step{Kind: Delay, Wait: int64(e.Time - s.At), Arg: uint32(Timer), Point: at.proc})
}

// collect lets the runtime's own goroutines follow the program into the next cycle of the collector, which begins where a goroutine allocates what makes the
// heap large enough. Nobody is known to wake them.
func (b *builder) collect(g *replay.G, now trace.Time) {
	b.r.Settle(g, now)
	b.cycle, b.cycleAt = uint32(b.p.Tokens), now
	b.p.Tokens++
	b.step(g, now, Step{Kind: Give, Arg: b.cycle})
}

// End ends a goroutine.
func (b *builder) End(g *replay.G, now trace.Time) {
	m := b.my(g)
	b.unseen(m.wait, m.waited)
	b.silent(m.give, m.gave)
	b.step(g, now, Step{Kind: End})
	b.tell(g, now)
	b.leavesIdle(m)
}

// unseen records that there was no operation behind a step with an object.
func (b *builder) unseen(s StepID, id ObjectID) {
	if s != 0 {
		b.p.Objects[id].missed++
	}
}

// silent records that a step ended a wait, and no operation was seen that did.
func (b *builder) silent(s StepID, id ObjectID) {
	if s != 0 {
		b.p.Objects[id].silent = true
	}
}

// object is the number of an object, 0 for none.
func (b *builder) object(ob *replay.Object) ObjectID {
	if ob == nil {
		return 0
	}
	id := b.at(ob.Address)
	if ob.Partly || ob.Unseen {
		b.p.Objects[id].unfit = true
	}
	return id
}

// at is the number of the object at an address.
func (b *builder) at(a trace.Address) ObjectID {
	id, ok := b.objects[a]
	if !ok {
		id = ObjectID(len(b.p.Objects))
		b.objects[a] = id
		b.p.Objects = append(b.p.Objects, Object{Address: a, Name: trace.NoPoint, Cap: -1})
	}
	return id
}

// opOf are operations by the names that points have for them. Locks are followed by [builder.Acquire] and
// [builder.Release], which know of those without a probe too.
var opOf = map[string]Op{
	spec.OpAcquire: Acquire, spec.OpRelease: Release,
	spec.OpSend: Send, spec.OpReceive: Receive, spec.OpClose: Close, spec.OpAdd: Add, spec.OpDone: Done, spec.OpWait: Join,
}

// Sync makes a step of an operation.
func (b *builder) Sync(g *replay.G, ob *replay.Object, op trace.Operation, now trace.Time) {
	b.operator = g
	b.r.Settle(g, now)
	id, p := b.object(ob), &b.r.T.Points[op.Point]
	o := &b.p.Objects[id]
	if p.Flags&spec.FlagUnseen != 0 || p.Degraded() > 0 && (replay.KindOf(p.Op) != replay.KindLock || !few(p)) {
		o.unfit = true
	}
	if g.HasToken() {
		o.unfit = true
		return
	}
	if o.Name == trace.NoPoint {
		o.Name = op.Point
	}
	kind := opOf[p.Op]
	if kind == Acquire || kind == Release {
		b.amount = int64(op.Queue)
		o.unfit = o.unfit || op.Queue == mostAmount
	} else {
		o.queue = max(o.queue, op.Queue)
	}
	if kind != NoOp {
		b.operate(g, id, kind, op.Point, now)
	}
}

// Acquire makes the step of an operation that takes a lock.
func (b *builder) Acquire(g *replay.G, ob *replay.Object, _ replay.Holder, held replay.Held, now trace.Time) {
	id, op := b.object(ob), Lock
	if b.r.Shared(held.Point) {
		op = RLock
	}
	m := b.my(g)
	if op == Lock && m.holding(id) >= 0 { // nobody saw it give the lock back
		b.giveBack(g, id, now)
	}
	step := b.operate(g, id, op, held.Point, now)
	m.holds = append(m.holds, hold{id, op, held.Point, step})
}

// Release makes that of one that gives it back, by whom it may.
func (b *builder) Release(g *replay.G, ob *replay.Object, held int, how replay.Release, now trace.Time) {
	id, by := b.object(ob), g
	if how != replay.Unlocked {
		b.giveBack(g, id, now)
		return
	}
	if b.operator != nil {
		by = b.operator
	}
	op, point := b.my(by).gives(id)
	if op == NoOp && by != g && held >= 0 && !b.r.Shared(g.Held[held].Point) { // a mutex that another one had taken
		op, point = b.my(g).gives(id)
		b.p.Objects[id].handed = true
	}
	if op == NoOp { // nobody saw it take the lock
		o := &b.p.Objects[id]
		o.missed++
		o.unfit = o.unfit || o.handed // who gave it back for another one may have taken it, too
		return
	}
	b.r.Settle(by, now)
	b.operate(by, id, op, point, now)
}

// waits and gives report whether an operation may wait, and whether it stands before what it ends waits with.
func waits(op Op) bool {
	return op == Lock || op == RLock || op == Send || op == Receive || op == Join || op == Acquire
}
func gives(op Op) bool {
	return op == Unlock || op == RUnlock || op == Close || op == Add || op == Done || op == Release
}

// mostAmount is the amount of an operation on a semaphore that is as much or more.
const mostAmount = 1<<16 - 1

// operate puts an operation where it took place: at the wait that it began with, at the first wait that it ended, or here.
func (b *builder) operate(g *replay.G, id ObjectID, op Op, point trace.PointID, now trace.Time) StepID {
	m, o := b.my(g), &b.p.Objects[id]
	o.ops[op]++
	b.p.Operations++
	var at StepID
	if op == Acquire && m.wait != 0 { // for a channel of the semaphore's own
		at, m.wait = m.wait, 0
		s := b.p.Step(at)
		o.unfit = o.unfit || s.Kind == Delay
		s.Obj = id
	}
	if m.wait != 0 && m.waited == id && waits(op) {
		at, m.wait = m.wait, 0
		o.full = o.full || op == Send
		o.unfit = o.unfit || b.p.Step(at).Kind == Delay // nobody's operation ended it
	}
	if m.give != 0 && m.gave == id && !gives(op) {
		if at == 0 {
			at = m.give
		}
		m.give = 0
	}
	if at == 0 {
		if at = b.step(g, now, Step{Kind: Operate, Obj: id}); op == Send || op == Receive {
			b.operated(m, id, at)
		}
	}
	b.unseen(m.wait, m.waited)
	b.silent(m.give, m.gave)
	m.wait, m.give, m.did = 0, 0, 0
	if gives(op) {
		m.did = id
	}
	s := b.p.Step(at)
	s.Op, s.Point = op, point
	switch op {
	case Acquire, Release:
		s.Wait = b.amount
	case Join:
		s.Wait = o.ops[Done]
		o.joins = append(o.joins, at)
	case Done: // of two events at one time either may come first
		o.joins = slices.DeleteFunc(o.joins, func(j StepID) bool { return b.p.Step(j).At < now })
		for _, j := range o.joins {
			b.p.Step(j).Wait++
		}
	case Close:
		m.closes = at
	}
	return at
}

// finish decides of which objects the operations tell all.
func (b *builder) finish() {
	for _, g := range b.r.Goroutines() {
		if g.State == trace.None {
			continue
		}
		if n := b.my(g).n; g.ID == 1 && (g.Keeps() || b.r.Virtual()) {
			b.p.Last = n // the program ends when main returns
		}
		if m := b.my(g); m.wait != 0 && b.p.Step(m.wait).Arg != 0 {
			b.unseen(m.wait, m.waited)
		}
		b.lets(g)
		b.step(g, b.p.End, Step{Kind: Cut})
	}
	b.connect()
	if b.p.Procs = b.virtual; b.virtual == 0 {
		b.p.Procs = max(b.r.MostProcs(b.p.End), 1)
	}
	if b.p.WakeUp = b.wakeUp(); b.virtual == 0 {
		b.p.HoldOff = timerSlack + b.p.WakeUp
	}
	b.groups()
	b.barriers()
	for i := range b.p.Objects {
		o := &b.p.Objects[i]
		b.name(o)
		o.Free = i > 0 && o.complete()
		o.Ticks = o.Name != trace.NoPoint && strings.HasPrefix(b.r.T.Points[o.Name].Name, "time.(*Ticker).C") && o.ops[Send] == 0
		if o.full && !o.told {
			o.Cap = o.queue
		}
	}
	for _, g := range b.r.Goroutines() {
		if g.State != trace.None {
			b.staysIdle(b.my(g))
		}
	}
	b.ticks()
}

// name gives an object the name that profiles have for it: of several that goroutines use, that of its declaration.
func (b *builder) name(o *Object) {
	ob := b.r.Object(o.Address)
	if ob == nil || o.Name == trace.NoPoint {
		return
	}
	if b.r.Names.Among(ob.Same, o.Name) {
		o.Name, o.Also = b.r.BestPoint(ob), slices.Clone(ob.Same)
	} else if best := b.r.BestPoint(ob); b.r.T.Points[o.Name].Flags&spec.FlagWeakName != 0 && best != o.Name {
		o.Name, o.Also = best, []trace.PointID{best, o.Name}
	}
}

// groups finds WaitGroups whose goroutines are started by their method Go: what it does when they end has no probe. They are those in which
// each operation that adds is followed by a start, and none is a Done. When a Join is over all that were added before are done.
func (b *builder) groups() {
	added := make([]int64, len(b.p.Objects))
	for id := range StepID(b.p.Steps.Len()) {
		s := b.p.Step(id)
		if s.Op != Add || b.p.Objects[s.Obj].ops[Done] > 0 || s.Next == 0 {
			continue
		}
		if next := b.p.Step(s.Next); next.Kind == Start {
			b.p.Gs[next.Arg].Done = s.Obj
			added[s.Obj]++
		}
	}
	for i := range b.p.Objects {
		o := &b.p.Objects[i]
		o.goes = added[i] > 0 && added[i] == o.ops[Add]
		added[i] = 0
	}
	for i := range b.p.Gs {
		if g := &b.p.Gs[i]; !b.p.Objects[g.Done].goes {
			g.Done = 0
		}
	}
	b.needs(added)
}

// needs finds how many ends each Join of those needs: as many as were added before. added is 0 for all.
func (b *builder) needs(added []int64) {
	var joins []StepID // a Join's step may have begun before those that came before its end
	for id := range StepID(b.p.Steps.Len()) {
		if s := b.p.Step(id); s.Op == Join && b.p.Objects[s.Obj].goes {
			joins = append(joins, id)
		}
	}
	slices.SortStableFunc(joins, func(i, j StepID) int { return cmp.Compare(b.p.Step(i).At, b.p.Step(j).At) })
	at := 0
	for id := range StepID(b.p.Steps.Len()) {
		s := b.p.Step(id)
		if s.Op != Add {
			continue
		}
		for ; at < len(joins) && b.p.Step(joins[at]).At < s.At; at++ {
			j := b.p.Step(joins[at])
			j.Wait = added[j.Obj]
		}
		added[s.Obj]++
	}
	for ; at < len(joins); at++ {
		j := b.p.Step(joins[at])
		j.Wait = added[j.Obj]
	}
}

const (
	usualWakeUp = 5000 // what a wake-up takes if the trace has none, in ns

	// timerSlack is how long Linux takes, in ns, for a sleep of 3 us, but for the wake-up. The runtime sleeps so long before it takes the goroutine that is next
	// on another processor.
	timerSlack = 53_000
)

// wakeUp is the median of the wake-ups: of waits for a processor while one was idle.
func (b *builder) wakeUp() int64 {
	const most = 1 << 16
	var list []int64
	for id := StepID(1); int(id) < b.p.Steps.Len() && len(list) < most; id++ {
		if s := b.p.Step(id); s.Kind == Ready && s.Wait > 0 && s.After() < 0 {
			list = append(list, s.Wait)
		}
	}
	if len(list) == 0 {
		if b.virtual > 0 {
			return 0
		}
		return usualWakeUp
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// operated reports whether an operation was seen that goroutines may wait for.
func (o *Object) operated() bool {
	n := int64(0)
	for _, ops := range o.ops {
		n += ops
	}
	return n > 0
}

// doubts says what the trace is only a part of.
func (b *builder) doubts(source trace.Source) {
	say := func(format string, args ...any) { b.p.Notes = append(b.p.Notes, fmt.Sprintf(format, args...)) }
	t, part := b.r.T, false
	if c, computed := t.Corrected(); computed {
		say("times are computed, without what probes cost (qinst correct): the run took %s, and would have taken %s to %s", measure.Time(c.Took), measure.Time(c.Least), measure.Time(c.Most))
	}
	if t.Attr(trace.AttrFrom) != nil {
		part = true
		say("this is a part of a run, %s of it from %s on: what its goroutines waited for before, or what came of it behind, is not known", measure.Time(source.Wall()), measure.Time(t.Int(trace.AttrFrom)))
	}
	switch {
	case t.Kept:
		say("the trace tells of the last %s of a run, because earlier events made room for them", measure.Time(source.Wall()))
	case t.Ran > source.Wall():
		say("the trace tells of the first %s of a run of %s: the rest was only counted, and the path goes back from there", measure.Time(source.Wall()), measure.Time(t.Ran))
	}
	switch {
	case part || !b.worked:
	case !t.End.Known:
		say("the program did not end by itself: the path goes back from the last thing that the trace tells of")
	case b.p.Last < 0 && !b.r.Virtual():
		say("main had not returned, and was waiting, when the program ended (%s): the path goes back from the last work before", t.End)
	}
	if p, share := b.endless(); share > endlessShare {
		say("%s, with %.0f %% of the work, has a loop that ends when a time is over or others say so: a computed run does as much work as this one, and takes as long as that does; the program would do more or less in the same time", b.r.T.Points[p].Name, 100*share)
	}
	b.p.Doubts = len(b.p.Notes)
}

// notes says what the trace does not tell.
func (b *builder) notes(losses *trace.Losses) {
	say := func(format string, args ...any) { b.p.Notes = append(b.p.Notes, fmt.Sprintf(format, args...)) }
	if !b.worked {
		say("the trace does not tell what goroutines did, and so nothing of a path: it needs events (QINST=mode=trace, as without a setting)")
		return
	}
	for _, l := range losses.List() {
		say("lost: %v", l)
	}
	unfit, all := map[string]bool{}, map[string]bool{}
	for i := range b.p.Objects {
		if o := &b.p.Objects[i]; o.Name != trace.NoPoint && o.operated() {
			name := b.r.T.Points[o.Name].Name
			all[name] = true
			if !o.Free {
				unfit[name] = true
			}
		}
	}
	if b.lacked > leastTaken && float64(b.lacked) > 0.02*float64(b.p.End) {
		say("the system did not say when it kept threads from processors (other programs, a quota), only for how long: %s, which were taken evenly out of pieces of work longer than a millisecond", measure.Time(b.lacked))
	}
	if missed, of, name := b.p.missed(); missed > 0 {
		say("%d of %d operations on locks, such as on %s, have no event: they were put where the trace shows that they must have been, or left out", missed, of, b.r.T.Points[name].Name)
	}
	if n := len(unfit); n > 0 {
		first := slices.Sorted(maps.Keys(unfit))
		say("operations on %d of %d locks and channels were not all seen, such as on %s: who waits for them is decided as it was in the run, and a run on one processor tells little of them", n, len(all), first[0])
	}
}

// agrees reports whether operations are of one kind of object, and as many as that needs.
func (o *Object) agrees() bool {
	n := &o.ops
	locks := o.locks()
	channels := n[Send] + n[Receive] + n[Close]
	groups := n[Add] + n[Done] + n[Join]
	semaphores := n[Acquire] + n[Release]
	switch {
	case semaphores > 0:
		return locks+channels+groups == 0 && o.told
	case locks > 0:
		return channels+groups == 0 && n[Unlock] <= n[Lock] && n[RUnlock] <= n[RLock]
	case channels > 0:
		return groups == 0 && (n[Receive] <= n[Send] || n[Close] > 0)
	}
	return groups > 0
}
