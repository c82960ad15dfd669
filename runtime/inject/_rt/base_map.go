package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// The memory that threads record into. It is a file in /dev/shm, so that after
// a SIGKILL the kernel still has every recorded event and count. Where no such file can be had the
// memory is anonymous.
//
//	[0, at.buffers)            head: words that say where everything is
//	[at.buffers, ...)          buffers, as many as were needed
//	[at.log, ...)              packets that must not be lost: tables, descriptors
//	[at.recorders, ...)        recorders
//	[at.directory, ...)        whose counters are where
//	[at.pages, ...)            pages of counters
//	[at.ledgers, ...)          the ledgers' slots of points
//
// The parts have fixed places in the file, with room for the most that each may become: pages that
// nobody made cost nothing. A recorder in memory is its page here, and after it a table of its
// pages of counters.
//
// The writer alone has a descriptor of the file, since no number of the program's could be relied
// on. So threads that need a part of it at another address move it there from where it was mapped.
// The file is locked as long as it is mapped: readers know by that whether the program lives.

const (
	qinstPage           = qinstRingPage
	qinstRecorderStride = qinstPage + qinstPageTable // from one recorder to the next
	qinstTogether       = 16                         // recorders whose addresses are got at a time
)

// Addresses that are zero until they are mapped are tested before use, because they stay
// zero without the tool or after a failure.
var (
	qinstRing   int32                  = -1 // descriptor, the writer's
	qinstRinged bool                        // there is such a file
	qinstHead   *[qinstPage / 8]uint64      // of the ring; anonymous if that is

	qinstRingAt struct{ buffers, log, recorders, directory, pages, ledgers, end uintptr }

	qinstLog       qinstRoom
	qinstDirectory uintptr // of uint32, one a page: number of the first point's page, and 1
	qinstTotals    uintptr
	// spin lock: a recorder is being made, or all have more points
	qinstMaking uint32
	// spin lock over tables, rules and arrays; only registration, changes of rules and the writer
	// take it
	qinstMemory uint32
	// addresses of ledgers' slots, from which they are moved
	qinstPieces     [qinstMaxLedgers / qinstPieceLedgers]uintptr
	qinstNPieces    uint32
	qinstRecordedAt uintptr // addresses of recorders' pages, likewise
)

// qinstPieceLedgers is for how many ledgers addresses are mapped at a time.
const qinstPieceLedgers = 16

// qinstLockMemory takes the lock over tables, rules and arrays. It sleeps instead of
// parking, because the writer has no P; holders must be on the system stack, otherwise
// they could be preempted with it.
// Context: start, goroutine, writer.
func qinstLockMemory() {
	for !atomic.Cas(&qinstMemory, 0, 1) {
		usleep(20)
	}
}

// qinstUnlockMemory gives it back.
// Context: start, probe, goroutine, writer.
func qinstUnlockMemory() { atomic.Store(&qinstMemory, 0) }

// qinstLockMaking takes the lock over how many recorders there are and for how many points they
// have tables.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstLockMaking() {
	for !atomic.Cas(&qinstMaking, 0, 1) {
		usleep(20)
	}
}

// qinstUnlockMaking gives it back.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstUnlockMaking() { atomic.Store(&qinstMaking, 0) }

// qinstNoteClock puts a reading of the clocks into the ring's head: in the place
// that the last one is not in.
// There are two places, and the turn is raised after the writing: a program that is
// killed in the middle leaves the other reading whole.
// Context: start, writer.
func qinstNoteClock() {
	h := qinstHead
	turn := h[qinstRingWordTurn]
	at := qinstRingWordClock + turn%2*3
	ticks, mono, wall := qinstClocks()
	h[at], h[at+1], h[at+2] = ticks, uint64(mono), uint64(wall)
	h[qinstRingWordEarly], h[qinstRingWordNoBlock] = atomic.Load64(&qinstEarly), atomic.Load64(&qinstNoRecorder)
	atomic.Store64(&h[qinstRingWordTurn], turn+1)
}

// qinstMove moves a part of the ring from where it was mapped to addresses that are reserved.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstMove(from, to, size uintptr) bool {
	const mayMove, fixed = 1, 2
	_, _, e := linux.Syscall6(qinstSysMremap, from, size, size, mayMove|fixed, to, 0)
	return e == 0
}

// qinstGrowRing lets the threads have more than n buffers. It reports false if it cannot.
// The hooks of threads call it, too.
// The holder of the lock is on its system stack and makes few system calls, so spinning
// here is short; the lock is taken by threads that hold the scheduler's.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstGrowRing(n uint32) (ok bool) {
	for !atomic.Cas(&qinstGrowing, 0, 1) {
		usleep(20)
	}
	ok = qinstBuffers.limit.Load() > n || qinstMoreBuffers(n)
	atomic.Store(&qinstGrowing, 0)
	return ok
}

// qinstMoreBuffers raises how many buffers there may be. A quarter of the memory belongs to
// events whatever counts use: a program with many points must not lose its scheduling
// events.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstMoreBuffers(n uint32) bool {
	grow := min(qinstGrow-n%qinstGrow, qinstSet.mostBuffers-n)
	if n == 0 {
		grow = qinstFirstBuffers()
	}
	size := uint64(grow) * qinstBufferSize
	if uint64(n)*qinstBufferSize+size > qinstSet.memory/4 && !qinstMayUse(size) {
		qinstSet.mostBuffers = n
		return false
	}
	from := uintptr(n) * qinstBufferSize
	if grow == 0 || !qinstUseRing(qinstBuffers.base+from, uintptr(size), qinstRingAt.buffers+from) {
		return false
	}
	qinstBuffers.limit.Store(n + grow)
	qinstHead[qinstRingWordChunks] = uint64(n + grow)
	return true
}

// qinstFirstBuffers is how many there are at first. With a budget there are few events, and to make
// all pages that are usual without one takes as long as to write them.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstFirstBuffers() uint32 {
	if qinstSet.budget != 0 {
		return min(qinstGrow/4, qinstSet.mostBuffers)
	}
	return min(qinstGrow, qinstSet.mostBuffers)
}

// qinstNewRecorder makes one more recorder; the first is the shared one.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstNewRecorder() bool {
	qinstLockMaking()
	n := qinstNRecorders
	ok := n < qinstMaxRecorders && qinstMakeRecorder(n)
	qinstUnlockMaking()
	if ok && n > 0 {
		qinstReady.push(n)
		qinstSpares.Add(1)
	}
	return ok
}

// qinstMakeRecorder makes recorder n. The hooks of threads call it, too: it waits for nobody.
// The count of recorders is raised after the recorder's own words, since whoever walks the
// recorders may read it at once.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstMakeRecorder(n uint32) bool {
	// Addresses are got for several recorders at a time: system calls for
	// each thread would show in programs with thousands.
	if n%qinstTogether == 0 && qinstRecorderBatch.first != n+1 {
		off, size := uintptr(n)*qinstPage, uintptr(qinstTogether*qinstPage)
		if qinstRinged && !qinstUseRing(qinstRecordedAt+off, size, qinstRingAt.recorders+off) {
			return false
		}
		at := qinstAddresses(qinstTogether * qinstRecorderStride)
		if at == 0 {
			return false
		}
		qinstRecorderBatch.at, qinstRecorderBatch.first = at, n+1
	}
	p := qinstRecorderBatch.at + uintptr(n%qinstTogether)*qinstRecorderStride
	b := (*qinstRecorder)(unsafe.Pointer(p))
	if !qinstUse(p, qinstPage+qinstTableBytes(qinstExtent)) || !qinstReadTable(n, p+qinstPage) {
		return false
	}
	if qinstRinged && !qinstMove(qinstRecordedAt+uintptr(n)*qinstPage, p, qinstPage) {
		return false
	}
	// low is out of reach until rate control sets it: a point is not noted for a writer
	// that does not look.
	b.num = n
	b.threshold, b.telling, b.low = qinstSet.threshold, qinstSet.threshold, -1<<31
	b.callees = qinstNoCallees()
	qinstRecorders[n] = p
	atomic.Store(&qinstNRecorders, n+1)
	qinstHead[qinstRingWordBlocks] = uint64(n + 1)
	qinstControlRecorder(b)
	return true
}

// qinstReadTable makes the parts of recorder n's table of pages readable that probes read and that
// have nothing: those of indexes with flags, and of points that are not registered.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstReadTable(n uint32, table uintptr) bool {
	const many = 512 // beyond, all is readable: a process may have 65,530 pieces of memory
	const part = qinstLate >> qinstPageShift * 8
	size := qinstTableBytes(qinstMostPoints)
	if n >= many {
		used := qinstTableBytes(qinstExtent)
		return qinstProtect(table+used, qinstPageTable-used, qinstProtRead)
	}
	// One call for all: each takes longer than the memory is worth.
	return qinstProtect(table+part, qinstPageTable-2*part+size, qinstProtRead)
}

// qinstRecorderBatch is where the latest recorders are, and the number of the first of them, and 1.
var qinstRecorderBatch struct {
	at    uintptr
	first uint32
}

// qinstTableBytes is the size of the part of a table of pages that so many points need.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstTableBytes(points uint32) uintptr {
	return qinstRound(uintptr(points>>qinstPageShift)*8, qinstPage)
}
