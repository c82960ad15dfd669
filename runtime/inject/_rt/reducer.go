package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// Package extensions reduces events before they are written. Its goroutine, the
// reducer, stands between the threads and the writer: it takes the recorded buffers,
// changes their events, and gives the buffers to the writer. It is a goroutine of the
// runtime and parked while there is nothing to do. The program does not notice it:
// deadlocks are still found, and runtime.NumGoroutine does not count it. Only the writer
// wakes it.
//
// A program that a signal ends lives on until extensions have written what they hold, and
// then the writer ends it by that signal. One that ends by a fatal error cannot wait for a
// goroutine. Then, or if the reducer hangs, the writer writes the buffers that it has not
// given back unchanged.

// The states of the reducer, in the order that it takes them. It never comes back from
// the last one.
const (
	qinstReduceNone = iota
	qinstReduceWorks
	qinstReduceParked
	qinstReduceLeft // the writer goes on without it
)

const (
	qinstReducePatience = 2e9   // ns without progress, at the end
	qinstItselfNS       = 200e6 // how long a thread that has sent the deadly signal waits for it
)

// state is changed by compare-and-swap, because the writer, the reducer and the thread that
// ends the program may all change it. A request to write everything raises asked, and the
// reducer raises answered. If both are equal, no request is open.
var qinstReduce struct {
	state           uint32
	asked, answered uint32 // for everything so far
	last            bool   // and nothing will follow
	held            int64  // when it answered, until that is written: it waits; 0: it does not
	beat            uint32 // raised by its progress
	gp              guintptr
	run             func()

	at, n uint32  // of the buffers that threads were filling when the round began
	peeks uintptr // of qinstPeek
	taken uint32  // full buffers that it has not looked at, the oldest first
	tick  int64
	ns    uint64        // time that it has worked
	seen  uint64        // of it, when a budget last looked
	out   atomic.Uint64 // buffers to be written, as qinstFull
	told  uint64        // dropped events that records have told of

	deadly  uint32 // signal by which the writer is to end the program; 0: none
	waited  int64  // since when there was no progress, once there is one
	waitsAt uint32 // the beat then

	packets, size uintptr // to be written as they are; 0: none
	sealed        uint64  // how many
	sums          uint32  // of their last checksums
	parts         uintptr // of buffers that are not full: qinstPart, a number of them
	nparts        uint32
	now, partsAt  uint64 // of the round; of the one that the parts are of
}

// qinstPeek is where a thread is in its buffer.
type qinstPeek struct{ buffer, p uintptr }

// qinstPart is the part of an unfinished buffer that must be written. It has a copy of the
// buffer's head, because the buffer may belong to another thread by then.
type qinstPart struct {
	_    sys.NotInHeap
	head qinstBuffer
	p, n uintptr
}

// qinstReducer is the goroutine. It notes its g, because an extension that ends the program
// must not wait for it.
// Context: goroutine, reducer.
func qinstReducer() {
	qinstReduce.gp.set(getg())
	qinstReduce.run()
}

// qinstReduceWait waits for something to do. It reports whether everything so far is
// asked for, and whether that is the end.
// It parks as a system goroutine, because the program's own deadlock detection and its
// count of goroutines must not change.
// Context: reducer.
//
//go:linkname qinstReduceWait qinst_reduce_wait
func qinstReduceWait(worked uint64) (all, last bool) {
	r := &qinstReduce
	r.ns += worked
	for again := true; again; again = atomic.Loadint64(&r.held) != 0 {
		gopark(qinstReducePark, nil, waitReasonForceGCIdle, traceBlockSystemGoroutine, 1)
	}
	return atomic.Load(&r.asked) != r.answered, r.last
}

// qinstReducePark is the last thing before the reducer is parked.
// It looks for work once more after it has set its state to parked. Otherwise a request in
// between would not wake it.
// Context: reducer.
func qinstReducePark(*g, unsafe.Pointer) bool {
	r := &qinstReduce
	if !atomic.Cas(&r.state, qinstReduceWorks, qinstReduceParked) {
		return true // for good
	}
	// A request raises asked before it looks at the state.
	return !qinstReduceWanted() || !atomic.Cas(&r.state, qinstReduceParked, qinstReduceWorks)
}

// qinstReduceWanted reports whether there is something to do for the reducer.
// Context: writer, reducer.
func qinstReduceWanted() bool {
	r := &qinstReduce
	return atomic.Loadint64(&r.held) == 0 && (qinstFull.Load() != 0 ||
		atomic.Load(&r.asked) != atomic.Load(&r.answered))
}

// qinstReduceRound begins a round and returns its end: all events up to this time can be
// taken. Up to then the times of events give the order in which a goroutine used threads.
// An event that a thread has not published by now is later on every other thread too,
// because its goroutine cannot have left the thread.
// Peeks come before the full list is taken: the other way round a buffer that became full
// in between would be in neither.
// Context: reducer.
//
//go:linkname qinstReduceRound qinst_reduce_round
func qinstReduceRound() (now uint64) {
	r := &qinstReduce
	now = qinstNow()
	if r.last {
		now = atomic.Load64(&qinstEndTime)
	}
	r.at, r.n, r.now = 0, 0, now
	peeks := (*[qinstMaxRecorders]qinstPeek)(unsafe.Pointer(r.peeks))
	for i := uint32(1); i < atomic.Load(&qinstNRecorders); i++ {
		b := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[i]))
		p, c := atomic.Loaduintptr(&b.p), atomic.Loaduintptr(&b.buffer)
		if c != 0 && p > c && p <= c+qinstBufferSize {
			peeks[r.n] = qinstPeek{c, p}
			r.n++
		}
	}
	// A buffer that was given away meanwhile comes twice. The reducer takes the full one.
	list := uint32(qinstFull.Swap(0))
	for list != 0 {
		h := qinstBufferAt(list)
		list, h.next, r.taken = h.next, r.taken, list
	}
	return now
}

// qinstReduceTake is the next buffer of the round, the full ones first, and its events'
// bytes; nil if there is none.
// A buffer that is not full is the thread's still; the reducer may read up to bytes and
// must not write.
// Context: reducer.
//
//go:linkname qinstReduceTake qinst_reduce_take
func qinstReduceTake() (buffer unsafe.Pointer, bytes uint32, full bool) {
	r := &qinstReduce
	if r.taken != 0 {
		h := qinstBufferAt(r.taken)
		r.taken = h.next
		return unsafe.Pointer(h), h.bytes, true
	}
	if r.at < r.n {
		peek := &(*[qinstMaxRecorders]qinstPeek)(unsafe.Pointer(r.peeks))[r.at]
		r.at++
		return unsafe.Pointer(peek.buffer), uint32(peek.p - peek.buffer - qinstHeadSize), false
	}
	return nil, 0, false
}

// qinstReduceChange shows that the reducer is about to change a buffer: after that it
// is lost if the program is killed. It reports false if the buffer is not the reducer's
// any more.
// bytes becomes 0, which tells readers of the ring to leave the buffer alone: half of it
// is the old events and half the new.
// Context: reducer.
//
//go:linkname qinstReduceChange qinst_reduce_change
func qinstReduceChange(buffer unsafe.Pointer) bool {
	if atomic.Load(&qinstReduce.state) != qinstReduceWorks {
		return false // the writer takes it as it is
	}
	atomic.Store(&(*qinstBuffer)(buffer).bytes, 0)
	atomic.Xadd(&qinstReduce.beat, 1)
	return true
}

// qinstReduceGive gives a buffer to the writer.
// Context: reducer.
//
//go:linkname qinstReduceGive qinst_reduce_give
func qinstReduceGive(buffer unsafe.Pointer, bytes uint32) {
	h := (*qinstBuffer)(buffer)
	atomic.Store(&h.bytes, bytes)
	i := uint32((uintptr(buffer)-qinstBuffers.base)/qinstBuffers.stride) + 1
	for {
		old := qinstReduce.out.Load()
		h.next = uint32(old)
		if qinstReduce.out.CompareAndSwap(old, uint64(i)) {
			break
		}
	}
	qinstWake()
}

// qinstReduceDropped returns the counter of a point's events that the reducer dropped. It is
// the part of a shared counter that the threads' counters use for events and the shared
// recorder does not. In the ring, a killed program's counts then add up.
// Context: writer, reducer.
//
//go:linkname qinstReduceDropped qinst_reduce_dropped
func qinstReduceDropped(point uint32) *uint64 {
	return (*uint64)(unsafe.Pointer(&qinstSharedCounter(point).traced))
}

// qinstReducePackets gives packets to the writer, that stay where they are until it
// has written them. It reports false if the last ones are not written yet.
// There is one buffer in flight, since the writer reads it where it lies.
// Context: reducer.
//
//go:linkname qinstReducePackets qinst_reduce_packets
func qinstReducePackets(p unsafe.Pointer, n uintptr, packets uint64, sums uint32) bool {
	r := &qinstReduce
	if atomic.Loaduintptr(&r.packets) != 0 {
		return false
	}
	if n != 0 {
		r.size, r.sealed, r.sums = n, packets, sums
		atomic.Storeuintptr(&r.packets, uintptr(p))
		qinstWake()
	}
	return true
}

// qinstReduceParts gives the writer the parts of unfinished buffers to write, likewise.
// Context: reducer.
//
//go:linkname qinstReduceParts qinst_reduce_parts
func qinstReduceParts(p unsafe.Pointer, n uint32) bool {
	r := &qinstReduce
	if atomic.Load(&r.nparts) != 0 {
		return false
	}
	r.parts, r.partsAt = uintptr(p), r.now
	atomic.Store(&r.nparts, n)
	return true
}

// qinstReduceAnswer shows that everything that was asked for is with the writer. Until
// that is in the file the reducer takes nothing more: the file would have later events
// before earlier ones, and counts of some that it does not have.
// Context: reducer.
//
//go:linkname qinstReduceAnswer qinst_reduce_answer
func qinstReduceAnswer() {
	atomic.Storeint64(&qinstReduce.held, nanotime())
	atomic.Store(&qinstReduce.answered, atomic.Load(&qinstReduce.asked))
}

// qinstReduceLeave makes the writer go on alone.
// Context: reducer.
//
//go:linkname qinstReduceLeave qinst_reduce_leave
func qinstReduceLeave() { atomic.Store(&qinstReduce.state, qinstReduceLeft) }

// qinstReduceSay prints a line about an extension.
// Context: reducer.
//
//go:linkname qinstReduceSay qinst_reduce_say
func qinstReduceSay(line string) {
	systemstack(func() {
		qinstSaid = 1
		qinstSay("", line)
	})
}

// The functions below belong to the writer.
