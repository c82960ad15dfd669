package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

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
	if qinstTotals == 0 || !qinstTexts.reserve(qinstMaxTexts*qinstMaxText, 1<<16) || !qinstMapWaitStacks() ||
		!qinstMapStacks() {
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
	h[qinstRingWordDirectoryAt], h[qinstRingWordPageAt], h[qinstRingWordPageSize] = uint64(at.directory),
		uint64(at.pages), qinstPageSize
	h[qinstRingWordBlockP], h[qinstRingWordBlockChunk] = uint64(unsafe.Offsetof(b.p)), uint64(unsafe.Offsetof(b.buffer))
	h[qinstRingWordBlockLost], h[qinstRingWordBlockDeep] = uint64(unsafe.Offsetof(b.lost)),
		uint64(unsafe.Offsetof(b.overflow))
	h[qinstRingWordChunkBytes], h[qinstRingWordChunkNum] = uint64(unsafe.Offsetof(c.bytes)),
		uint64(unsafe.Offsetof(c.num))
	h[qinstRingWordChunkTID], h[qinstRingWordChunkSeq] = uint64(unsafe.Offsetof(c.tid)), uint64(unsafe.Offsetof(c.seq))
	h[qinstRingWordChunkTicks], h[qinstRingWordChunkG] = uint64(unsafe.Offsetof(c.ticks)), uint64(unsafe.Offsetof(c.g))
	h[qinstRingWordChunkProc] = uint64(unsafe.Offsetof(c.proc))
	h[qinstRingWordLogAt] = uint64(at.log)
	h[qinstRingWordLedgerAt], h[qinstRingWordLedgerSize] = uint64(at.ledgers), uint64(qinstLedgerStride())
	qinstNoteClock()
	atomic.Store64(&h[qinstRingWordMagic], qinstRingMagic)
}

// qinstMapAt maps a part of the ring, or reserves addresses in its place where there is none. They
// cannot be touched yet, see qinstUseRing.
// Context: writer.
func qinstMapAt(off, size uintptr) uintptr {
	if qinstRing < 0 {
		return qinstAddresses(size)
	}
	return qinstMmap(size, qinstProtNone, qinstShared, uintptr(qinstRing), off)
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

// qinstFits locks the ring and makes the pages that a small program needs, because having no ring
// is better than having one that is full at once.
// Context: writer.
func qinstFits() bool {
	const exclusive, atOnce = 2, 4
	fd, at := uintptr(qinstRing), &qinstRingAt
	_, _, e := linux.Syscall6(qinstSysFlock, fd, exclusive|atOnce, 0, 0, 0, 0)
	if e == 0 {
		_, _, e = linux.Syscall6(qinstSysTruncate, fd, at.end, 0, 0, 0, 0)
	}
	for _, part := range [...][2]uintptr{
		{0, at.buffers + uintptr(qinstFirstBuffers())*qinstBufferSize},
		{at.recorders, qinstTogether * qinstPage}, {at.directory, qinstPage}, {at.pages, qinstPageGrow * qinstPageSize},
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

// qinstEmptyRing frees the memory of a ring whose name this process may not remove: C code has
// changed its user. What threads that still run use is the process's own before. Otherwise what
// they write would give the file pages again, which nobody frees.
// Context: writer.
func qinstEmptyRing() {
	const punch, keepSize = 2, 1
	if qinstRing < 0 {
		return
	}
	qinstLockMaking()
	qinstLockLedgers()
	for _, p := range qinstRecorders[:qinstNRecorders] {
		qinstLeaveRing(p, qinstPage)
	}
	for i := uint32(qinstFirstLedger); i < qinstNLedgers; i++ {
		if qinstLedgerRing[i] {
			qinstLeaveRing(qinstLedgers[i]+qinstLedgerPoints, qinstLedgerExtent)
		}
	}
	qinstRinged = false
	qinstUnlockLedgers()
	qinstUnlockMaking()
	// The rest begins as zeros. The addresses of recorders and ledgers in the ring were moved from
	// there, and are others' now.
	head, at := uintptr(unsafe.Pointer(qinstHead)), &qinstRingAt
	for _, part := range [...][2]uintptr{{0, at.recorders}, {at.directory, at.ledgers}} {
		linux.Syscall6(qinstSysMmap, head+part[0], part[1]-part[0], qinstProt, qinstPrivate|qinstFixed, ^uintptr(0), 0)
	}
	linux.Syscall6(qinstSysFallocate, uintptr(qinstRing), punch|keepSize, 0, at.end, 0, 0)
}

// qinstLeaveRing makes memory in the ring the process's own, with what it holds.
// Context: writer.
func qinstLeaveRing(p, size uintptr) {
	if own := qinstAnonymous(size); own != 0 {
		memmove(unsafe.Pointer(own), unsafe.Pointer(p), size)
		qinstMove(own, p, size)
	}
}

// qinstBoundMemory makes the tool's memory smaller where the program's addresses are limited
// (RLIMIT_AS). An eighth of what is left is for the tool.
// Context: writer.
func qinstBoundMemory() {
	const addresses = 9
	var limit [2]uint64
	if _, _, e := linux.Syscall6(qinstSysPrlimit, 0, addresses, 0, uintptr(unsafe.Pointer(&limit)), 0, 0); e != 0 ||
		limit[0] == ^uint64(0) {
		return
	}
	used, _, _ := qinstNumber(qinstReadFile("/proc/self/statm\x00"))
	left := limit[0] - min(limit[0], used*qinstPage)
	qinstScarce, qinstMayTake = true, left/8
	qinstShareMemory(min(qinstSet.memory, qinstMayTake/8))
}
