package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// qinstGrowLedgers makes room for the slots of so many points in every ledger, before any of
// the new points can be hit. A part that the ring has no room for becomes memory of the
// process: to touch it in the file would end the program.
// Context: start.
func qinstGrowLedgers(points uint32) (ok bool) {
	ok = true
	qinstLockLedgers()
	from := qinstLedgerExtent
	// An eighth more than is needed: packages register one by one, and each growth takes a
	// system call for every ledger.
	if need := uintptr(points) * 8; need > from {
		to := min(qinstRound(need+need/8, qinstPage), qinstLedgerStride())
		for i := uint32(qinstFirstLedger); i < qinstNLedgers; i++ {
			ok = qinstGrowLedger(i, from, to) && ok
		}
		if ok {
			qinstLedgerExtent = to
		}
	}
	qinstUnlockLedgers()
	return ok
}

// qinstGrowLedger makes more of a ledger's slots memory, under the lock.
// Context: start.
func qinstGrowLedger(i uint32, from, to uintptr) bool {
	at := qinstLedgers[i]
	slots := at + qinstLedgerPoints + from
	switch {
	case !qinstUseWords(at, from, to):
		return false
	case !qinstLedgerRing[i] || !qinstRinged:
		return qinstUse(slots, to-from)
	case qinstLedgerMay(to-from) && qinstUseRing(slots, to-from, qinstLedgerAt(i)+from):
		qinstLedgerMemory.Add(int64(to - from))
		return true
	}
	qinstLedgerRing[i] = false
	atomic.Xadd64(&qinstRingless, 1)
	p, _, e := linux.Syscall6(qinstSysMmap, slots, qinstLedgerStride()-from, qinstProtNone, qinstPrivate|qinstFixed,
		^uintptr(0), 0)
	return e == 0 && qinstUse(p, to-from)
}

// usePages makes the part of the table of pages memory that so many points need.
// Context: start.
func (b *qinstRecorder) usePages(points uint32) bool {
	return qinstUse(uintptr(unsafe.Pointer(b))+qinstPage, qinstTableBytes(points))
}

// qinstLogPacket puts a packet into the ring's log, as far as there is room: should the program be
// killed before the writer has come to it, it is there. The packet is a head, a number, and the
// rest. The length is stored after the bytes. A reader of the ring sees whole packets.
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

// qinstBoundPoints finds how many points this program may have. A selected package has two bytes
// for each, which the linker keeps with all variables that are zero and have no pointers. Packages
// that are not selected have few: a fraction of their text.
// Context: start.
func qinstBoundPoints() {
	m := &firstmoduledata
	const own = unsafe.Sizeof(qinstNoneMemory) + unsafe.Sizeof(qinstNoLedgerMemory) +
		unsafe.Sizeof(qinstTables) + unsafe.Sizeof(qinstKinds) + unsafe.Sizeof(qinstEntries) // the tool's largest
	bytes := m.enoptrbss - m.noptrbss - own
	points := min(bytes/2+(m.etext-m.text)/qinstPointText, qinstMaxPoints)
	qinstMostPoints = max(uint32(qinstRound(points, qinstFirstPoints)), qinstFewPoints)
	qinstExtent = qinstFirstPoints
}

// qinstExtend makes the elements of so many points memory, in all arrays. The caller has the lock
// over tables.
// Context: start.
func qinstExtend(points uint32) bool {
	from := uintptr(qinstExtent)
	if uintptr(points) <= from {
		return true
	}
	to := uintptr(min(qinstRound(uintptr(max(points, 2*qinstExtent)), qinstFirstPoints), uintptr(qinstMostPoints)))
	ok := points <= qinstMostPoints
	for _, a := range qinstArrays[:qinstNArrays] {
		ok = ok && qinstUse(a.base+from*a.stride, (to-from)*a.stride)
	}
	qinstLockMaking()
	if qinstSpill != 0 {
		ok = ok && qinstUse(qinstSpill+from*qinstSpillRow, (to-from)*qinstSpillRow)
	}
	for _, p := range qinstRecorders[:qinstNRecorders] {
		b := (*qinstRecorder)(unsafe.Pointer(p))
		ok = ok && b.usePages(uint32(to)) && (b.sums == 0 ||
			qinstUse(b.sums+from<<qinstSumShift, (to-from)<<qinstSumShift))
	}
	if ok {
		qinstExtent = uint32(to)
	}
	qinstUnlockMaking()
	return ok
}
