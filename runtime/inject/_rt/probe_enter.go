package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// frame is entry i of the stack. It tests no bound, because its callers have compared i
// with size: beyond that lies another goroutine's memory.
// Context: probe, hook.
//
//go:nosplit
func (s *qinstStack) frame(i uint32) *qinstFrame {
	return (*qinstFrame)(unsafe.Pointer(s.entries + uintptr(i)*16))
}

// qinstEnterSlow is qinst_enter for a thread without a recorder, or without a counter for the
// point, and for indexes with flags in them.
// The assembly jumps here with the arguments in place, so the signature must stay that of
// qinst_enter.
// Context: probe.
//
//go:nosplit
func qinstEnterSlow(point uint32) (uint64, *qinstStack) {
	b := qinstCountSlow(point &^ qinstLate)
	if b == nil {
		return 0, nil
	}
	c := b.counter(point &^ qinstLate)
	c.hits++
	if c.quota == qinstDelayed {
		return qinstDelayEntry(point&^qinstLate, point&qinstLate, uint32(getg().stack.hi-sys.GetCallerSP()))
	}
	if c.quota <= b.threshold || c.quota == qinstBursting {
		if c.quota == qinstBursting {
			b.inBurst()
		}
		if qinstSampling == 0 {
			return 0, nil
		}
		gp := getg()
		return qinstOpen(gp, point, uint32(gp.stack.hi-sys.GetCallerSP()))
	}
	token, _ := qinstTrace(point)
	if d := uint32(token >> 32); token&(qinstTraced|qinstTimedToken) == qinstTraced {
		gp := getg()
		if s := gp.qinstStack; d < s.size {
			s.frame(d).below = uint32(gp.stack.hi - sys.GetCallerSP()) // the procedure's, not this one's
		}
	}
	return token, nil
}

// qinstDepthOf returns the depth of an entry from its token, which is not a timed one.
// Context: probe.
//
//go:nosplit
func qinstDepthOf(token uint64) uint32 {
	if token&(qinstTraced|qinstDelayedToken) == 0 {
		return uint32(token) - 1
	}
	return uint32(token >> 32)
}

// qinstTrace writes the event of an entry that has been counted. Its signature must be that
// of qinst_enter, because qinst_enter jumps here.
// The room for the event is found before the depth changes: otherwise an entry that finds
// no buffer would be on the profile stack without an event, and later exits would be
// matched with it.
// Context: probe.
//
//go:nosplit
func qinstTrace(point uint32) (uint64, *qinstStack) {
	gp := getg()
	b := gp.m.qinst
	late := point & qinstLate
	point &^= qinstLate
	c := b.counter(point)
	if c.quota >= qinstBursting {
		token := uint64(0)
		switch c.quota {
		case qinstDelayed:
			return qinstDelayEntry(point, late, uint32(gp.stack.hi-sys.GetCallerSP()))
		case qinstBursting:
			b.inBurst()
		}
		if qinstSampling != 0 {
			token, _ = qinstOpen(gp, point|late, uint32(gp.stack.hi-sys.GetCallerSP()))
		}
		if c.quota <= qinstBursting {
			return token, nil
		}
		return qinstTimeEnter(point)
	}
	s := gp.qinstStack
	if s == nil || s.depth >= s.size {
		if s = qinstStackFor(gp, b); s == nil {
			return 0, nil
		}
	}
	now := qinstNow()
	if b.p > b.end || b.p == 0 || (now-b.last)>>32 != 0 || b.g != gp.goid {
		if !qinstQuota(b, gp.goid, now, qinstReserve) {
			b.uses(c, point, b.threshold) // or each hit would look for a buffer, however many there are
			return 0, nil
		}
	}
	*(*uint64)(unsafe.Pointer(b.p)) = (now-b.last)<<32 | qinstEvEnter<<24 | uint64(point)
	b.last = now
	qinstPublish(&b.p, b.p+8)
	c.traced++
	b.uses(c, point, b.threshold)
	d := s.depth
	if d < s.size {
		f := s.frame(d)
		f.point = point | late
		f.below = uint32(gp.stack.hi - sys.GetCallerSP())
		f.trips = 0
	}
	s.depth = d + 1
	if now&qinstItself == 0 {
		b.took(qinstPriceCall, now)
	}
	return uint64(d)<<32 | qinstTraced | uint64(point), nil
}

// qinstTraceEnd is the end of an entry whose event the assembly has written, where there is more to
// do: the point is to be noted, or the event times itself. It gets the token, and returns it.
// Context: probe.
//
//go:nosplit
func qinstTraceEnd(token uint64) uint64 {
	b := getg().m.qinst
	point := uint32(token & (qinstMaxPoints - 1))
	b.spent(b.counter(point), point, b.threshold)
	if b.last&qinstItself == 0 {
		b.took(qinstPriceCall, b.last)
	}
	return token
}

// uses takes an event from the quota of a counter.
// Context: probe.
//
//go:nosplit
func (b *qinstRecorder) uses(c *qinstCounter, point uint32, least int32) {
	c.quota--
	b.spent(c, point, least)
}

// spent notes a point for the writer when half of its quota is used up, and all: the least is left.
// Context: probe.
//
//go:nosplit
func (b *qinstRecorder) spent(c *qinstCounter, point uint32, least int32) {
	if c.quota == b.low || c.quota == least {
		qinstWant(b, point)
	}
}

// qinstExit is qinst_exit, the probe at a procedure's exit, where the entry was traced.
// It sets the stack's depth rather than popping: where exits were skipped, the next
// one puts things right.
// An exit takes buffers that entries may not (qinstQuota gets no reserve here), because an
// entry whose exit is lost would seem to last until the program ends.
// Context: probe.
//
//go:nosplit
func qinstExit(token uint64) {
	gp := getg()
	if s := gp.qinstStack; s != nil {
		s.depth = uint32(token >> 32)
	}
	b := gp.m.qinst
	now := qinstNow()
	if b.p > b.end || b.p == 0 || (now-b.last)>>32 != 0 || b.g != gp.goid {
		if b = qinstMakeReady(now, gp.goid); b == nil {
			return
		}
	}
	*(*uint64)(unsafe.Pointer(b.p)) = (now-b.last)<<32 | qinstEvExit<<24 | token&(qinstMaxPoints-1)
	b.last = now
	qinstPublish(&b.p, b.p+8)
	sys.Prefetch(b.p + qinstAhead)
	if now&qinstItself == 0 {
		b.took(qinstPriceCall, now)
	}
}

// qinstAhead is how far beyond an exit's event memory is asked for: while the writer lags, buffers
// come back cold.
const qinstAhead = 512

// qinstExitEnd is the end of an exit whose event the assembly has written, and that times itself.
// Context: probe.
//
//go:nosplit
func qinstExitEnd(token uint64) {
	b := getg().m.qinst
	b.took(qinstPriceCall, b.last)
}

// qinstLoopLeft is qinst_leave, the probe at a loop's exit, likewise.
// Loops inside of it that count their iterations on the profile stack are closed first,
// since a return may have left them without passing their own exits.
// Context: probe.
//
//go:nosplit
func qinstLoopLeft(token, trips uint64) {
	gp := getg()
	d := qinstDepthOf(token)
	if s := gp.qinstStack; s != nil {
		if s.depth > d+1 {
			qinstLoopsLeft(gp, s, d+1)
		}
		if token&qinstDelayedToken != 0 {
			qinstDelayTrips(token, trips)
			return
		}
		if trips == 0 {
			trips = s.trips(d)
		}
		if token&qinstTraced == 0 {
			qinstClose(token)
			return
		}
		s.depth = d
	}
	qinstPut2(qinstNow(), gp.goid, qinstEvLeave<<24|token&(qinstMaxPoints-1), trips)
}

// qinstExitAll is the probe at the exit of a procedure with loops that a return
// can leave without passing their exits: ranges over functions.
// Other procedures have the cheaper qinst_exit, because the compiler's loops always pass
// their exits.
// Context: probe.
//
//go:nosplit
//go:linkname qinstExitAll runtime.qinst_exitall
func qinstExitAll(token uint64) {
	if token&qinstTimedToken != 0 {
		qinstTimeExitSlow(token)
		return
	}
	gp := getg()
	if s := gp.qinstStack; s != nil {
		qinstLoopsLeft(gp, s, qinstDepthOf(token)+1)
	}
	if token&qinstTraced != 0 {
		qinstExit(token)
	} else {
		qinstClose(token)
	}
}

// qinstLoopsLeft closes the loops from the given depth up that counted their
// iterations in the profile stack, and the entries that are not traced.
// Context: probe.
//
//go:nosplit
func qinstLoopsLeft(gp *g, s *qinstStack, depth uint32) {
	for s.depth > depth && s.depth <= s.size {
		f := s.frame(s.depth - 1)
		if f.point&qinstUntraced == 0 {
			if f.trips == 0 {
				return
			}
			qinstPut2(qinstNow(), gp.goid, qinstEvLeave<<24|uint64(f.point&^qinstLate), f.trips)
		}
		s.depth--
	}
}

// trips returns the number of iterations that the loop at depth d has counted in the
// profile stack. Beyond the stack's size the number is not known (spec.NoTrips).
// Context: probe.
//
//go:nosplit
func (s *qinstStack) trips(d uint32) uint64 {
	if d < s.size {
		return s.frame(d).trips
	}
	return ^uint64(0)
}

// qinstTrip counts an iteration of a range over a function.
// Context: probe.
//
//go:nosplit
//go:linkname qinstTrip runtime.qinst_trip
func qinstTrip(token uint64) {
	if token&qinstTimedToken != 0 {
		return
	}
	if s, d := getg().qinstStack, qinstDepthOf(token); s != nil && d < s.size {
		s.frame(d).trips++
	}
	if token&qinstDelayedToken != 0 {
		qinstDelay(uint32(token&(qinstMaxPoints-1)), 1)
	}
}

// qinstCallSlow is qinst_call, the probe at a call site, for a thread without a
// counter. The result is always 0, so that the probe can stand in a condition.
// Context: probe.
//
//go:nosplit
func qinstCallSlow(point uint32) uint32 {
	if b := qinstCountSlow(point); b != nil {
		b.counter(point).hits++
	}
	return 0
}

// qinstCalled is qinst_callee, the probe at a call whose callee begins at pc, where that
// is new: the point's counter counts all its calls, and a table of the thread's each callee's.
// It allocates nothing, so a call point with more callees than the table has room for
// says how many calls it could not name (unresolved), and its hits stay exact.
// Context: probe.
//
//go:nosplit
func qinstCalled(point uint32, pc uintptr) uint32 {
	b := getg().m.qinst
	if !b.has(point) {
		if b = qinstCountSlow(point); b == nil {
			return 0
		}
	}
	b.counter(point).hits++
	if pc == 0 || !b.hasCallees() {
		return 0
	}
	if e := b.callee(point, pc); e != nil {
		e.n++
	} else {
		b.unresolved++
	}
	return 0
}

// has reports whether the recorder has a counter for the point.
// Indexes of packages that are not registered are above qinstMaxPoints, so that they have
// no page and come to the slow side.
// Context: probe, hook.
//
//go:nosplit
func (b *qinstRecorder) has(point uint32) bool {
	return point < qinstMaxPoints && *b.page(point >> qinstPageShift) != 0
}

// qinstCountSlow finds the thread's recorder like qinstRecorderFor and counts a hit.
// The hit must be counted in any case, because reports promise exact counts. Without a
// recorder or page it goes to the shared counters, and before registration to qinstEarly.
// Context: probe, hook.
//
//go:nosplit
func qinstCountSlow(point uint32) *qinstRecorder {
	if point >= qinstMaxPoints {
		atomic.Xadd64(&qinstEarly, 1)
		return nil
	}
	if b := qinstRecorderFor(point); b != nil {
		return b
	}
	if b := getg().m.qinst; b != qinstNone() {
		b.pageless++
	}
	if shared := qinstRecorders[0]; shared != 0 {
		if c := (*qinstRecorder)(unsafe.Pointer(shared)).counter(point); c != nil {
			atomic.Xadd64(&c.hits, 1)
		}
	}
	return nil
}

// qinstRecorderFor finds the thread's recorder, with a counter for the point; nil if there is none.
// It sets g.qinst, since the goroutine may have been given to the thread before that had
// a recorder.
// Context: probe, hook.
//
//go:nosplit
func qinstRecorderFor(point uint32) *qinstRecorder {
	gp := getg()
	b := gp.m.qinst
	if b == qinstNone() {
		systemstack(func() { b = qinstAttach(getg().m) })
	}
	if b != nil && (b.has(point) || qinstFirstHit(b, point)) {
		gp.qinst = b
		return b
	}
	return nil
}

// traced returns how many of the outermost d entries have an event.
// Readers see only traced entries, so that an event names a depth among those.
// Context: probe, hook.
//
//go:nosplit
func (s *qinstStack) traced(d uint32) (n uint32) {
	for i := range d {
		if s.frame(i).point&qinstUntraced == 0 {
			n++
		}
	}
	return n
}

// inBurst notes a hit in a burst of a point that is only counted. The writer ends a burst when it
// has slept, and where others have the processors that may be ten times as late as it wanted. So a
// thread that has had enough ends it for all, as to what is held.
// Context: probe.
//
//go:nosplit
func (b *qinstRecorder) inBurst() {
	if b.inBursts--; b.inBursts <= 0 {
		b.inBursts = qinstBurstAgain
		systemstack(func() { qinstEndBurst() })
	}
}

// qinstEndBurst ends a burst, as to what is held. It does not wait for the lock, whose holder may
// wait for a processor.
// Context: probe.
func qinstEndBurst() {
	if !atomic.Cas(&qinstMemory, 0, 1) {
		return
	}
	if qinstBurst.on {
		atomic.Store(&qinstLooking, 0)
		qinstFlipUnits(false)
		atomic.Store(&qinstBurstOver, 1)
		futexwakeup(&qinstBurstOver, 1) // the writer removes the jumps to twins
	}
	qinstUnlockMemory()
}

// qinstWant notes a point for the writer.
// The list is the thread's own, with one writer and one reader, so it needs no atomic
// read-modify-write. When it is full the writer looks at all counters instead.
// Context: probe.
//
//go:nosplit
func qinstWant(b *qinstRecorder, point uint32) {
	if n := b.wantIn; n-atomic.Load(&b.wantOut) < qinstWants {
		b.want[n%qinstWants] = point
		atomic.Store(&b.wantIn, n+1)
	} else {
		b.wantAll = true
	}
	// Until the writer has decided on a level below trace, hits only count.
	if b.counter(point).quota == b.low-qinstLow && atomic.Load(&qinstUrgent) == 0 {
		atomic.Store(&qinstUrgent, 1)
		qinstWake()
	}
}

// qinstFirstHit gives a recorder the page of a point. It reports false if there is none
// left.
// The test comes before the switch to the system stack, since at the bound it is all that
// is done.
// Context: probe, hook.
//
//go:nosplit
func qinstFirstHit(b *qinstRecorder, point uint32) (ok bool) {
	if qinstOutOfPages() {
		return false // at the bound threads come here for every hit
	}
	systemstack(func() { ok = qinstNewPage(b, point>>qinstPageShift, 0) })
	return ok
}

// qinstOutOfPages reports whether all pages that there may be are in use.
// Context: probe, hook.
//
//go:nosplit
func qinstOutOfPages() bool {
	limit := qinstPages.limit.Load()
	return limit >= qinstSet.mostPages && uint32(qinstPages.used.Load()) >= limit
}
