package trace

import (
	"math"

	"qinst.dev/sddf/spec"
)

// MaxProcs bounds the numbers of processors that are believed.
const MaxProcs = 1 << 12

// seqMask: sequence numbers are kept modulo 2^24.
const seqMask = 1<<24 - 1

// legal shows which state may follow which without repair. A coroutine switch takes a goroutine
// from Waiting to Running.
var legal = [NumStates][NumStates]bool{
	Runnable: {Running: true},
	Running:  {Runnable: true, Waiting: true, Syscall: true, None: true, OffCPU: true},
	Waiting:  {Runnable: true, Running: true},
	Syscall:  {Running: true, Blocked: true, None: true, OffCPU: true},
	Blocked:  {Runnable: true, None: true, Syscall: true},
	OffCPU:   {Running: true, Syscall: true, Blocked: true},
}

// Legal reports whether a goroutine may go from one state to another.
func Legal(from, to State) bool { return from < NumStates && to < NumStates && legal[from][to] }

// via is the next state on the way between two, by legal steps.
func via(from, to State) State {
	switch {
	case legal[from][to]:
		return to
	case from == Waiting, from == Blocked:
		return Runnable
	case from == Running:
		return Syscall // to Blocked; every other state follows Running
	}
	return Running
}

// ready reports whether the event follows from the events so far. If not, it notes the event that
// the thread waits for.
func (m *model) ready(th *thread, kind uint64, arg uint32) bool {
	switch kind {
	case spec.EvGoStart:
		return m.goReady(th, Runnable)
	case spec.EvGoUnpark, spec.EvGoUnparkBy, spec.EvGoSwitch:
		return m.goReady(th, Waiting)
	case spec.EvSyscallEndNoP:
		return th.g == nil || th.g.state != Syscall && (th.off.was != Syscall || th.p < 0) || m.waitProc(th, th.p)
	case spec.EvProcStart:
		if th.stated && th.p == int32(arg) {
			return true
		}
		if th.p >= 0 {
			return m.waitProc(th, th.p) // stolen from it, which is yet to be seen
		}
		return !m.procOK(int32(arg)) || m.owner[arg] == nil || m.waitProc(th, int32(arg))
	case spec.EvProcSteal:
		if !m.procOK(int32(arg)) {
			return true
		}
		v := m.owner[arg]
		return v != nil && v.loses(th) || m.waitProc(th, int32(arg))
	}
	return true
}

// goReady: the goroutine's transition must be the one after its last, and find
// it in the state from which the transition leads.
func (m *model) goReady(th *thread, want State) bool {
	id, seq := th.goWord()
	g := m.gors.live[id]
	switch {
	case g == nil:
		if seq <= 1 {
			return true // nothing can come before; repaired
		}
	case (seq-g.seq)&seqMask == 1:
		if g.state == want {
			return true
		}
	case (seq-g.seq)&seqMask > seqMask/2 || seq == g.seq:
		return true // too late to wait for anything
	}
	th.waits = change{id, -1}
	return false
}

func (m *model) waitProc(th *thread, p int32) bool {
	th.waits = change{0, p}
	return false
}

// schedule applies a scheduling event.
func (m *model) schedule(th *thread, kind uint64, arg uint32) {
	switch kind {
	case spec.EvGoCreate, spec.EvGoCreateSyscall:
		m.goCreate(th, kind, arg)
	case spec.EvLate:
		th.late = uint64(arg) * spec.LateUnit
	case spec.EvFired:
		th.fired, _ = object(th.arg(1))
	case spec.EvGoStart:
		m.goStart(th)
	case spec.EvGoSwitch:
		m.goSwitch(th, arg)
	case spec.EvGoUnpark:
		m.goUnpark(th, arg, 0)
	case spec.EvGoUnparkBy:
		m.goUnpark(th, arg, th.arg(2))
	case spec.EvProcStart:
		m.procStart(th, int32(arg))
	case spec.EvProcStop:
		if th.p != int32(arg) {
			m.losses.States++
		}
		m.releaseProc(th)
	case spec.EvProcSteal:
		m.procSteal(th, int32(arg))
	case spec.EvProcs:
		m.procs(uint64(arg), ThreadID(th.id))
	default:
		m.current(th, kind, arg)
	}
}

// current applies an event about the goroutine that runs on the thread.
func (m *model) current(th *thread, kind uint64, arg uint32) {
	g := th.g
	if kind >= spec.EvSTWBegin && kind <= spec.EvAssistEnd || kind == spec.EvWakeBegin || kind == spec.EvWakeEnd {
		m.wakening(th, kind)
		e := Event{Kind: Mark, arg: kind, Slot: NoSlot, By: NoSlot, Thread: ThreadID(th.id)}
		if g != nil {
			e.G, e.Slot = g.id, g.slot
		}
		m.emit(e)
		return
	}
	if g == nil {
		m.losses.NoGoroutine++
		return
	}
	switch kind {
	case spec.EvGoPark:
		m.change(th, g, Waiting, uint64(arg), ByCode, NoSlot)
	case spec.EvGoWait:
		obj, stack := object(th.arg(1))
		if m.t.stoppedIn(StackID(stack)) && m.t.Reason(ReasonID(arg)) != m.t.Reason(StoppedReason) {
			arg, obj = uint32(StoppedReason), 0
			m.losses.Reasons++
		}
		m.step(th, g, Event{To: Waiting, arg: uint64(arg), By: NoSlot, obj: obj, aux: stack})
	case spec.EvRegionBegin, spec.EvRegionEnd, spec.EvGoName, spec.EvLabels:
		e := Event{Kind: Region, G: g.id, Slot: g.slot, By: NoSlot, arg: uint64(arg), Thread: ThreadID(th.id)}
		switch kind {
		case spec.EvRegionBegin:
			e.aux = 1
		case spec.EvGoName:
			e.Kind = Named
		case spec.EvLabels:
			e.Kind = Labeled
		}
		m.emit(e)
	case spec.EvYields:
		if arg > 0 {
			m.emit(Event{Kind: Yields, G: g.id, Slot: g.slot, By: NoSlot, arg: uint64(arg), Thread: ThreadID(th.id)})
		}
	case spec.EvSpinBegin, spec.EvSpinEnd:
		m.emit(Event{Kind: Spin, G: g.id, Slot: g.slot, By: NoSlot, aux: uint32(spec.EvSpinEnd - kind),
			Thread: ThreadID(th.id)})
	case spec.EvAlloc:
		bytes, stack := object(th.arg(1))
		m.emit(Event{Kind: Alloc, G: g.id, Slot: g.slot, By: NoSlot, arg: bytes, aux: stack, Thread: ThreadID(th.id)})
	case spec.EvTaskBegin, spec.EvTaskEnd:
		m.emit(Event{Kind: Task, G: g.id, Slot: g.slot, By: NoSlot, arg: uint64(arg), obj: th.arg(1),
			aux: uint32(spec.EvTaskEnd - kind), Thread: ThreadID(th.id)})
	case spec.EvTimer:
		obj, _ := object(th.arg(1))
		m.emit(Event{Kind: Timer, G: g.id, Slot: g.slot, By: NoSlot, obj: obj, Thread: ThreadID(th.id)})
	case spec.EvEnd:
		obj, _ := object(th.arg(1))
		m.emit(Event{Kind: Joined, G: g.id, Slot: g.slot, By: NoSlot, obj: obj, aux: arg, arg: th.arg(2),
			Thread: ThreadID(th.id)})
	case spec.EvChannel, spec.EvSemaphore:
		obj, _ := object(th.arg(1))
		what := Channel
		if kind == spec.EvSemaphore {
			what = Semaphore
		}
		m.emit(Event{Kind: what, G: g.id, Slot: g.slot, By: NoSlot, arg: uint64(arg), obj: obj,
			Thread: ThreadID(th.id)})
	case spec.EvGoStop:
		cause := ByCode
		if arg == spec.StopPreempt {
			cause = Preempted
		}
		m.change(th, g, Runnable, 0, cause, NoSlot)
	case spec.EvGoEnd, spec.EvGoEndSyscall:
		m.end(th, g)
	case spec.EvSyscallBegin:
		m.change(th, g, Syscall, uint64(arg), ByCode, NoSlot)
		m.wake(0, th.p)
	case spec.EvSyscallEnd:
		m.step(th, g, Event{To: Running, By: NoSlot, obj: uint64(arg)})
	case spec.EvSyscallEndNoP:
		if g.state != Blocked {
			m.losses.States++
			m.change(th, g, Blocked, 0, ByRepair, NoSlot)
		}
		m.step(th, g, Event{To: Runnable, By: NoSlot, obj: uint64(arg)})
	}
}

func (m *model) goCreate(th *thread, kind uint64, arg uint32) {
	id, seq := th.goWord()
	by := NoSlot
	var pc uint64
	state := Blocked
	if kind == spec.EvGoCreate {
		pc, state = th.arg(2), Runnable
		if th.g != nil {
			by = th.g.slot
		}
		if arg&1 != 0 {
			state = Waiting
		}
	}
	if g := m.gors.live[id]; g != nil || id == 0 {
		m.losses.States++
		return
	}
	path := uint32(0)
	if p := arg >> 1; kind == spec.EvGoCreate && int(p) < len(m.t.Paths) {
		path = p
	}
	g := m.createIn(th, id, seq, Event{To: state, arg: pc, By: by, aux: path})
	if th.fired != 0 && th.g == nil { // else the event of the timer's own goroutine was lost
		m.emit(Event{Kind: Fired, G: id, Slot: g.slot, By: NoSlot, obj: th.fired, Thread: ThreadID(th.id)})
	}
	th.fired = 0
	if kind == spec.EvGoCreateSyscall {
		m.detach(th)
		th.g, g.th = g, th
		m.search(th)
	}
}

// create adds a goroutine in a state, with the function it starts in.
func (m *model) create(th *thread, id GoID, seq uint32, state State, pc uint64, cause Cause, by Slot) *gor {
	return m.createIn(th, id, seq, Event{To: state, arg: pc, Cause: cause, By: by})
}

// createIn is create with further data of the event.
func (m *model) createIn(th *thread, id GoID, seq uint32, e Event) *gor {
	g := m.gors.add(id)
	g.seq, g.state = seq, e.To
	e.Kind, e.G, e.Slot, e.Thread = Create, id, g.slot, ThreadID(th.id)
	m.emit(e)
	m.wake(id, -1)
	return g
}

// target returns the goroutine that an event names, in the state that the event
// expects, repaired if need be.
func (m *model) target(th *thread, want State) *gor {
	id, seq := th.goWord()
	if id == 0 {
		m.losses.States++
		return nil
	}
	g := m.gors.live[id]
	if g == nil {
		m.losses.States++
		g = m.create(th, id, seq, want, 0, ByRepair, NoSlot)
	} else if g.state != want || (seq-g.seq)&seqMask != 1 {
		m.losses.States++
		m.change(th, g, want, 0, ByRepair, NoSlot)
	}
	g.seq = seq
	return g
}

// detach takes the goroutine off a thread on which another one appears.
func (m *model) detach(th *thread) {
	if th.g != nil {
		m.losses.States++
		m.change(th, th.g, Waiting, 0, ByRepair, NoSlot)
	}
}

func (m *model) goStart(th *thread) {
	g := m.target(th, Runnable)
	if g == nil {
		return
	}
	m.detach(th)
	if th.p < 0 {
		m.losses.States++
	}
	m.change(th, g, Running, 0, ByCode, NoSlot)
}

func (m *model) goSwitch(th *thread, ends uint32) {
	by := NoSlot
	if from := th.g; from == nil {
		m.losses.NoGoroutine++
	} else if by = from.slot; ends&1 != 0 {
		m.end(th, from)
		by = NoSlot
	} else {
		m.change(th, from, Waiting, uint64(SwitchReason), ByCode, NoSlot)
	}
	if g := m.target(th, Waiting); g != nil {
		m.change(th, g, Running, 0, ByCode, by)
	}
}

func (m *model) goUnpark(th *thread, cause uint32, obj uint64) {
	late := th.late
	th.late = 0
	g := m.target(th, Waiting)
	if g == nil {
		return
	}
	by := NoSlot
	c := WakeScheduler
	if cause < uint32(WakeScheduler) {
		c = Cause(cause)
	}
	if c == ByCode && th.g != nil {
		by = th.g.slot
	}
	m.step(th, g, Event{To: Runnable, Cause: c, By: by, arg: late, obj: obj})
}

// change brings g into a state and emits each step. It inserts repaired steps if the direct one
// is not legal. The thread is the one whose event caused the change.
func (m *model) change(th *thread, g *gor, to State, arg uint64, cause Cause, by Slot) {
	m.step(th, g, Event{To: to, arg: arg, Cause: cause, By: by})
}

// step is change with further data for the event of the last step.
func (m *model) step(th *thread, g *gor, last Event) {
	for g.state != last.To {
		next := via(g.state, last.To)
		e := Event{To: next, By: NoSlot, Cause: ByRepair}
		if next == last.To {
			e = last
		}
		e.Kind, e.G, e.Slot, e.From, e.Thread = Change, g.id, g.slot, g.state, ThreadID(th.id)
		g.state = next
		m.place(th, g)
		if e.To == Running && e.From != OffCPU {
			e.aux = uint32(th.p + 1)
		}
		m.emit(e)
	}
	m.wake(g.id, -1)
}

// place maintains the link between a goroutine and its thread. A goroutine has a thread only
// while it runs or is in a system call.
func (m *model) place(th *thread, g *gor) {
	switch g.state {
	case Running, Syscall, Blocked, OffCPU:
		if g.th == nil {
			g.th, th.g = th, g
			m.search(th)
		}
	default:
		if th := g.th; th != nil {
			th.g, g.th = nil, nil
			m.search(th)
		}
	}
}

// search notes when a thread begins and ends to have a processor and no goroutine.
func (m *model) search(th *thread) {
	searches := th.p >= 0 && th.g == nil
	switch {
	case searches == th.searches:
	case searches:
		th.searchesSince = m.nowNs
	case m.nowNs > th.searchesSince:
		m.emit(Event{Kind: Searched, arg: uint64(m.nowNs - th.searchesSince), Slot: NoSlot, By: NoSlot,
			Thread: ThreadID(th.id)})
	}
	th.searches = searches
}

func (m *model) end(th *thread, g *gor) {
	m.popTo(th, g, 0, ByEnd)
	m.change(th, g, None, 0, ByCode, NoSlot)
	m.gors.end(g)
}

// wake notes a change that held threads may wait for.
func (m *model) wake(g GoID, p int32) {
	if m.holding {
		m.woken = append(m.woken, change{g, p})
	}
}

// procs reports how many processors there are, if that can be believed: analyses have something for
// each.
func (m *model) procs(n uint64, by ThreadID) {
	if n > MaxProcs {
		m.losses.Records++
		return
	}
	m.emit(Event{Kind: Procs, arg: n, Slot: NoSlot, By: NoSlot, Thread: by})
}

func (m *model) procOK(p int32) bool {
	if p < 0 || p >= MaxProcs {
		return false
	}
	for int(p) >= len(m.owner) {
		m.owner = append(m.owner, nil)
		m.wakes.freed = append(m.wakes.freed, m.nowNs)
	}
	return true
}

func (m *model) procStart(th *thread, p int32) {
	if !m.procOK(p) {
		m.losses.States++
		return
	}
	if th.stated && th.p == p {
		th.stated = false
		return
	}
	if th.p >= 0 {
		m.losses.States++
		m.releaseProc(th)
	}
	m.awake(th, p)
	m.takeProc(th, p)
}

// wakening notes when a thread begins and ends to wake another one.
func (m *model) wakening(th *thread, kind uint64) {
	w := &m.wakes
	switch {
	case kind == spec.EvWakeBegin:
		w.by, w.at, w.call, w.late = th, m.nowNs, 0, 0
	case kind == spec.EvWakeEnd && w.by == th:
		w.call = max(m.nowNs-w.at, 1)
		m.woke(th)
	}
}

// awake notes that a thread takes a processor, for which the last one that was woken was woken.
func (m *model) awake(th *thread, p int32) {
	w := &m.wakes
	if w.by == nil || w.by == th || w.late > 0 {
		return
	}
	w.late, w.idle = max(m.nowNs-w.at, 1), max(w.at-w.freed[p], 0)
	m.woke(th)
}

// woke tells of a thread that was woken, once both sides of that are over.
func (m *model) woke(th *thread) {
	w := &m.wakes
	if w.call == 0 || w.late == 0 {
		return
	}
	m.emit(Event{Kind: Woke, Slot: NoSlot, By: NoSlot, obj: uint64(w.call), arg: uint64(w.late),
		aux: uint32(min(w.idle/1000, math.MaxUint32)), Thread: ThreadID(th.id)})
	w.by = nil
}

func (m *model) takeProc(th *thread, p int32) {
	if v := m.owner[p]; v != nil {
		m.losses.States++
		m.releaseProc(v)
	}
	m.owner[p], th.p, th.stated = th, p, false
	m.search(th)
}

// releaseProc takes the thread's processor away. A goroutine in a system call on
// it is no longer busy.
func (m *model) releaseProc(th *thread) {
	if th.p < 0 {
		return
	}
	p := th.p
	m.owner[p], th.p = nil, -1
	m.wakes.freed[p] = m.nowNs
	m.search(th)
	switch {
	case th.g == nil:
	case th.g.state == Syscall:
		m.change(th, th.g, Blocked, 0, ByCode, NoSlot)
	case th.offInCall():
		m.step(th, th.g, Event{To: Blocked, By: NoSlot, aux: uint32(m.offReason(th))})
	}
	m.wake(0, p)
}

func (m *model) procSteal(th *thread, p int32) {
	if !m.procOK(p) || m.owner[p] == nil {
		m.losses.States++
		return
	}
	v := m.owner[p]
	if !v.loses(th) {
		m.losses.States++
	}
	if v.g != nil && v.g.state == Running && v.over() {
		m.change(v, v.g, Syscall, 0, ByCode, NoSlot)
	}
	m.releaseProc(v)
}

// loses reports whether another thread can take this one's processor. It can if this thread's
// goroutine is in a system call, or is blocked because C has just called Go. The other thread may
// be this one itself, when C is back on it. If this thread has no more events, its goroutine is in
// a call that did not end, whose first event may be missing.
func (th *thread) loses(to *thread) bool {
	return th == to || th.g == nil || th.g.state == Syscall || th.g.state == Blocked || th.offInCall() || th.over()
}

// offInCall reports whether the thread's goroutine is in a system call, and the system has taken
// the thread's processor.
func (th *thread) offInCall() bool { return th.g.state == OffCPU && th.off.was == Syscall }
