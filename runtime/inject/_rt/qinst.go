// Package runtime, the part that qinst adds: the probes' hot path.
//
// Every OS thread (m) that records owns a block: a chunk of memory that events
// are appended to and one cell of exact counts for every point of the program.
// A thread that the operating system runs without interruption by the Go
// scheduler needs no lock and no atomic operation on them. That holds as long as
//
//  1. Everything that touches a block is a called nosplit function of package
//     runtime. Such code is never preempted asynchronously (preempt.go,
//     isAsyncSafePoint), so getg().m cannot change under it. Inlined into user
//     code the protection is lost, and so are counts.
//  2. Nothing here allocates, takes a runtime lock, or maps memory: the hooks
//     are entered with locks held, on signal stacks, and without a P. What they
//     need (chunks, blocks, cells, profile stacks) the writer thread has prepared on
//     lock-free lists; where a list is empty the event is only counted, or
//     becomes part of a gap record.
//  3. Blocks, chunks and stacks are never unmapped: the writer reads them while
//     their threads run.
//  4. A goroutine that runs has its thread's block in g.qinst, or none: that spares
//     the probes a load, which a locked instruction before them makes them wait for.
//     It is set where a thread begins to run the goroutine (execute, coroswitch_m).
package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

const (
	qinstMaxPoints = qinstMaxProbes
	qinstLate      = 1 << 20  // in a point's index: its exit is not a deferred call
	qinstIndexes   = 1 << 22  // all are below: those of packages that are not registered, too (1<<21 and a point)
	qinstChunkSize = 32 << 10 // a few times smaller than an L2 cache: the writer finds it warm
	qinstHeadSize  = 64       // of a chunk
	qinstTraced    = 1 << 31  // in an entry's token: it wrote an event
	qinstLongest   = 3 * 8    // bytes of the longest event
	qinstContext   = 7 * 8    // bytes of a time, a gap and a goroutine entry
)

// Instrumented code tests a byte of its package for each point before it calls a probe;
// that is all of qinst that is inlined into it. See qinstSetOff.

// qinst_on is tested before a record of the program's own is encoded.
//
//go:linkname qinst_on qinst_on
var qinst_on uint32

// qinstStates is set while scheduling events are recorded.
var qinstStates uint32

// qinstSlowClock is set where the processor's clock may stop or change speed.
var qinstSlowClock bool

// qinstCell counts one point on one thread. hits counts always. An event is
// written only while room, which each event takes one from, is above the block's
// floor: a zero cell traces as long as the floor is negative, and counts only
// when the floor is the largest number. The writer adds to room; should it race
// with the thread, the budget is off by a little, and the counts are right.
type qinstCell struct {
	hits   uint64
	traced uint32
	room   int32
}

// qinstBlock is what a thread records into.
type qinstBlock struct {
	_      sys.NotInHeap
	next   uint32  // on the list of ready blocks
	num    uint32  // dense number of the block, from 1
	p      uintptr // where the next event goes; 0 without a chunk
	end    uintptr // last p at which the longest event fits
	last   uint64  // time of the last event
	g      uint64  // goroutine that the events so far put on the thread
	floor  int32
	proc   int32 // processor that the events so far gave to the thread
	chunk  uintptr
	seq    uint64 // of the current chunk
	tid    uint32 // 0: no thread has the block
	paging bool   // has pages of cells, or will
	used   bool   // a thread has had it
	tool   bool   // a thread that takes samples has it
	found  bool   // the next goroutine to start comes from the processor's own queue

	gp uintptr // the g that the thread was last given to run, for who takes samples

	gapFrom uint64 // time of the first event that found no chunk
	lost    uint64 // events since then

	overflow uint64 // entries deeper than the profile stack
	pageless uint64 // hits that found no page

	callees    uintptr // qinstMaxCallees of qinstCallee, 0 if there are none
	unresolved uint64  // calls that found no room there

	sums, hists uintptr // of timed points; 0: there are none

	// Points of which half the room is used up, for the writer.
	low             int32  // the room at which that is so
	wantAll         bool   // there were more
	wantIn, wantOut uint32 // how many there were, and how many the writer has seen
	want            [qinstWants]uint32
}

// page is where the block has a page of cells: the address that the cell of point 0
// would have, 0 if there is none. The table is as large as any index that probes are
// called with, so that they need not test it.
//
//go:nosplit
func (b *qinstBlock) page(number uint32) *uintptr {
	return (*uintptr)(unsafe.Pointer(uintptr(unsafe.Pointer(b)) + qinstPage + uintptr(number)*8))
}

// cell is the point's cell, nil if the block has none so far. The table of pages follows
// the block, so that finding a cell loads one word.
//
//go:nosplit
func (b *qinstBlock) cell(point uint32) *qinstCell {
	p := *b.page(point >> qinstPageShift)
	if p == 0 {
		return nil
	}
	return (*qinstCell)(unsafe.Pointer(p + uintptr(point)*16))
}

// qinstNone is the block of a thread that has none: no chunk, no cells. That
// spares the probes a test for nil.
//
//go:nosplit
func qinstNone() *qinstBlock { return (*qinstBlock)(unsafe.Pointer(&qinstNoneMemory)) }

var qinstNoneMemory [(qinstPage + qinstPageTable) / 8]uint64

// qinstChunk is the head of a chunk; events follow at qinstHeadSize.
type qinstChunk struct {
	_     sys.NotInHeap
	next  uint32 // on the lists of free and of full chunks
	bytes uint32 // of events, set when the thread gives the chunk away
	num   uint32
	tid   uint32
	seq   uint64
	ticks uint64
	g     uint64
	proc  int32
}

// qinstStack is a goroutine's profile stack: its open procedures and loops. Instrumented
// code takes entries away by setting the depth, so the stack stays where it is as long as
// the goroutine lives; its entries move when they become too many.
type qinstStack struct {
	_       sys.NotInHeap
	depth   uint32 // comes first; on the list of free stacks: the next one
	size    uint32 // entries that there is room for
	class   uint32 // of the entries' memory
	_       uint32
	entries uintptr // of qinstFrame
	_       uintptr
}

// qinstFrame is an open procedure or loop: its point, and how far below the top
// of the goroutine's stack its frame lies. Stacks move; the distance stays. A
// range over a function counts its iterations here.
type qinstFrame struct {
	point, below uint32
	trips        uint64
}

//go:nosplit
func (s *qinstStack) frame(i uint32) *qinstFrame {
	return (*qinstFrame)(unsafe.Pointer(s.entries + uintptr(i)*16))
}

// qinstNow reads the processor's clock without waiting for earlier
// instructions (cputicks does, and costs twice as much), or nanotime where
// qinstSlowClock says so.
func qinstNow() uint64

// qinstInvariantClock tells whether that clock always runs, at one speed.
func qinstInvariantClock() bool

// The probe at a procedure's entry is qinst_enter, in assembly: it counts, and
// goes on here if the entry is to be traced. The first result is what the exit probe
// needs, 0 if there is nothing to do at the exit: whether an activation is
// traced is decided once, so that pairs stay whole. It is qinstTraced with the point and
// how deep the entry lies, or a time (qinstTimedToken), or, where an entry is only on the
// profile stack, the depth with it: smaller than 1<<20. Then the second result is the
// stack, and the exit sets the depth back without a probe; else it is nil.

// qinstEnterSlow is qinst_enter for a thread without a block, or without a cell for the
// point, and for indexes with flags in them.
//
//go:nosplit
func qinstEnterSlow(point uint32) (uint64, *qinstStack) {
	b := qinstCountSlow(point &^ qinstLate)
	if b == nil {
		return 0, nil
	}
	c := b.cell(point &^ qinstLate)
	c.hits++
	if c.room <= b.floor {
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

// qinstDepthOf is how deep the entry of a token lies that is not timed.
//
//go:nosplit
func qinstDepthOf(token uint64) uint32 {
	if token&qinstTraced == 0 {
		return uint32(token) - 1
	}
	return uint32(token >> 32)
}

// qinstTrace writes an enter event, which has been counted. It takes what
// qinst_enter was called with and nothing else, for that jumps here.
//
//go:nosplit
func qinstTrace(point uint32) (uint64, *qinstStack) {
	gp := getg()
	b := gp.m.qinst
	late := point & qinstLate
	point &^= qinstLate
	c := b.cell(point)
	if c.room >= qinstTimedSlow {
		if qinstSampling != 0 {
			qinstOpen(gp, point|late, uint32(gp.stack.hi-sys.GetCallerSP()))
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
		if !qinstRoom(b, gp.goid, now, qinstReserve) {
			return 0, nil
		}
	}
	*(*uint64)(unsafe.Pointer(b.p)) = (now-b.last)<<32 | qinstEvEnter<<24 | uint64(point)
	b.last = now
	qinstPublish(&b.p, b.p+8)
	c.traced++
	if c.room--; c.room == b.low || c.room == b.floor {
		qinstWant(b, point)
	}
	d := s.depth
	if d < s.size {
		f := s.frame(d)
		f.point = point | late
		f.below = uint32(gp.stack.hi - sys.GetCallerSP())
		f.trips = 0
	}
	s.depth = d + 1
	return uint64(d)<<32 | qinstTraced | uint64(point), nil
}

// qinstExit is qinst_exit, the probe at a procedure's exit, where the entry was traced.
// It sets the stack's depth rather than popping: where exits were skipped, the next
// one puts things right.
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
	sys.Prefetch(b.p + 512) // while the writer lags, chunks come back cold
}

// qinstLoopLeft is qinst_leave, the probe at a loop's exit, likewise.
//
//go:nosplit
func qinstLoopLeft(token, trips uint64) {
	gp := getg()
	d := qinstDepthOf(token)
	if s := gp.qinstStack; s != nil {
		if s.depth > d+1 {
			qinstLoopsLeft(gp, s, d+1)
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
//
//go:nosplit
//go:linkname qinstExitAll qinst_exitall
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
// iterations in the profile stack, and what is not traced.
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

// trips is how many iterations the loop at depth d has counted in the profile
// stack; beyond its size that is not known (spec.NoTrips).
//
//go:nosplit
func (s *qinstStack) trips(d uint32) uint64 {
	if d < s.size {
		return s.frame(d).trips
	}
	return ^uint64(0)
}

// qinstTrip counts an iteration of a range over a function.
//
//go:nosplit
//go:linkname qinstTrip qinst_trip
func qinstTrip(token uint64) {
	if token&qinstTimedToken != 0 {
		return
	}
	if s, d := getg().qinstStack, qinstDepthOf(token); s != nil && d < s.size {
		s.frame(d).trips++
	}
}

// qinstCallSlow is qinst_call, the probe at a call site, for a thread without a
// cell. The result is always 0, so that the probe can stand in a condition.
//
//go:nosplit
func qinstCallSlow(point uint32) uint32 {
	if b := qinstCountSlow(point); b != nil {
		b.cell(point).hits++
	}
	return 0
}

// qinstCallee counts how often a call point called one function.
type qinstCallee struct {
	pc    uintptr
	point uint32
	_     uint32
	n     uint64
}

const (
	qinstMaxCallees  = 4096 // of a thread
	qinstCalleesSize = qinstMaxCallees * unsafe.Sizeof(qinstCallee{})

	qinstMixPoint = 0x45EBCA6B
	qinstMix      = 0x9E3779B97F4A7C15
)

// qinstCalled is qinst_callee, the probe at a call whose callee begins at pc, where that
// is new: the point's cell counts all its calls, and a table of the thread's each callee's.
//
//go:nosplit
func qinstCalled(point uint32, pc uintptr) uint32 {
	b := getg().m.qinst
	if !b.has(point) {
		if b = qinstCountSlow(point); b == nil {
			return 0
		}
	}
	b.cell(point).hits++
	if pc == 0 || b.callees == 0 {
		return 0
	}
	if e := b.callee(point, pc); e != nil {
		e.n++
	} else {
		b.unresolved++
	}
	return 0
}

// callee is where the block counts the calls of a point to one function, nil if there is
// no room.
//
//go:nosplit
func (b *qinstBlock) callee(point uint32, pc uintptr) *qinstCallee {
	i := (pc ^ uintptr(point)*qinstMixPoint) * qinstMix >> 52
	for range 16 {
		e := (*qinstCallee)(unsafe.Pointer(b.callees + i%qinstMaxCallees*unsafe.Sizeof(qinstCallee{})))
		if e.n == 0 {
			e.pc, e.point = pc, point
		}
		if e.pc == pc && e.point == point {
			return e
		}
		i++
	}
	return nil
}

// has reports whether the block has a cell for the point.
//
//go:nosplit
func (b *qinstBlock) has(point uint32) bool {
	return point < qinstMaxPoints && *b.page(point >> qinstPageShift) != 0
}

// qinstCountSlow is qinstBlockFor where a hit is to be counted: without a block it counts
// in the shared cells.
//
//go:nosplit
func qinstCountSlow(point uint32) *qinstBlock {
	if point >= qinstMaxPoints {
		atomic.Xadd64(&qinstEarly, 1)
		return nil
	}
	if b := qinstBlockFor(point); b != nil {
		return b
	}
	if b := getg().m.qinst; b != qinstNone() {
		b.pageless++
	}
	if shared := qinstBlocks[0]; shared != 0 {
		if c := (*qinstBlock)(unsafe.Pointer(shared)).cell(point); c != nil {
			atomic.Xadd64(&c.hits, 1)
		}
	}
	return nil
}

// qinstBlockFor finds the thread's block, with a cell for the point; nil if there is none.
//
//go:nosplit
func qinstBlockFor(point uint32) *qinstBlock {
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

// qinstAttach gives a thread its block, nil if none is ready.
//
//go:nosplit
func qinstAttach(mp *m) *qinstBlock {
	if mp.qinst != qinstNone() {
		return mp.qinst
	}
	i := qinstReady.pop()
	for i == 0 && getg() == mp.g0 && qinstNewBlock() { // a burst: the writer was too slow
		i = qinstReady.pop()
	}
	if i == 0 {
		return nil
	}
	if qinstSpares.Add(-1) < qinstFewSpares {
		qinstWake() // to make more
	}
	b := (*qinstBlock)(unsafe.Pointer(qinstBlocks[i]))
	b.g, b.proc = 0, -1
	if pp := mp.p.ptr(); pp != nil {
		b.proc = pp.id
	}
	if !b.used {
		atomic.Store(&qinstUsed[qinstNUsed.Add(1)-1], b.num)
	}
	b.tid, b.used = uint32(mp.procid), true
	mp.qinst = b
	qinstGiven(mp, mp.curg)
	return b
}

// qinstGiven tells the thread's block which goroutine it is to run.
//
//go:nosplit
func qinstGiven(mp *m, gp *g) {
	if b := mp.qinst; b.num != 0 { // a block that all have is not to be written to
		b.gp = uintptr(unsafe.Pointer(gp))
	}
}

// qinstDetach takes the block from a thread that is about to end. mexit calls
// it (through mdestroy) after the last event.
//
//go:nosplit
func qinstDetach(mp *m) {
	b := mp.qinst
	if b == qinstNone() {
		return
	}
	mp.qinst = qinstNone()
	qinstGiveAway(b)
	b.tid, b.gp = 0, 0
	qinstReady.push(b.num)
	qinstSpares.Add(1)
}

// qinstGoexits closes all procedures of a goroutine that ends by Goexit and has
// made its deferred calls.
//
//go:nosplit
func qinstGoexits() {
	gp := getg()
	if s := gp.qinstStack; s != nil && s.depth != 0 {
		s.depth = 0
		qinstPut(qinstNow(), gp.goid, qinstEvUnwind<<24)
	}
}

// qinstRecovered closes the procedures that a recovered panic left: those whose
// frames lie below sp, the frame that goes on, and that frame itself if its
// exit is not a deferred call (for it returns without passing one).
//
//go:nosplit
func qinstRecovered(gp *g, sp uintptr) {
	below := uint32(gp.stack.hi - sp)
	qinstTalliesLeft(gp, below)
	s := gp.qinstStack
	if s == nil || s.depth == 0 {
		return
	}
	d := s.depth
	if d > s.size {
		// Where the entries beyond the stack's size belong is not known. They go
		// with the last one that is.
		if s.frame(s.size-1).below <= below {
			return
		}
		d = s.size
	}
	for d > 0 {
		f := s.frame(d - 1)
		if f.below < below || f.below == below && f.point&qinstLate == 0 {
			break
		}
		d--
	}
	if d == s.depth {
		return
	}
	told := s.traced(d)
	if s.depth <= s.size && told == s.traced(s.depth) {
		s.depth = d
		return
	}
	s.depth = d
	qinstPut(qinstNow(), gp.goid, qinstEvUnwind<<24|uint64(told))
}

// traced is how many of the outermost d entries an event told of.
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
