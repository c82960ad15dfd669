package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// QinstAt is the address of the running goroutine's ledger. The tool's accessor is a copy of
// it, which is inlined into packages that do not import this one. References go by the
// linker's name, so that one to the copy finds this function.
// Context: probe.
//
//go:linkname QinstAt runtime.qinst_at
func QinstAt() unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(getg()), qinstLedgerOffset))
}

// QinstDepth is the address of the depth of the running goroutine's profile stack, likewise.
// It stays where it is.
// Context: probe.
//
//go:linkname QinstDepth runtime.qinst_depth
func QinstDepth() unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(getg()), qinstStackOffset))
}

// qinstLedgerSlot is a point's slot in a ledger.
// Context: start, probe, end, goroutine, writer, jumper, reducer.
//
//go:nosplit
func qinstLedgerSlot(at uintptr, point uint32) *uint64 {
	return (*uint64)(unsafe.Pointer(at + qinstLedgerPoints + uintptr(point)*8))
}

// qinstMostAt finds them by the word's number, which is told as the distance of a slot.
// Context: probe, writer.
//
//go:nosplit
func qinstMostAt(at, word uintptr, point uint32) qinstMost {
	w := at + word + qinstLedgerBytes
	return qinstMost{(*uint64)(unsafe.Pointer(w)), (*uint64)(unsafe.Pointer(w + qinstLedgerBytes)),
		qinstLedgerSlot(at, point&(qinstMaxPoints-1))}
}

// hits is how many of the slot's hits were of the word's callee. Its owner may count meanwhile.
// Context: probe, writer.
//
//go:nosplit
func (t qinstMost) hits() uint64 { return uint64(max(0, int64(*t.slot-*t.others))) }

// qinstTellCallee is qinst_told, the probe at a call whose callee is not the one that the ledger's
// word names, where that takes more than increments: the callee is the first, or has no place in
// the thread's table yet, or its turn has come. The upper bits of point are the index of the method
// and 1.
// Context: probe.
//
//go:nosplit
func qinstTellCallee(word uintptr, point uint32, callee uintptr) uint32 {
	t := qinstMostAt(getg().racectx, word, point)
	if *t.callee == 0 {
		*t.others = *t.slot - 1 // calls of nil, which named nobody
		*t.callee = uint64(callee)
		return 0
	}
	*t.others++
	b := getg().m.qinst
	if b == qinstNone() {
		b = qinstRecorderFor(point & (qinstMaxPoints - 1))
	}
	if callee == 0 || b == nil || !b.hasCallees() {
		return 0
	}
	e := b.callee(point, callee)
	if e == nil {
		b.unresolved++
		return 0
	}
	e.n++
	if e.turn > 1 {
		e.turn--
		return 0
	}
	e.turn = qinstMostTurn
	qinstNameMost(t, b, e)
	return 0
}

// qinstNameMost makes a callee the one that the word names if it was called more often. What the
// word's callee has goes to the thread's table, which is only possible where that has room, and
// while nobody reads both.
// Context: probe.
//
//go:nosplit
func qinstNameMost(t qinstMost, b *qinstRecorder, e *qinstCallee) {
	f := b.callee(e.point, uintptr(*t.callee))
	if f == nil || e.n <= f.n+t.hits() || atomic.Load(&qinstCalleesRead) != 0 {
		return
	}
	f.n += t.hits()
	*t.others = *t.slot
	*t.callee = uint64(e.pc)
}
