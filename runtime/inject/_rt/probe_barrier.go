package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"unsafe"
)

// Barriers in experiments (NIST SPT's FB1 and FB2). The rule barrier:NAME=+1ms+0ns*3 is about
// arrivals at a barrier of three. Each arrival holds a lock of the tool's, for 1 ms. Then it waits
// at a barrier of the tool's, and holds a second lock, for 0 ns; then it arrives. The first delay
// is felt as much as arrivals are together. The second one is that of a barrier at which they are,
// since the tool's barrier brings them together.
//
// All of this stands in front of the arrival. Behind it the barrier's own lock may still be held,
// by a call that is deferred, and the second lock would keep the others in the barrier.
//
// Whoever waits here is parked, as at any lock of the program's. So it must be a goroutine that
// could be stopped there.

const (
	qinstVoidNS    = 1e9 // without an arrival, or
	qinstVoidTimes = 10  // delays: then the tool's barrier lets go

	qinstWatchLeast = 20e3 // ns between two looks at a barrier
	qinstWatchMost  = 1e6
	qinstWatchPart  = 64 // of the time since the first arrival

	qinstMaxGroups = 64 // WaitGroups at once
	qinstVoidFull  = 1 << 31
)

// What an operation on a WaitGroup is in a barrier.
const (
	qinstRoleNone   = iota
	qinstRoleAdd    // goroutines are to arrive, also those of WaitGroup.Go
	qinstRoleArrive // Done
	qinstRoleWait   // they have all arrived

	qinstServes   = 1 << 7 // not an operation, but a procedure with [FlagServes]
	qinstStarts   = 1 << 6 // a go statement, or a procedure with one
	qinstOperates = 1 << 5 // a procedure whose text stands twice, with operations
	qinstCreates  = 1 << 4 // with qinstStarts: a go statement that the hook counts, in text without probes
)

// qinstMeeting is the state of a barrier.
type qinstMeeting struct {
	locks   [2]uint32     // semaphores: 1 while nobody has the lock
	wake    [2]uint32     // semaphores of those who wait, at even and odd crossings
	came    atomic.Uint64 // arrivals
	crossed atomic.Uint64 // crossings that all came to
	last    atomic.Int64  // ns, when somebody came last
}

// qinstMeetings are those of the procedures that rules of the same numbers are about, and what is
// to be said of barriers.
var qinstMeetings [len(qinstRules)]struct {
	qinstMeeting
	void atomic.Uint32 // one has let go: how many came, and 1; qinstVoidFull: there are too many at once
	told bool          // by the writer
}

// qinstGroups are WaitGroups of which a rule is: several of one name may be in use, and in Go the
// arrival is in package sync, which has no probes.
var (
	qinstGroups [qinstMaxGroups]struct {
		object atomic.Uintptr // 0: free
		rule   atomic.Uint32  // and 1
		qinstMeeting
	}
	qinstNGroups atomic.Uint32 // that were noted so far, at least
	qinstNoting  atomic.Uint32 // 1: somebody changes which they are
)

// qinstArriveIn is the entry of a procedure that is a barrier. A rule may be about calls in one
// line, and others of the same procedure about those in others.
// Context: probe.
func qinstArriveIn(point, below uint32) {
	line := uint32(0)
	for i := qinstRulingOf(point).rule; i != 0; i = qinstRules[i-1].same {
		r := &qinstRules[i-1]
		if r.line != 0 && line == 0 {
			line = qinstCallLine(below)
		}
		if r.line == line || r.line == 0 {
			qinstArrive(i, &qinstMeetings[i-1].qinstMeeting)
		}
	}
}

// qinstCallLine is the line in which a procedure was called, whose frame ends below the top of the
// stack; 0 if it is not known. The frame begins where the first frame pointer above its end is.
// Context: probe.
func qinstCallLine(below uint32) uint32 {
	end, pc := getg().stack.hi-uintptr(below), uintptr(0)
	for fp := getfp(); fp != 0 && pc == 0; fp = *(*uintptr)(unsafe.Pointer(fp)) {
		if fp+goarch.PtrSize >= end {
			pc = *(*uintptr)(unsafe.Pointer(fp + goarch.PtrSize))
		}
	}
	f := findfunc(pc - 1)
	if !f.valid() {
		return 0
	}
	_, line := funcline1(f, pc-1, false)
	return uint32(line)
}

// qinstArrive is an arrival at the barrier of a rule, i-1. A goroutine whose time is not the
// system's (testing/synctest) is left alone, and so is one that cannot be parked.
// Context: probe, goroutine.
func qinstArrive(i uint8, m *qinstMeeting) {
	r, void, gp := &qinstRules[i-1], &qinstMeetings[i-1].void, getg()
	if gp != gp.m.curg || gp.bubble != nil || !canPreemptM(gp.m) || void.Load() != 0 {
		return
	}
	qinstHoldFor(&m.locks[0], r.ticks)
	if n := uint64(r.limit.Participants); n != 0 &&
		m.meet(n, int64(max(qinstVoidNS, qinstVoidTimes*max(r.limit.Delay, r.limit.Behind))), void) {
		qinstHoldFor(&m.locks[1], r.behind)
	}
}

// begin makes it that of a barrier at which nobody has arrived.
// Context: start, probe, goroutine, writer.
//
//go:nosplit
func (m *qinstMeeting) begin() {
	m.locks, m.wake = [2]uint32{1, 1}, [2]uint32{}
	m.came.Store(0)
	m.crossed.Store(0)
}

// qinstHoldFor holds a lock of the tool's. A goroutine that waits for it gets it at once, and the
// processor with it.
// Context: probe, goroutine.
func qinstHoldFor(lock *uint32, ticks uint64) {
	semacquire(lock)
	qinstSpend(ticks)
	semrelease1(lock, true, 0)
}

// meet waits until n goroutines have come. It reports false if they did not. Semaphores take turns:
// a goroutine that leaves and comes back must not take the place of one that is still to wake up.
// The first one to come waits for the others by looking, so that nobody takes the program for one
// that stands still.
// Context: probe, goroutine.
func (m *qinstMeeting) meet(n uint64, patience int64, void *atomic.Uint32) bool {
	m.last.Store(nanotime())
	came := m.came.Add(1) - 1
	crossing := came / n
	wake := &m.wake[crossing&1]
	switch came % n {
	case n - 1:
		m.crossed.Store(crossing + 1)
		for range n - 2 {
			semrelease(wake)
		}
	case 0:
		m.watch(crossing, n, patience, void)
	default:
		if void.Load() == 0 {
			semacquire(wake)
		}
	}
	return void.Load() == 0
}

// watch waits for a crossing. After so many ns in which nobody came it lets everybody go, once for
// all barriers of the rule.
// Context: probe, goroutine.
func (m *qinstMeeting) watch(crossing, n uint64, patience int64, void *atomic.Uint32) {
	for began := nanotime(); m.crossed.Load() <= crossing; {
		now, came := nanotime(), m.came.Load()-crossing*n
		if void.Load() == 0 {
			if came >= n || now-m.last.Load() < patience {
				timeSleep(min(max((now-began)/qinstWatchPart, qinstWatchLeast), qinstWatchMost))
				continue
			}
			void.CompareAndSwap(0, uint32(came)+1)
		}
		// A goroutine that comes now either is counted below, or sees that there is nothing to wait
		// for.
		for range m.came.Load() - crossing*n - 1 {
			semrelease(&m.wake[crossing&1])
		}
		return
	}
}

// qinstDelayOperation is an operation on an object that a rule delays.
// Context: probe.
//
//go:nosplit
func qinstDelayOperation(point uint32, object uintptr) {
	switch o := qinstRulingOf(point); o.role {
	case qinstRoleNone:
		qinstDelay(point, 1)
	case qinstRoleAdd:
		qinstNoteGroup(object, uint32(o.rule))
	case qinstRoleArrive:
		qinstArriveAt(object)
	case qinstRoleWait:
		qinstNoteGroup(object, 0)
	}
}

// qinstDelayDeferred is a deferred operation that a rule delays, and does what it stands for.
// Context: probe.
func qinstDelayDeferred(point uint32, object uintptr, method func()) {
	qinstDelayOperation(point, object)
	method()
}

// qinstNoteGroup notes which rule a WaitGroup's arrivals have, 0 for none any more: another one may
// soon be at its address.
// Context: probe.
//
//go:nosplit
func qinstNoteGroup(object uintptr, rule uint32) {
	for !qinstNoting.CompareAndSwap(0, 1) { // for as long as it takes to look at the others
		procyield(10)
	}
	free := -1
	for i := range qinstGroups {
		at := qinstGroups[i].object.Load()
		if at == object {
			if rule == 0 {
				qinstGroups[i].object.Store(0)
			}
			qinstNoting.Store(0)
			return
		}
		if at == 0 && free < 0 {
			free = i
		}
	}
	switch {
	case rule == 0:
	case free < 0:
		qinstMeetings[rule-1].void.CompareAndSwap(0, qinstVoidFull)
	default:
		qinstGroups[free].begin()
		qinstGroups[free].rule.Store(rule)
		qinstGroups[free].object.Store(object)
		qinstNGroups.Add(1)
	}
	qinstNoting.Store(0)
}

// qinstArriveAt is an arrival at a WaitGroup that was noted.
// Context: probe, goroutine.
func qinstArriveAt(object uintptr) {
	for i := range qinstGroups {
		if g := &qinstGroups[i]; g.object.Load() == object {
			qinstArrive(uint8(g.rule.Load()), &g.qinstMeeting)
			return
		}
	}
}
