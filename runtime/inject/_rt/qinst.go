// Package runtime, the part that qinst adds: the recording of events and counts inside
// the program under test.
//
// # Design
//
// Every OS thread (m) that records owns a recorder: a buffer of memory that events are
// appended to, and counters, one for each point that the thread has reached, with exact
// counts. A probe finds its recorder in the running g, counts in its counter without an atomic
// operation, and writes an event of 8 to 24 bytes if the counter has quota. Calls are counted
// in line, in a ledger, which the thread owns, too (qinst_ledger.go). Full buffers go to
// the writer, a thread of our own, which appends them to the file. The buffers, the recorders,
// the counters and the ledgers lie in the ring, a file in /dev/shm, so that what a killed program has
// recorded can be read by others.
//
// Scheduling events come from hooks at the heads of the methods of Go's own tracer. They
// are written into the same buffers, so that the order of a thread's events is their order
// in its buffers, and no sorting by time is needed within a thread.
//
// Threads never wait for the writer. An event that finds no buffer is counted as lost, and
// the next event reports how many are missing. A hit that finds no counter is counted in
// counters that all threads share.
//
// # An example
//
// Goroutine 7 starts to run on the thread of recorder 2 and calls f, whose point is 5, once.
// The thread has not recorded before. It takes a buffer, whose head says
//
//	num=2 tid=4711 seq=0 ticks=1000 g=0 proc=3
//
// and puts these words after it, in hexadecimal digits:
//
//	00000000 09 000000   go start, at ticks 1000
//	00000200 00000007    goroutine 7, its second transition: to be created was the first
//	0000012c 01 000005   f entered, 300 ticks later
//	00000640 02 000005   f left, 1600 ticks after that
//
// Point 5's counter in recorder 2 then has hits=1, traced=1 and quota=-1. Under rate control its
// threshold is -256: 255 more entries of this thread are traced before it only counts, and when
// 128 are left the thread notes point 5 for the writer.
//
// The probe at the entry has returned the token 00000000 80000005 (depth 0 of the profile
// stack, traced, point 5). With it the one at the exit finds the point, and sets the depth
// back to 0. Had a panic that f recovers left procedures open, they would be closed by the
// same store.
//
// # Thread contexts
//
// The last line of a function's comment names the contexts that it runs in, if those are
// not all. A test computes them from the calls. A new caller from another context changes
// that line: then every function on the way must be allowed there.
//
//	context    where it runs                        may call                        may lock                may allocate
//	start      the main goroutine before any        anything; writes what nobody    qinstMemory, on the     maps memory
//	           other runs; a package's              reads yet                       system stack
//	           registration
//	probe      the goroutine of user code, on its   nosplit functions of ours;      nothing; on the         no
//	           own stack; sometimes g0 (timer       systemstack for what is rare    system stack
//	           functions)                                                           qinstMaking, qinstGrowing,
//	                                                                                and qinstMemory if it is
//	                                                                                free (qinstEndBurst)
//	hook       inside the scheduler, mostly on g0:  as a probe                      as a probe: it may      no
//	           with its locks held, with or                                         hold sched.lock
//	           without a P, on signal stacks                                        already, and qinstLedging
//	                                                                                in execute and when a
//	                                                                                goroutine is stopped
//	end        the goroutine or signal handler      qinstWake, usleep; no parking   nothing                 no
//	           that ends the process                but in qinstReduceAll
//	goroutine  an ordinary goroutine inside a call  anything that may block         qinstMemory, on the     no
//	           of user code (qinst.Name, /debug)                                    system stack
//	writer     a thread of ours without a P         system calls; no write          qinstMemory; allglock   maps memory
//	           barrier (nowritebarrierrec)          while the program lives
//	sampler    likewise, up to eight                as the writer, and reads        nothing                 no
//	           other goroutines' profile stacks
//	reducer    a goroutine of the runtime that      anything; it runs extensions,   locks of its own, held  yes, in user
//	           the writer alone wakes               which are user code             while nobody waits      code
//
// Locks of ours are spin locks. Their holders are on a system stack, since a goroutine
// could be preempted with the lock and everybody else would spin until it runs again.
// qinstMemory comes before qinstGrowing, qinstLedging and qinstMaking, which are taken one at a
// time. No function takes one that it may hold.
//
// # Levels in a counter's quota
//
// A hit is recorded, beyond being counted, if quota > threshold, compared as signed numbers:
// quota is the counter's, threshold its recorder's. So one comparison decides for a counter, and one
// store to threshold stops a whole thread. These are the numbers, in ascending order; the
// order is what makes the comparison right.
//
//	-1<<31          low of a recorder without rate control: no quota gets there, so that no
//	                point is ever noted for the writer
//	-1<<29          threshold where nothing limits points. A zero counter has 2^29 events above
//	                it; qinstRefill gives a counter more before those are used up
//	-qinstFree      threshold under rate control: a zero counter has 256 events to begin with
//	threshold           quota of a point at level count or off: it is above no threshold
//	threshold+qinstLow  low: whose quota comes down to it the writer is told of (qinstWant)
//	threshold+n         quota of a point at level trace: n more events, 1<<28 at most
//	1<<31-5         qinstCountOnly, threshold of a thread that found no buffer, of mode=count,
//	                and after the limit: no quota of a traced point is above it. A thread that found
//	                buffers, but none left by the budget, has it for entries alone (qinstRecorder.telling)
//	1<<31-4         qinstBursting, quota in a burst of a point that is only counted: the thread ends it
//	1<<31-3         qinstDelayed, quota of a point whose hits take longer
//	1<<31-2         qinstTimedSlow, quota of a timed point where the clock is nanotime
//	1<<31-1         qinstTimed, quota of a timed point
//
// The last four are above qinstCountOnly, since neither a count, a time nor a delay needs a buffer: a starved
// thread goes on. qinstTrace tests for them by quota >= qinstBursting, and the assembly for
// quota == qinstTimed, so nothing may lie between or above them. Operations test for
// qinstDelayed alone, and qinstEmit takes one from quota without a test, because only points with an entry
// and an exit are ever timed (qinstDecide turns time into count for the others), and records are
// never delayed.
//
// # Rules
//
//  1. Everything that touches a recorder MUST be a called nosplit function of package
//     runtime. Such code is never preempted asynchronously (preempt.go,
//     isAsyncSafePoint), so getg().m cannot change under it. Otherwise, or inlined into
//     user code, a goroutine moves to another thread between reading the recorder and
//     writing to it: two threads increment one counter, and counts are lost. What is
//     inlined may write to the ledger alone, which moves with the goroutine.
//  2. Probes and hooks MUST NOT allocate, park, or take a lock of the runtime. Otherwise
//     the program deadlocks: they are entered with the scheduler's locks held, on signal
//     stacks, and without a P. The writer prepares the buffers, recorders, counters and profile
//     stacks that they need on lock-free lists. If a list is empty they may make more on a
//     system stack, by a system call that does not wait, or else they only count. A delay gives
//     its processor away, and an arrival at a barrier that a rule is about is parked, where a call of the program's own might
//     be, and nowhere else (qinstSpend, qinstArrive): the delay of a deferred operation is in no frame of the assembly.
//  3. Recorders, buffers, counters and profile stacks MUST NOT be unmapped. Otherwise the writer
//     or a sampler, which read them while their threads run, would crash the program.
//  4. g.qinst MUST be the recorder of the thread that runs the goroutine, or none. It is set
//     where a thread begins to run one (execute, coroswitch_m) and spares the probes a
//     load that a locked instruction before them makes them wait for. Otherwise a probe
//     counts in the counter of another thread.
//  5. Data that a reader finds by an address or a number MUST be stored before the address
//     or number is published: an event before p, a buffer's head before its first p, a slab
//     before its place in the directory, the ring's words before its magic. Otherwise the
//     reducer, or a reader of a killed program's ring, takes old memory for events.
//  6. Whether an activation is traced, timed or only counted MUST be decided at its entry,
//     and its exit MUST go by the token. Otherwise levels that change in between make
//     entries without exits, and procedures that never end.
//  7. A hit MUST be counted before anything that can fail, and traced MUST grow with the
//     event alone. Otherwise hits = traced + timed + counted does not hold, which every
//     report rests on.
//  8. A transition of a goroutine MUST be written by the thread that owns it, where Go's
//     tracer notes it. Otherwise the sequence number in g, which no atomic operation
//     protects, is given out twice, and readers cannot order two threads' events.
//  9. The writer MUST NOT allocate, execute a write barrier, or take a lock that a dying
//     thread may hold. Otherwise a program that panics with that lock waits for a writer
//     that waits for it; qinstAwait gives up after 10 s, and the file has no end.
//  10. Whatever fails, the program MUST go on as if it had not been instrumented: no exit,
//     no panic, nothing on stdout, one line on stderr. Otherwise nobody could run it in
//     production.
package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

const (
	qinstMaxPoints  = qinstMaxProbes
	qinstLate       = 1 << 20  // in a point's index: its exit is not a deferred call
	qinstIndexes    = 1 << 22  // all are below: those of packages that are not registered, too (1<<21 and a point)
	qinstBufferSize = 32 << 10 // a few times smaller than an L2 cache: the writer finds it warm
	qinstHeadSize   = 64       // of a buffer
	qinstTraced     = 1 << 31  // in an entry's token: it wrote an event
	qinstLongest    = 3 * 8    // bytes of the longest event
	qinstContext    = 7 * 8    // bytes of a time, a gap and a goroutine entry
)

// Code inlined into user code must be small, because every point has it, and must not touch
// a recorder (rule 1). Only a test is inlined: before instrumented code calls a probe it tests
// the point's byte in its package. See qinstSetOff.

// qinst_on is tested before a record of the program's own is encoded.
//
//go:linkname qinst_on qinst_on
var qinst_on uint32

// qinstStates is set while scheduling events are recorded. It is cleared before the last
// record is written, and after a limit: hooks then do nothing, and entries find no buffer.
var qinstStates uint32

// qinstSlowClock is set where the processor's clock may stop or change speed. Time is then
// nanotime's, which costs several times as much.
var qinstSlowClock bool

// qinstCounter counts one point on one thread. hits counts always. An event is
// written only while quota, which each event takes one from, is above the recorder's
// threshold; see the table of levels at the head of this file. The writer sets quota, without
// an atomic operation on either side: should it race with the thread, the budget is off by
// a little, and the counts are right.
//
// A counter has 16 bytes, which the assembly shifts by. Calls are counted in ledgers instead,
// wherever code can count in line (see qinst_ledger.go).
type qinstCounter struct {
	hits   uint64
	traced uint32
	quota  int32
}

// qinstRecorder holds a thread's counters and its place in a buffer. The thread owns it, and
// other threads read it at any time. The writer alone writes threshold, telling, low, sums, hists and
// wantOut, and resets wantAll; a thread that is starved raises its thresholds.
//
// The first words up to buffer are read by every event, and so lie in one cache line. The
// assembly and readers of the ring know offsets of some; both take them from here.
type qinstRecorder struct {
	_         sys.NotInHeap
	next      uint32  // on the list of ready recorders
	num       uint32  // dense number of the recorder, from 1
	p         uintptr // where the next event goes; 0 without a buffer
	end       uintptr // last p at which the longest event fits
	last      uint64  // time of the last event
	g         uint64  // goroutine that the events so far put on the thread
	threshold int32
	telling   int32   // threshold of points that tell more than they cost
	proc      int32   // processor that the events so far gave to the thread
	tid       uint32  // 0: no thread has the recorder
	buffer    uintptr // the current one
	seq       uint64  // of it
	paging    bool    // has pages of counters, or will
	used      bool    // a thread has had it
	tool      bool    // a thread that takes samples has it
	yielded   uintptr // where the event of a yield stands that this thread's goroutine has just made; 0: none
	yielder   uint64  // that goroutine, with the number of its last transition: it may have been elsewhere meanwhile
	yields    uintptr // where the event of a run of yields stands, in this buffer; 0: there is none
	yieldsAt  uint64  // its time
	call      uint64  // when a system call began whose event is left out so far; 0: there is none
	calls     uint64  // calls of which no event was written
	called    uint64  // their time, in ticks
	found     bool    // the next goroutine to start comes from the processor's own queue
	named     bool    // something is in callees: to read memory that nobody has written takes longer than to write a few of them

	// What the writer's last record of the thread says.
	readTid atomic.Uint32
	readRun atomic.Uint64

	gp uintptr // the g that the thread was last given to run, for samplers

	gapFrom uint64 // time of the first event that found no buffer
	lost    uint64 // events since then

	overflow uint64 // entries deeper than the profile stack
	pageless uint64 // hits that found no page

	callees    uintptr // qinstMaxCallees of qinstCallee; see hasCallees
	unresolved uint64  // calls that found no room there

	sums, hists uintptr // of timed points; 0: there are none

	// The burst in which a sampler last looked at the thread, and its processor time in ns, when the burst
	// began and at that look.
	burst             uint64
	burstCPU, lookCPU uint64
	look              qinstLook
	lookTook          uint64 // of its time, what a sampler has seen
	looks             uint32 // that found the thread running since it last told

	inBursts int32 // hits that the thread may still have in this burst, see inBurst

	price [qinstPriceKinds]qinstSelfTimed // of events that timed themselves

	owed    uint64 // ticks that delays took too long, for which later ones are shorter
	reading qinstReading

	// Points of which half the quota is used up, for the writer.
	low             int32  // the quota at which that is so
	wantAll         bool   // there were more
	wantIn, wantOut uint32 // how many there were, and how many the writer has seen
	want            [qinstWants]uint32
}

// page returns the recorder's entry for a page of counters: the address that the counter of
// point 0 would have, 0 if there is no page. The table covers every index that probes are
// called with, so that they need not test the index.
// Context: start, probe, goroutine, writer, reducer.
//
//go:nosplit
func (b *qinstRecorder) page(number uint32) *uintptr {
	return (*uintptr)(unsafe.Pointer(uintptr(unsafe.Pointer(b)) + qinstPage + uintptr(number)*8))
}

// counter is the point's counter, nil if the recorder has none so far. The table of pages follows
// the recorder, so that finding a counter loads one word.
// Context: start, probe, goroutine, writer, reducer.
//
//go:nosplit
func (b *qinstRecorder) counter(point uint32) *qinstCounter {
	p := *b.page(point >> qinstPageShift)
	if p == 0 {
		return nil
	}
	return (*qinstCounter)(unsafe.Pointer(p + uintptr(point)*16))
}

// qinstNone is the recorder of a thread that has none: no buffer, no counters. That
// spares the probes a test for nil.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstNone() *qinstRecorder { return (*qinstRecorder)(unsafe.Pointer(&qinstNoneMemory)) }

var qinstNoneMemory [(qinstPage + qinstPageTable) / 8]uint64

// qinstBuffer is the head of a buffer; events follow at qinstHeadSize. It has all that a
// record "events" needs, so that the writer and readers of the ring can make one of a
// buffer without the recorder. Package extensions has a copy of this struct, which a test
// compares with it.
type qinstBuffer struct {
	_     sys.NotInHeap
	next  uint32 // on the lists of free and of full buffers
	bytes uint32 // of events, set when the thread gives the buffer away
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
	owed    int64   // ns of delays that are to be slept on a virtual processor; negative: earlier ones took so much too long
}

// qinstFrame is an open procedure or loop: its point, and how far below the top
// of the goroutine's stack its frame lies. Stacks move when they grow, and frames with
// them, so that no address could stay here; the distance stays. A
// range over a function counts its iterations here.
type qinstFrame struct {
	point, below uint32
	trips        uint64
}

// frame is entry i of the stack. It tests no bound, because its callers have compared i
// with size: beyond that lies another goroutine's memory.
// Context: probe, hook.
//
//go:nosplit
func (s *qinstStack) frame(i uint32) *qinstFrame {
	return (*qinstFrame)(unsafe.Pointer(s.entries + uintptr(i)*16))
}

// qinstNow reads the processor's clock without waiting for earlier
// instructions (cputicks does, and costs twice as much), or nanotime where
// qinstSlowClock says so.
func qinstNow() uint64

// qinstInvariantClock reports whether that clock always runs, at one speed.
func qinstInvariantClock() bool

// qinstChecksum is qinstCRC where the processor has the instructions.
func qinstChecksum(sum uint32, p, n uintptr) uint32

// The probe at a procedure's entry is qinst_enter, in assembly: it counts, and goes on
// here if the entry must be traced. Its first result, the token, is all that the exit
// probe gets; it says what was decided at the entry, so that pairs stay whole (rule 6):
//
//	63        32 31       21 20        0
//	 0           0            0             nothing to do at the exit
//	 0           0            depth         on the profile stack only; depth is the entry's and 1
//	 depth       1<<31        point         traced: qinstTraced, and how deep the entry lies
//	 time        time's upper 1<<20 | point timed: qinstTimedToken, and the time of the entry
//	 depth       1<<30        point         of a delayed loop: qinstDelayedToken
//
// A point has 20 bits and depths are below 1<<20, so bits 20, 30 and 31 tell the forms apart:
// a traced token never has bit 20, and of a timed one bit 20 is looked at first, since its
// bits 30 and 31 belong to the time.
//
// Where the entry is on the profile stack only, the exit sets the depth back in instrumented
// code, without a probe (QinstDepth). The second result of the functions that qinst_enter jumps to,
// the profile stack then, has no reader.

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
			return 0, nil
		}
	}
	*(*uint64)(unsafe.Pointer(b.p)) = (now-b.last)<<32 | qinstEvEnter<<24 | uint64(point)
	b.last = now
	qinstPublish(&b.p, b.p+8)
	c.traced++
	if c.quota--; c.quota == b.low || c.quota == b.threshold {
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
	if now&qinstItself == 0 {
		b.took(qinstPriceCall, now)
	}
	return uint64(d)<<32 | qinstTraced | uint64(point), nil
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
	sys.Prefetch(b.p + 512) // while the writer lags, buffers come back cold
	if now&qinstItself == 0 {
		b.took(qinstPriceCall, now)
	}
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

// qinstCallee counts how often a call point called one function.
type qinstCallee struct {
	pc    uintptr // or a table of methods, see qinstMost
	point uint32  // then the upper bits are the method's index and 1
	turn  int32   // of one that ledgers' words may name: calls until that is considered
	n     uint64
}

const (
	qinstMaxCallees  = 4096 // of a thread
	qinstCalleesSize = qinstMaxCallees * unsafe.Sizeof(qinstCallee{})

	qinstMixPoint = 0x45EBCA6B
	qinstMix      = 0x9E3779B97F4A7C15
)

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

// qinstNoCallees is a table with nobody in it, so that the assembly need not test whether there is one.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstNoCallees() uintptr { return uintptr(unsafe.Pointer(&qinstNoneMemory)) + qinstPage }

// hasCallees gives a recorder its table of callees, if it has none. It reports false if there is no memory.
// Context: probe, writer.
//
//go:nosplit
func (b *qinstRecorder) hasCallees() bool {
	if b.callees != qinstNoCallees() {
		return true
	}
	systemstack(func() {
		if p := qinstAnonymous(qinstCalleesSize); p != 0 {
			b.callees = p
		}
	})
	return b.callees != qinstNoCallees()
}

// callee returns the counter of a point's calls to one function, nil if there is no
// room.
// It looks at 16 slots at most: the probe must not take longer in a program with many
// callees than in one with few.
// Context: probe, writer.
//
//go:nosplit
func (b *qinstRecorder) callee(point uint32, pc uintptr) *qinstCallee {
	i := (pc ^ uintptr(point)*qinstMixPoint) * qinstMix >> 52
	for range 16 {
		e := (*qinstCallee)(unsafe.Pointer(b.callees + i%qinstMaxCallees*unsafe.Sizeof(qinstCallee{})))
		if e.n == 0 {
			e.pc, e.point, b.named = pc, point, true
		}
		if e.pc == pc && e.point == point {
			return e
		}
		i++
	}
	return nil
}

// has reports whether the recorder has a counter for the point.
// Indexes of packages that are not registered are above qinstMaxPoints, so that they have
// no page and come to the slow side.
// Context: probe.
//
//go:nosplit
func (b *qinstRecorder) has(point uint32) bool {
	return point < qinstMaxPoints && *b.page(point >> qinstPageShift) != 0
}

// qinstCountSlow finds the thread's recorder like qinstRecorderFor and counts a hit.
// The hit must be counted in any case, because reports promise exact counts. Without a
// recorder or page it goes to the shared counters, and before registration to qinstEarly.
// Context: probe.
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
// Context: probe.
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

// qinstAttach gives a thread its recorder, nil if none is ready.
// It must not wait, because it may be called with the scheduler's lock held. On the system
// stack it makes a recorder; otherwise the event is lost and counted.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstAttach(mp *m) *qinstRecorder {
	if mp.qinst != qinstNone() {
		return mp.qinst
	}
	i := qinstReady.pop()
	for i == 0 && getg() == mp.g0 && qinstNewRecorder() { // a burst: the writer was too slow
		i = qinstReady.pop()
	}
	if i == 0 {
		return nil
	}
	if qinstSpares.Add(-1); qinstFewRecorders() {
		qinstWake() // to make more
	}
	b := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[i]))
	b.g, b.proc = 0, -1
	if pp := mp.p.ptr(); pp != nil {
		b.proc = pp.id
	}
	if !b.used {
		atomic.Store(&qinstUsed[qinstNUsed.Add(1)-1], b.num)
	}
	b.tid, b.used = uint32(mp.procid), true
	qinstOwns(b)
	mp.qinst = b
	qinstGiven(mp, mp.curg)
	return b
}

// qinstGiven tells the thread's recorder which goroutine it is to run.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstGiven(mp *m, gp *g) {
	if b := mp.qinst; b.num != 0 { // the recorder of threads without one must not be written
		b.gp = uintptr(unsafe.Pointer(gp))
	}
}

// qinstDetach takes the recorder, and the ledger, from a thread that is about to end. mexit calls
// it (through mdestroy) after the last event.
// The recorder keeps its counters and its number. Its next thread goes on counting there,
// because to fold the counters at each thread's end would cost more than programs with many
// short threads can afford.
// Context: hook.
//
//go:nosplit
func qinstDetach(mp *m) {
	qinstLeaveLedger(mp)
	b := mp.qinst
	if b == qinstNone() {
		return
	}
	mp.qinst = qinstNone()
	qinstGiveAway(b)
	b.countEnded()
	b.tid, b.gp = 0, 0
	qinstReady.push(b.num)
	qinstSpares.Add(1)
}

// qinstGoexits closes all procedures of a goroutine that ends by Goexit and has
// made its deferred calls.
// Goexit returns through no procedure, so that exits which are not deferred calls never
// run; one event closes all of them.
// Context: hook.
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
// Otherwise the entries above would stay open, and the goroutine's next work would be
// charged to procedures that have ended.
// Context: hook.
//
//go:nosplit
func qinstRecovered(gp *g, sp uintptr) {
	below := uint32(gp.stack.hi - sp)
	s := gp.qinstStack
	if s == nil || s.depth == 0 {
		return
	}
	d := s.depth
	if d > s.size {
		// The frames of entries beyond the stack's size are not known. These entries
		// go with the last one whose frame is known.
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
