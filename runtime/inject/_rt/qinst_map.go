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
// The parts have fixed places in the file, with room for the most that each may become: pages that nobody
// made cost nothing. A recorder in memory is its page here, and after it a table of its pages of counters.
//
// The writer alone has a descriptor of the file, since no number of the program's could be relied on. So threads
// that need a part of it at another address move it there from where it was mapped. The file is locked as long
// as it is mapped: readers know by that whether the program lives.

const (
	qinstPage           = qinstRingPage
	qinstRecorderStride = qinstPage + qinstPageTable // from one recorder to the next
)

// Addresses that are zero until they are mapped are tested before use, because they stay
// zero without the tool or after a failure.
var (
	qinstRing   int32                  = -1 // descriptor, the writer's
	qinstRinged bool                        // there is such a file
	qinstHead   *[qinstPage / 8]uint64      // of the ring; anonymous if that is

	qinstRingAt struct{ buffers, log, recorders, directory, pages, ledgers, end uintptr }

	qinstLog        qinstRoom
	qinstDirectory  uintptr // of uint32, one a page: number of the first point's page, and 1
	qinstTotals     uintptr
	qinstMaking     uint32                                       // spin lock: a recorder is being made, or all have more points
	qinstMemory     uint32                                       // spin lock over tables, rules and arrays; only registration, changes of rules and the writer take it
	qinstPieces     [qinstMaxLedgers / qinstPieceLedgers]uintptr // addresses of ledgers' slots, from which they are moved
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

// qinstLockMaking takes the lock over how many recorders there are and for how many points they have tables.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstLockMaking() {
	for !atomic.Cas(&qinstMaking, 0, 1) {
		usleep(20)
	}
}

// qinstUnlockMaking gives it back.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstUnlockMaking() { atomic.Store(&qinstMaking, 0) }

// qinstLayRing decides where the parts are in the ring.
// Context: writer.
func qinstLayRing() {
	s, at := &qinstSet, &qinstRingAt
	at.buffers = qinstPage
	at.log = at.buffers + uintptr(s.mostBuffers)*qinstBufferSize
	at.recorders = at.log + uintptr(qinstRound(uintptr(s.memory), qinstPage))
	at.directory = at.recorders + qinstMaxRecorders*qinstPage
	at.pages = at.directory + qinstRound(uintptr(s.mostPages)*4, qinstPage)
	at.ledgers = at.pages + qinstRound(uintptr(s.mostPages)*qinstPageSize, qinstPage)
	ledgers := min(uintptr(qinstLedgerShare())/qinstPage+qinstPieceLedgers, qinstMaxLedgers)
	at.end = at.ledgers + ledgers*qinstLedgerStride()
}

// qinstMap makes the ring and the pools.
// Context: writer.
func qinstMap() bool {
	qinstLayRing()
	qinstOpenRing()
	at := &qinstRingAt
	p := qinstMapAt(0, at.ledgers)
	if p == 0 || !qinstUseRing(p, qinstPage, 0) {
		return false
	}
	qinstBuffers.base, qinstBuffers.stride = p+at.buffers, qinstBufferSize
	qinstPages.base, qinstPages.stride = p+at.pages, qinstPageSize
	qinstLog.base, qinstLog.size, qinstLog.step = p+at.log, at.recorders-at.log, 1<<16
	qinstDirectory, qinstRecordedAt = p+at.directory, p+at.recorders
	qinstTotals = qinstPointArray(16)
	if qinstTotals == 0 || !qinstTexts.reserve(qinstMaxTexts*qinstMaxText, 1<<16) || !qinstMapWaitStacks() || !qinstMapStacks() {
		return false
	}
	qinstDescribeRing(p)
	qinstGrowRing(0)
	return qinstGrowPages() && qinstStartLedgers()
}

// qinstDescribeRing fills the head, for those who find the ring after the program
// was killed. The magic comes last.
// Readers in another process go by these words alone, and take a ring without the magic
// for one that is not ready.
// Context: writer.
func qinstDescribeRing(head uintptr) {
	var b *qinstRecorder // for the offsets
	var c *qinstBuffer
	*(*uintptr)(unsafe.Pointer(&qinstHead)) = head // without a write barrier
	h, at := qinstHead, &qinstRingAt
	h[qinstRingWordVersion] = qinstRingVersion
	h[qinstRingWordPID] = qinstSet.pid
	h[qinstRingWordStream] = qinstSet.stream
	h[qinstRingWordChunkBase], h[qinstRingWordChunkAt] = uint64(qinstBuffers.base), uint64(at.buffers)
	h[qinstRingWordChunkSize], h[qinstRingWordChunkHead] = qinstBufferSize, qinstHeadSize
	h[qinstRingWordBlockAt], h[qinstRingWordBlockSize] = uint64(at.recorders), qinstPage
	h[qinstRingWordDirectoryAt], h[qinstRingWordPageAt], h[qinstRingWordPageSize] = uint64(at.directory), uint64(at.pages), qinstPageSize
	h[qinstRingWordBlockP], h[qinstRingWordBlockChunk] = uint64(unsafe.Offsetof(b.p)), uint64(unsafe.Offsetof(b.buffer))
	h[qinstRingWordBlockLost], h[qinstRingWordBlockDeep] = uint64(unsafe.Offsetof(b.lost)), uint64(unsafe.Offsetof(b.overflow))
	h[qinstRingWordChunkBytes], h[qinstRingWordChunkNum] = uint64(unsafe.Offsetof(c.bytes)), uint64(unsafe.Offsetof(c.num))
	h[qinstRingWordChunkTID], h[qinstRingWordChunkSeq] = uint64(unsafe.Offsetof(c.tid)), uint64(unsafe.Offsetof(c.seq))
	h[qinstRingWordChunkTicks], h[qinstRingWordChunkG] = uint64(unsafe.Offsetof(c.ticks)), uint64(unsafe.Offsetof(c.g))
	h[qinstRingWordChunkProc] = uint64(unsafe.Offsetof(c.proc))
	h[qinstRingWordLogAt] = uint64(at.log)
	h[qinstRingWordLedgerAt], h[qinstRingWordLedgerSize] = uint64(at.ledgers), uint64(qinstLedgerStride())
	qinstNoteClock()
	atomic.Store64(&h[qinstRingWordMagic], qinstRingMagic)
}

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

// qinstMapAt maps a part of the ring, or reserves addresses in its place where there is none. They cannot
// be touched yet, see qinstUseRing.
// Context: writer.
func qinstMapAt(off, size uintptr) uintptr {
	if qinstRing < 0 {
		return qinstAddresses(size)
	}
	return qinstMmap(size, qinstProtNone, qinstShared, uintptr(qinstRing), off)
}

// qinstMove moves a part of the ring from where it was mapped to addresses that are reserved.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstMove(from, to, size uintptr) bool {
	const mayMove, fixed = 1, 2
	_, _, e := linux.Syscall6(qinstSysMremap, from, size, size, mayMove|fixed, to, 0)
	return e == 0
}

// qinstOpenRing creates the ring's file.
// Context: writer.
func qinstOpenRing() {
	f := &qinstShmFile
	// Process ids come again, in containers most of all. The ring of a killed program
	// must stay until somebody has read it.
	for try := uint64(0); try < 100; try++ {
		f.path.n = 0
		f.path.absolute(qinstSet.ring).str("/qinst.").num(qinstSet.pid)
		if try > 0 {
			f.path.str(".").num(try) // left by a killed process that had this id
		}
		fd, e := f.create(qinstRdwr|qinstCreat|qinstExcl, 0o600)
		if e == qinstEEXIST {
			continue
		}
		if e != 0 {
			break
		}
		if qinstRing = qinstHighFD(fd); qinstFits() {
			qinstRinged = true
			return
		}
		f.unlink()
		closefd(qinstRing)
		qinstRing = -1
		break
	}
	f.path.n = 0
	qinstSay("no ring in ", qinstSet.ring, ": should the program be killed, the end of the trace is lost")
}

// qinstFits locks the ring and makes the pages that a small program needs, because having no ring is
// better than having one that is full at once.
// Context: writer.
func qinstFits() bool {
	const exclusive, atOnce = 2, 4
	fd, at := uintptr(qinstRing), &qinstRingAt
	_, _, e := linux.Syscall6(qinstSysFlock, fd, exclusive|atOnce, 0, 0, 0, 0)
	if e == 0 {
		_, _, e = linux.Syscall6(qinstSysTruncate, fd, at.end, 0, 0, 0, 0)
	}
	for _, part := range [...][2]uintptr{
		{0, at.buffers + uintptr(min(qinstGrow, qinstSet.mostBuffers))*qinstBufferSize},
		{at.recorders, qinstFirst * qinstPage}, {at.directory, qinstPage}, {at.pages, qinstPageGrow * qinstPageSize},
	} {
		if e == 0 {
			_, _, e = linux.Syscall6(qinstSysFallocate, fd, 0, part[0], part[1], 0, 0)
		}
	}
	return e == 0
}

// qinstDropLog forgets the log once the file has all that is in it.
// Context: writer.
func qinstDropLog() {
	used := qinstHead[qinstRingWordLog]
	if used == 0 || !qinstRinged || !qinstOut.regular || qinstOut.failed || qinstFlight.on {
		return
	}
	qinstLockMemory()
	if qinstOutTables == qinstNTables && qinstOutKinds == qinstNKinds {
		atomic.Store64(&qinstHead[qinstRingWordLog], 0)
		n := qinstLog.used.Swap(0)
		qinstAdvise(qinstLog.base, n, qinstRemove) // while it can be written to: older systems ask for that
		qinstProtect(qinstLog.base, n, qinstProtNone)
	}
	qinstUnlockMemory()
}

// qinstRingName is the ring's path, "" without one.
// Context: writer.
func qinstRingName() string { return qinstShmFile.path.text() }

// qinstUnlinkRing removes the ring's name, unless the file is incomplete, because then
// "qinst salvage" needs the ring. It reports false if the name stays that should not.
// Context: writer.
func qinstUnlinkRing() bool {
	if qinstShmFile.path.n == 0 || qinstOut.failed {
		return true
	}
	e := qinstShmFile.unlink()
	const noEntry = 2
	return e == 0 || e == noEntry
}

// qinstEmptyRing frees the memory of a ring whose name this process may not remove: C code has changed its user. Threads
// that still run find zeros.
// Context: writer.
func qinstEmptyRing() {
	const punch, keepSize = 2, 1
	if qinstRing >= 0 {
		linux.Syscall6(qinstSysFallocate, uintptr(qinstRing), punch|keepSize, 0, qinstRingAt.end, 0, 0)
	}
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
	grow := min(qinstGrow, qinstSet.mostBuffers-n)
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
	if n%qinstFirst == 0 && qinstRecorderBatch.first != n+1 {
		off, size := uintptr(n)*qinstPage, uintptr(qinstFirst*qinstPage)
		if qinstRinged && !qinstUseRing(qinstRecordedAt+off, size, qinstRingAt.recorders+off) {
			return false
		}
		at := qinstAddresses(qinstFirst * qinstRecorderStride)
		if at == 0 {
			return false
		}
		qinstRecorderBatch.at, qinstRecorderBatch.first = at, n+1
	}
	p := qinstRecorderBatch.at + uintptr(n%qinstFirst)*qinstRecorderStride
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

// qinstReadTable makes the parts of recorder n's table of pages readable that probes read and that have nothing: those of
// indexes with flags, and of points that are not registered.
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

// usePages makes the part of the table of pages memory that so many points need.
// Context: start.
func (b *qinstRecorder) usePages(points uint32) bool {
	return qinstUse(uintptr(unsafe.Pointer(b))+qinstPage, qinstTableBytes(points))
}

// qinstTableBytes is the size of the part of a table of pages that so many points need.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstTableBytes(points uint32) uintptr {
	return qinstRound(uintptr(points>>qinstPageShift)*8, qinstPage)
}

// qinstLogPacket puts a packet into the ring's log, as far as there is room: should
// the program be killed before the writer has come to it, it is there. The packet is a head, a number, and the rest.
// The length is stored after the bytes. A reader of the ring sees whole packets.
// Context: start.
func qinstLogPacket(head string, number uint32, body string) {
	used := uintptr(qinstHead[qinstRingWordLog])
	n := uintptr(len(head)) + 5
	end := n + uintptr(len(body))
	size := end + 5
	if !qinstRinged || size > qinstLog.size-used || !qinstLogUpTo(used+size) {
		return
	}
	to := qinstLog.base + used
	memmove(unsafe.Pointer(to), unsafe.Pointer(unsafe.StringData(head)), n-5)
	memmove(unsafe.Pointer(to+n), unsafe.Pointer(unsafe.StringData(body)), uintptr(len(body)))
	qinstBigAt(to+n-5, number)
	qinstBigAt(to+end, qinstCRC(0, to, end))
	atomic.Store64(&qinstHead[qinstRingWordLog], uint64(used+size))
}

// qinstBigAt stores a number in its widest form.
// Context: start.
func qinstBigAt(to uintptr, v uint32) {
	*(*byte)(unsafe.Pointer(to)) = 0xce
	for i := range uintptr(4) {
		*(*byte)(unsafe.Pointer(to + 1 + i)) = byte(v >> (24 - 8*i))
	}
}

// qinstLogUpTo makes the first n bytes of the log memory. The caller has the lock over tables.
// Context: start.
func qinstLogUpTo(n uintptr) bool {
	r := &qinstLog
	from, to := r.used.Load(), min(qinstRound(n, r.step), r.size)
	if n > from {
		if !qinstUseRing(r.base+from, to-from, qinstRingAt.log+from) {
			return false
		}
		r.used.Store(to)
	}
	return true
}
