package steps

import (
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// operations makes the steps of operations on objects.
type operations struct {
	*stepper
	objects *objects
	idlers  *idlers
	by      *replay.G // of the operation at hand; nil: the runtime operates for a goroutine
	amount  int64     // of that, on a semaphore
	gs      bySlot[holds]
}

// holds are the locks that a goroutine has taken.
type holds struct {
	list   []hold
	closed StepID // in which it last closed a channel
}

// hold is a lock that was taken.
type hold struct {
	id    ObjectID
	op    Op
	point trace.PointID // where
	step  StepID
}

// begin notes that a goroutine is created.
func (x *operations) begin(slot trace.Slot) {
	h := x.gs.of(slot)
	*h = holds{list: h.list[:0]}
}

// last is the step in which a goroutine took the last lock that it holds; 0: it holds none.
func (h *holds) last() StepID {
	if len(h.list) == 0 {
		return 0
	}
	return h.list[len(h.list)-1].step
}

// of is the index of the last hold of a lock, -1: none.
func (h *holds) of(id ObjectID) int {
	i := len(h.list) - 1
	for i >= 0 && h.list[i].id != id {
		i--
	}
	return i
}

// gives ends the last hold of a lock, and returns the operation with which it ends, and where it
// began; NoOp if there is none. A goroutine gives back only what it took: in a computed run what
// others do comes in another order.
func (h *holds) gives(id ObjectID) (Op, trace.PointID) {
	i := h.of(id)
	if i < 0 {
		return NoOp, trace.NoPoint
	}
	one, op := h.list[i], Unlock
	if one.op == RLock {
		op = RUnlock
	}
	h.list = append(h.list[:i], h.list[i+1:]...)
	return op, one.point
}

// sync makes a step of an operation that a probe saw.
func (x *operations) sync(g *replay.G, ob *replay.Object, op trace.Operation, now trace.Time) {
	x.by = g
	x.r.Settle(g, now)
	id, p := x.objects.of(ob), &x.r.T.Points[op.Point]
	o := &x.p.Objects[id]
	switch {
	case p.Flags&spec.FlagUnseen != 0:
		o.seen.unfit = true
	case p.Degraded() == 0 || replay.KindOf(p.Op) == replay.KindLock && few(x.r.T, op.Point):
	case p.Op == spec.OpAdd || p.Op == spec.OpDone:
		o.seen.counted = true
	default:
		o.seen.unfit = true
	}
	if g.HasToken() {
		o.seen.unfit = true
		return
	}
	if o.Name == trace.NoPoint {
		o.Name = op.Point
	}
	kind := opOf[p.Op]
	if kind == Acquire || kind == Release {
		x.amount = int64(op.Queue)
		o.seen.unfit = o.seen.unfit || op.Queue == mostAmount
	} else {
		o.seen.queue = max(o.seen.queue, op.Queue)
	}
	switch {
	case kind == Send && o.ops[Close] > 0:
		o.seen.unfit = true // another channel was at its address
	case kind == Send || kind == Receive && o.ops[Close] == 0:
		o.length(op.Queue, kind)
	}
	if kind != NoOp {
		x.operate(g, id, kind, op.Point, now)
	}
}

// acquire makes the step of an operation that takes a lock.
func (x *operations) acquire(g *replay.G, ob *replay.Object, held replay.Held, now trace.Time) {
	id, op := x.objects.of(ob), Lock
	if x.r.Shared(held.Point) {
		op = RLock
	}
	h := x.gs.of(g.Slot)
	if op == Lock && h.of(id) >= 0 { // its release was not seen
		x.giveBack(g, id, now)
	}
	step := x.operate(g, id, op, held.Point, now)
	h.list = append(h.list, hold{id, op, held.Point, step})
}

// release makes that of one that gives it back, by whom it may.
func (x *operations) release(g *replay.G, ob *replay.Object, held int, how replay.Release, now trace.Time) {
	id, by := x.objects.of(ob), g
	if how != replay.Unlocked {
		x.giveBack(g, id, now)
		return
	}
	if x.by != nil {
		by = x.by
	}
	op, point := x.gs.of(by.Slot).gives(id)
	if op == NoOp && by != g && held >= 0 && !x.r.Shared(g.Held[held].Point) { // a mutex that another one had taken
		op, point = x.gs.of(g.Slot).gives(id)
		x.p.Objects[id].seen.handed = true
	}
	if op == NoOp { // its acquisition was not seen
		o := &x.p.Objects[id]
		o.seen.missed++
		// a goroutine that released it for another one may have taken it, too
		o.seen.unfit = o.seen.unfit || o.seen.handed
		return
	}
	x.r.Settle(by, now)
	x.operate(by, id, op, point, now)
}

// operate puts an operation where it took place: at the wait that it began with, at the first wait
// that it ended, or here.
func (x *operations) operate(g *replay.G, id ObjectID, op Op, point trace.PointID, now trace.Time) StepID {
	o := &x.p.Objects[id]
	o.ops[op]++
	x.p.Operations++
	at := x.begun(x.my(g), o, id, op)
	if at == 0 {
		if at = x.step(g, now, Step{Kind: Operate, Obj: id}); op == Send || op == Receive {
			x.idlers.operated(g.Slot, id, at, point)
		}
	}
	x.forget(g)
	if m := x.my(g); op.gives() {
		m.did = id
	}
	s := x.p.Step(at)
	s.Op, s.point = op, point
	switch op {
	case Acquire, Release:
		s.SetAmount(x.amount)
	case Join, Done:
		x.joins(o, op, at, now)
	case Close:
		x.gs.of(g.Slot).closed = at
	}
	return at
}

// begun is the step of the wait that an operation began with, or of the first one that it ended; 0:
// neither.
func (x *operations) begun(m *mine, o *Object, id ObjectID, op Op) (at StepID) {
	if op == Acquire && m.wait != 0 { // for a channel of the semaphore's own
		at, m.wait = m.wait, 0
		s := x.p.Step(at)
		o.seen.unfit = o.seen.unfit || s.Kind == Delay
		s.Obj = id
	}
	if m.wait != 0 && m.waited == id && op.waits() {
		at, m.wait = m.wait, 0
		o.seen.full = o.seen.full || op == Send
		o.seen.unfit = o.seen.unfit || x.p.Step(at).Kind == Delay // no operation ended it
	}
	if m.give != 0 && m.gave == id && !op.gives() {
		if at == 0 {
			at = m.give
		}
		m.give = 0
	}
	return at
}

// opFor are the operations for which goroutines wait, by the runtime's reasons. A select may be for
// any of several.
var opFor = map[string]Op{"chan receive": Receive, "chan send": Send, "sync.Mutex.Lock": Lock, "sync.RWMutex.Lock": Lock,
	"sync.RWMutex.RLock": RLock, "sync.WaitGroup.Wait": Join}

// comes notes the operation of a goroutine whose wait is over at the end of the trace, and that has
// not run since, and reports whether it is known: with the next event it would have been seen.
func (x *operations) comes(g *replay.G) bool {
	m := x.my(g)
	op := opFor[x.r.T.Reason(m.why)]
	if g.State != trace.Runnable || m.wait != m.last || op == NoOp {
		return false
	}
	x.p.Step(m.wait).Op = op
	x.p.Objects[m.waited].ops[op]++
	return true
}

// joins counts the operations Done that come before each Join.
func (x *operations) joins(o *Object, op Op, at StepID, now trace.Time) {
	if op == Join {
		x.p.Step(at).SetDones(int(o.ops[Done]))
		o.seen.joins = append(o.seen.joins, at)
		return
	}
	// Of two events at one time either may come first.
	o.seen.joins = slices.DeleteFunc(o.seen.joins, func(j StepID) bool { return x.p.Step(j).At < now })
	for _, j := range o.seen.joins {
		s := x.p.Step(j)
		s.SetDones(s.Dones() + 1)
	}
}

// forget gives up the steps of which no operation has been seen.
func (x *operations) forget(g *replay.G) {
	m := x.my(g)
	x.objects.unseen(m.wait, m.waited)
	x.objects.silent(m.give, m.gave)
	m.wait, m.give, m.did = 0, 0, 0
}

// giveBack makes the step of an unseen release of a lock: before the goroutine's current step.
func (x *operations) giveBack(g *replay.G, id ObjectID, now trace.Time) {
	m, o := x.my(g), &x.p.Objects[id]
	o.seen.missed++
	op, point := x.gs.of(g.Slot).gives(id)
	if op == NoOp {
		return
	}
	o.ops[op]++
	x.p.Operations++
	s := Step{Kind: Operate, Obj: id, Op: op, point: point}
	switch {
	case m.last == 0 || g.State == trace.Running || len(m.parts) > 0:
		x.step(g, now, s)
	case g.State == trace.Waiting && x.p.Step(m.last).Kind == Take:
		x.before(m, s)
	default:
		x.step(g, x.p.Step(m.last).At, s)
	}
}

// lets releases the locks that a goroutine holds where the trace ends. In a computed run it may
// come there while others go on, which would wait for ever.
func (x *operations) lets(g *replay.G) {
	h := x.gs.of(g.Slot)
	for len(h.list) > 0 {
		id := h.list[len(h.list)-1].id
		x.giveBack(g, id, x.p.End)
		x.p.Objects[id].seen.missed-- // it is not missing
	}
}
