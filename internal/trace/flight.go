package trace

import (
	"maps"
	"slices"

	"qinst.dev/sddf/spec"
)

// A trace that keeps the last events begins with a segment that others were written before: all
// events since that segment's first reading of the clocks are there.

// A flight recorder's file has the last events of each thread. It is a window that begins where
// all threads' events are known. The states at its beginning follow from later events: a
// goroutine that starts was runnable, one that is woken was waiting, and a procedure that is left
// without having been entered was open.

// flight returns the trace from that moment on, up to the time for which the file was written. It
// has an upper bound because the file may also have later events of some threads.
func (t *Trace) flight() *Trace {
	if len(t.snapshots) > 0 {
		return t
	}
	if t.Kept {
		return t.from(t.extent.begins)
	}
	if t.Attr("mode") != "flight" {
		return t
	}
	at, cut := uint64(0), false
	for _, bs := range t.blocks {
		if len(bs) > 0 && bs[0].seq > 0 {
			at, cut = max(at, bs[0].ticks), true
		}
	}
	if !cut { // everything from the program's start
		if t.extent.ends != 0 {
			t.extent.until, t.extent.part, t.wall = t.extent.ends, true, t.clock.ns(t.extent.ends)
		}
		return t
	}
	return t.from(at)
}

// from returns the trace from a time on, in ticks, whose states are learned from what follows.
func (t *Trace) from(at uint64) *Trace {
	l := &learner{t: t, at: at, known: map[GoID]*snapshot{}, numbered: map[GoID]bool{}, open: map[GoID]*opened{},
		owners: map[int32]*snapshot{}}
	l.threads()
	l.events()
	w := t.view(&checkpoint{ticks: at, procs: uint64(t.Int("gomaxprocs")), states: l.states(),
		held: map[uint32]int64{}}, t.extent.ends)
	w.End, w.Limits, w.Levels = t.End, t.Limits, t.Levels
	if t.counted {
		w.HasCounts, w.called = true, t.called
		for i := range w.Points {
			p := &t.Points[i]
			w.Points[i].Hits, w.Points[i].Traced, w.Points[i].Plain = p.Hits, p.Traced, min(p.Plain, p.Hits)
		}
	}
	return w
}

// learner determines the states of goroutines at a time.
type learner struct {
	t        *Trace
	at       uint64
	running  []*learned // threads with events after that
	known    map[GoID]*snapshot
	numbered map[GoID]bool // seq is known
	open     map[GoID]*opened
	idle     []*snapshot         // threads that have a processor and no goroutine
	owners   map[int32]*snapshot // by processor, unless events later than the time show otherwise
}

// learned is a thread.
type learned struct {
	*cursor
	head   blockHead
	id     uint32
	inCall bool
	since  uint64 // it has its processor
}

// opened are the procedures that a goroutine has entered since, and those that it must have been
// in before, the innermost first.
type opened struct {
	since, before []uint32
}

// threads reads each thread up to the time, and notes the goroutine that runs then.
func (l *learner) threads() {
	owner, stolen := map[int32]*learned{}, map[int32]uint64{}
	var all []*learned
	for _, id := range slices.Sorted(maps.Keys(l.t.blocks)) {
		th := &learned{cursor: newCursor(l.t, l.t.blocks[id], new(Losses)), id: id}
		ok := th.next()
		for ; ok && th.time <= l.at; ok = th.next() {
			th.step()
			if p := int32(th.word & 0xffffff); th.word>>24&0xff == spec.EvProcSteal {
				stolen[p] = max(stolen[p], th.time)
			}
		}
		if ok {
			l.running = append(l.running, th)
			if k := th.word >> 24 & 0xff; k == spec.EvSyscallEnd || k == spec.EvSyscallEndNoP {
				th.inCall = true
			}
		}
		if ok && !th.head.seen && th.block.seq > 0 {
			th.head.follow(th.cursor) // nothing happened to it meanwhile
		}
		if !th.head.seen {
			continue // a new thread
		}
		all = append(all, th)
		if o := owner[th.head.p]; o == nil || o.since < th.since {
			owner[th.head.p] = th
		}
	}
	for _, th := range all {
		p, state := th.head.p, Running
		if p >= 0 && (owner[p] != th || stolen[p] > th.since) {
			p, th.inCall = -1, true // taken from it
		}
		switch {
		case th.inCall && p < 0:
			state = Blocked
		case th.inCall:
			state = Syscall
		}
		s := snapshot{g: GoID(th.head.g), thread: th.id, tid: th.head.tid, p: p, state: state}
		if s.g == 0 || p < 0 && state == Running {
			s.g, s.state = 0, None
			l.idle = append(l.idle, &s)
		} else {
			l.known[s.g] = &s
		}
		if p >= 0 {
			l.owners[p] = &s
		}
	}
}

// step applies an event to the state of the thread.
func (th *learned) step() {
	p := th.head.p
	if !th.head.seen {
		th.since = th.block.ticks
	}
	th.head.follow(th.cursor)
	th.head.apply(th.cursor)
	switch th.word >> 24 & 0xff {
	case spec.EvSyscallBegin:
		th.inCall = true
	case spec.EvSyscallEnd, spec.EvSyscallEndNoP, spec.EvGoStart, spec.EvGoSwitch:
		th.inCall = false
	}
	if th.head.p != p {
		th.since = th.time
	}
}

// events reads the later events, in time order.
func (l *learner) events() {
	for len(l.running) > 0 {
		first := 0
		for i, th := range l.running {
			if th.time < l.running[first].time {
				first = i
			}
		}
		th := l.running[first]
		th.head.follow(th.cursor)
		l.event(th)
		th.head.apply(th.cursor)
		if !th.next() {
			l.running = slices.Delete(l.running, first, first+1)
		}
	}
}

func (l *learner) event(th *learned) {
	point := uint32(th.word & 0xffffff)
	switch th.word >> 24 & 0xff {
	case spec.EvGoCreate, spec.EvGoCreateSyscall:
		id, _ := th.goWord()
		l.numbered[id] = true
		if l.known[id] == nil {
			l.known[id] = &snapshot{} // not there before
		}
	case spec.EvGoStart:
		l.note(th, Runnable)
	case spec.EvGoUnpark, spec.EvGoUnparkBy, spec.EvGoSwitch:
		l.note(th, Waiting)
	case spec.EvProcSteal, spec.EvProcStop:
		delete(l.owners, int32(point))
	case spec.EvProcStart:
		// No thread took it from its owner since, so the owner must have lost it before.
		if s := l.owners[int32(point)]; s != nil && s.thread != th.id {
			if s.p = -1; s.state == Syscall {
				s.state = Blocked
			}
		}
		delete(l.owners, int32(point))
	case spec.EvEnter:
		o := l.of(th)
		o.since = append(o.since, point)
	case spec.EvExit, spec.EvLeave:
		o := l.of(th)
		i := len(o.since) - 1
		for i >= 0 && o.since[i] != point {
			i--
		}
		if o.since = o.since[:max(i, 0)]; i < 0 {
			o.before = append(o.before, point)
		}
	}
	// An unwinding does not say where it began: the next exit shows where the goroutine was.
}

// note records the state that an event implies for the time before it, unless an earlier event
// did.
func (l *learner) note(th *learned, state State) {
	id, seq := th.goWord()
	s := l.known[id]
	if s == nil {
		s = &snapshot{g: id, state: state, p: -1}
		l.known[id] = s
	}
	if !l.numbered[id] {
		l.numbered[id] = true
		s.seq = (seq - 1) & seqMask
	}
}

func (l *learner) of(th *learned) *opened {
	id := GoID(th.head.g)
	o := l.open[id]
	if o == nil {
		o = &opened{}
		l.open[id] = o
	}
	return o
}

func (l *learner) states() []snapshot {
	var list []snapshot
	for _, s := range l.idle {
		list = append(list, *s)
	}
	for _, id := range slices.Sorted(maps.Keys(l.known)) {
		s := l.known[id]
		if s.g == 0 {
			continue
		}
		if o := l.open[id]; o != nil && s.state != Blocked {
			s.probes = slices.Clone(o.before)
			slices.Reverse(s.probes)
		}
		s.pc = l.t.starts[id]
		list = append(list, *s)
	}
	return list
}

// Last returns the last part of a trace as a trace. What was before it is not read: the states at
// its beginning are learned from what follows, as far as that tells.
func (t *Trace) Last(long Time) *Trace {
	if long >= t.wall || long <= 0 {
		return t
	}
	at, near := t.clock.ticksAt(t.wall-long), *t
	near.blocks, near.index = map[uint32][]block{}, nil
	for id, bs := range t.blocks {
		near.blocks[id] = bs[max(blocksUpTo(bs, at)-1, 0):]
	}
	return near.from(at)
}
