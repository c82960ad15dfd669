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
// wherever code can count in line (see hook_ledger.go).
type qinstCounter struct {
	hits   uint64
	traced uint32
	quota  int32
}

// qinstRecorder holds a thread's counters and its place in a buffer. The thread owns it, and other
// threads read it at any time. The writer alone writes threshold, telling, low, sums, hists and
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
	calledIn  uint64  // the stack of one that ends without a processor; 0: not known
	calls     uint64  // calls of which no event was written
	called    uint64  // their time, in ticks
	found     bool    // the next goroutine to start comes from the processor's own queue
	// something is in callees: to read memory that nobody has written takes longer than to write a
	// few of them
	named bool

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

	// The burst in which a sampler last looked at the thread, and its processor time in ns, when
	// the burst began and at that look.
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
// Context: start, probe, hook, end, goroutine, writer, jumper, reducer.
//
//go:nosplit
func (b *qinstRecorder) page(number uint32) *uintptr {
	return (*uintptr)(unsafe.Pointer(uintptr(unsafe.Pointer(b)) + qinstPage + uintptr(number)*8))
}

// counter is the point's counter, nil if the recorder has none so far. The table of pages follows
// the recorder, so that finding a counter loads one word.
// Context: start, probe, hook, end, goroutine, writer, jumper, reducer.
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
	// ns of delays that are to be slept on a virtual processor; negative: earlier ones took so much
	// too long
	owed int64
}

// qinstFrame is an open procedure or loop: its point, and how far below the top
// of the goroutine's stack its frame lies. Stacks move when they grow, and frames with
// them, so that no address could stay here; the distance stays. A
// range over a function counts its iterations here.
type qinstFrame struct {
	point, below uint32
	trips        uint64
}

// qinstNow reads the processor's clock without waiting for earlier
// instructions (cputicks does, and costs twice as much), or nanotime where
// qinstSlowClock says so.
func qinstNow() uint64

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

// qinstNoCallees is a table with nobody in it, so that the assembly need not test whether there is
// one.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstNoCallees() uintptr { return uintptr(unsafe.Pointer(&qinstNoneMemory)) + qinstPage }

// hasCallees gives a recorder its table of callees, if it has none. It reports false if there is no
// memory.
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
