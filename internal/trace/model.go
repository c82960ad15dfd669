package trace

import "qinst.dev/sddf/spec"

// gor is the model's state of a live goroutine.
type gor struct {
	id    GoID
	th    *thread // on which it runs or is in a system call
	stack []uint32
	seq   uint32 // number of its last numbered transition
	slot  Slot
	state State
}

// gors are the goroutines.
type gors struct {
	live  map[GoID]*gor
	free  []*gor // ended, each with its slot
	slots Slot   // slots ever used
}

// add adds a goroutine.
func (gs *gors) add(id GoID) (g *gor) {
	if n := len(gs.free); n > 0 {
		g, gs.free = gs.free[n-1], gs.free[:n-1]
	} else {
		g = &gor{slot: gs.slots}
		gs.slots++
	}
	g.id, gs.live[id] = id, g
	return g
}

// end ends a goroutine. Its slot is used again.
func (gs *gors) end(g *gor) {
	delete(gs.live, g.id)
	if cap(g.stack) > 1024 {
		g.stack = nil
	}
	gs.free = append(gs.free, g)
}

// change is a change that a held thread may wait for: of a goroutine, 0 for none, or of a
// processor, -1 for none.
type change struct {
	g GoID
	p int32
}

// model keeps the state of every goroutine, thread and processor. It applies entries and emits
// the resulting events.
type model struct {
	t       *Trace
	losses  Losses
	forcing bool // apply the event even if it does not fit
	holding bool // threads are held: note changes

	now     uint64 // ticks; never goes back
	nowNs   Time
	gors    gors
	owner   []*thread // by processor
	byID    map[uint32]*thread
	entered []uint64 // enter events by point
	woken   []change
	wakes   wakes

	batch []Event
	emitf func([]Event) error
	err   error
}

// wakes is how threads wake others for idle processors.
type wakes struct {
	freed []Time  // since when a processor has had no thread, by processor
	by    *thread // the one that woke another one last, which has no processor yet; nil: none
	at    Time    // when it began to
	call  Time    // how long it took; 0: it is not over
	late  Time    // when the other one had its processor, since then; 0: it has none
	idle  Time
}

func (m *model) init(t *Trace, f func([]Event) error) {
	m.t, m.emitf = t, f
	m.gors.live = map[GoID]*gor{}
	m.entered = make([]uint64, len(t.Points))
	m.batch = make([]Event, 0, batchLen)
	m.now = t.clock.origin
}

// flush hands over the batch.
func (m *model) flush() error {
	if m.err == nil && len(m.batch) > 0 {
		m.err = m.emitf(m.batch)
		m.t.Progress.Reads(m.nowNs)
	}
	m.batch = m.batch[:0]
	return m.err
}

// emit appends an event at the current time.
func (m *model) emit(e Event) {
	if len(m.batch) == cap(m.batch) {
		m.flush()
	}
	e.Time = m.nowNs
	m.batch = append(m.batch, e)
}

// emitCall is emit for an enter or exit. Most events are of these kinds, so the event is made in
// place, because copying it takes longer than making it.
func (m *model) emitCall(th *thread, g *gor, kind Kind, point uint32, cause Cause) {
	n := len(m.batch)
	if n == cap(m.batch) {
		m.flush()
		n = 0
	}
	m.batch = m.batch[:n+1]
	e := &m.batch[n]
	e.Time, e.G, e.obj, e.arg = m.nowNs, g.id, 0, uint64(point)
	e.Slot, e.By, e.Thread, e.aux = g.slot, NoSlot, ThreadID(th.id), 0
	e.Kind, e.From, e.To, e.Cause = kind, None, None, cause
}

// apply applies a thread's current event. It returns false, having changed
// nothing but the thread's context, if the event must wait for another thread's.
func (m *model) apply(th *thread) bool {
	if th.fresh {
		m.enterBlock(th)
	}
	kind, arg := th.word>>24&0xff, uint32(th.word&0xffffff)
	if kind >= spec.EvGoCreate && kind != spec.EvRecord && !m.forcing && !m.ready(th, kind, arg) {
		return false
	}
	if th.time > m.now {
		m.now = th.time
		m.nowNs = m.t.clock.ns(th.time)
	}
	if th.off.was != None {
		m.resume(th)
	}
	switch kind {
	case spec.EvEnter:
		m.enter(th, arg)
	case spec.EvExit:
		m.exit(th, arg)
	case spec.EvLeave:
		if g := th.g; g != nil && th.arg(1) != spec.NoTrips && m.popAbove(th, g, arg) {
			m.emit(Event{Kind: Trips, G: g.id, Slot: g.slot, By: NoSlot, arg: th.arg(1), Thread: ThreadID(th.id)})
		}
		m.exit(th, arg)
	case spec.EvUnwind:
		m.unwind(th, arg)
	case spec.EvSync:
		m.sync(th, arg)
	case spec.EvSample:
		m.sample(th, arg, 0)
	case spec.EvLook:
		m.sample(th, arg, th.arg(2))
	case spec.EvOff, spec.EvTaken, spec.EvOn:
		m.switched(kind, arg)
	case spec.EvRecord:
		m.record(th, arg)
	case spec.EvGoroutine:
		id, seq := th.goWord()
		m.context(th, id, th.p)
		if th.g != nil {
			th.g.seq = seq
		}
	case spec.EvGap:
		m.losses.Events += int64(th.arg(2))
		m.emit(Event{Kind: Gap, arg: th.arg(2), Slot: NoSlot, By: NoSlot, Thread: ThreadID(th.id)})
	default:
		m.schedule(th, kind, arg)
	}
	return true
}

// reached counts an event at a point and returns the goroutine that it is of, nil if
// one of them is not known.
func (m *model) reached(th *thread, point uint32) *gor {
	switch {
	case th.g == nil:
		m.losses.NoGoroutine++
		return nil
	case int(point) >= len(m.entered):
		m.losses.UnknownPoint++
		return nil
	}
	m.entered[point]++
	return th.g
}

// sync applies an operation on a synchronization object.
func (m *model) sync(th *thread, point uint32) {
	g := m.reached(th, point)
	if g == nil {
		return
	}
	obj, queue := object(th.arg(1))
	m.emit(Event{Kind: Sync, G: g.id, Slot: g.slot, By: NoSlot, arg: uint64(point), obj: obj, aux: queue,
		Thread: ThreadID(th.id)})
}

// sample applies a sample of another thread.
func (m *model) sample(th *thread, on uint32, code uint64) {
	w := th.arg(1)
	e := Event{Kind: Sample, Slot: NoSlot, By: NoSlot, arg: w & (1<<32 - 1), aux: uint32(w >> 32 & (1<<31 - 1)),
		obj: w >> 63, Thread: ThreadID(th.id)}
	if seen := m.byID[on]; seen != nil && seen.g != nil && e.arg < uint64(max(1, len(m.t.Paths))) {
		e.G, e.Slot = seen.g.id, seen.g.slot
	}
	if code < uint64(len(m.t.Codes)) {
		e.arg |= code << 32
	}
	m.emit(e)
}

// record applies the emission of a record.
func (m *model) record(th *thread, point uint32) {
	g := m.reached(th, point)
	if g == nil {
		return
	}
	at := th.block.Off + int64(th.pos) + 16
	m.emit(Event{Kind: Record, G: g.id, Slot: g.slot, By: NoSlot, arg: uint64(point), obj: uint64(at),
		aux: uint32(th.arg(1)), Thread: ThreadID(th.id)})
}

// object takes a word of an address and a number apart.
func object(w uint64) (obj uint64, n uint32) {
	return w & (1<<spec.AddressBits - 1), uint32(w >> spec.AddressBits)
}

// enterBlock takes the context from a buffer's head, if events before it are missing or its
// number passed to another thread. Otherwise the model's state is more reliable, because it has
// seen every event.
func (m *model) enterBlock(th *thread) {
	th.fresh = false
	b := &th.block
	restart := !th.seenIn || th.lost || th.tid != b.tid
	th.seenIn, th.lost, th.tid = true, false, b.tid
	if restart {
		m.context(th, GoID(b.g), b.p)
		return
	}
	var id GoID
	if th.g != nil {
		id = th.g.id
	}
	if id != GoID(b.g) {
		m.losses.Context++
	}
}

// context makes goroutine id the one on the thread, and p its processor.
func (m *model) context(th *thread, id GoID, p int32) {
	if th.p != p {
		m.releaseProc(th)
		if p >= 0 && m.procOK(p) {
			m.takeProc(th, p)
			th.stated = true
		}
	}
	if th.g != nil && th.g.id != id {
		m.losses.States++
		m.change(th, th.g, Waiting, 0, ByRepair, NoSlot)
	}
	if id == 0 || th.g != nil {
		return
	}
	g := m.gors.live[id]
	if g == nil {
		g = m.create(th, id, 0, Runnable, 0, ByRepair, NoSlot)
	}
	if th.p >= 0 {
		m.change(th, g, Running, 0, ByRepair, NoSlot)
	} else {
		m.change(th, g, Blocked, 0, ByRepair, NoSlot)
	}
}

// enter, exit and unwind keep the stack of procedures of the goroutine that runs
// on the thread.

func (m *model) enter(th *thread, point uint32) {
	g := m.reached(th, point)
	if g == nil {
		return
	}
	g.stack = append(g.stack, point)
	m.emitCall(th, g, Enter, point, ByCode)
}

// maxSearch bounds the search for the enter of an exit. It is far more than lost events leave
// open, and without it reading could become quadratic.
const maxSearch = 4096

func (m *model) exit(th *thread, point uint32) {
	g := th.g
	if g == nil {
		m.losses.NoGoroutine++
		return
	}
	if !m.popAbove(th, g, point) {
		m.losses.StrayExits++
		return
	}
	m.pop(th, g, ByCode)
}

// popAbove closes the procedures that g has entered since it entered point, and reports whether g
// is in point.
func (m *model) popAbove(th *thread, g *gor, point uint32) bool {
	top := len(g.stack) - 1
	for i := top; i >= 0 && i > top-maxSearch; i-- {
		if g.stack[i] != point {
			continue
		}
		if i < top {
			cause := ByPanic
			if m.t.Points[point].Flags&spec.FlagDeferExit == 0 {
				m.losses.Exits += int64(top - i)
				cause = ByRepair
			}
			m.popTo(th, g, i+1, cause)
		}
		return true
	}
	return false
}

func (m *model) unwind(th *thread, depth uint32) {
	if th.g == nil {
		m.losses.NoGoroutine++
		return
	}
	if int(depth) > len(th.g.stack) {
		m.losses.StrayExits++
		return
	}
	m.popTo(th, th.g, int(depth), ByPanic)
}

func (m *model) pop(th *thread, g *gor, cause Cause) {
	top := len(g.stack) - 1
	point := g.stack[top]
	g.stack = g.stack[:top]
	m.emitCall(th, g, Exit, point, cause)
}

func (m *model) popTo(th *thread, g *gor, depth int, cause Cause) {
	for len(g.stack) > depth {
		m.pop(th, g, cause)
	}
}
