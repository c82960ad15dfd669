package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// Ledgers: the memory in which calls are counted in line. A hit is three instructions of
// the instrumented code,
//
//	*(*uint64)(QinstAt() + slot + 8*n)++
//
// with no probe, no saved registers and no test. Such code can be stopped between the load
// of the address and the increment (rule 1 at the head of doc.go), so it is not the thread
// that must be the same before and after, but the ledger's owner:
//
//   - A thread owns a ledger, and the goroutine that it runs counts there (qinstLend).
//   - A goroutine that is stopped asynchronously keeps the ledger that it was using, and its
//     thread takes another one (qinstKeepLedger). The goroutine goes on with it wherever it runs
//     next, and gives it back at its first ordinary stop.
//   - An ordinary stop is a call. No address of a slot lives across a call, so nothing need
//     be kept: the goroutine uses the ledger of the thread that runs it next.
//
// So nobody else writes to a ledger, whatever the compiler puts between load and increment.
//
// A ledger is never cleared. The hits of a point are the sum over all ledgers, those that
// nobody owns included, and the recorders' counters: where code is compiled for the race
// detector, a probe counts.
//
//	at-8                   number of the ledger
//	at                     a slot for each point of one package that is not registered
//	at+8*qinstEarlySlots   a slot for each point; these lie in the ring
//	qinstLedgerBytes on    words, for calls whose callee is known at run time only: the callee that
//	                       this ledger saw most; then one for each loop that stands twice: its
//	                       iterations with probes. A package has them where its points have slots,
//	                       so that one distance finds both
//	qinstLedgerBytes on    the hits in those calls' slots that were of other callees; of such a
//	                       loop, its iterations without probes
//
// The address is in g.racectx, which nothing uses without the race detector, and the number
// of a ledger that a goroutine keeps in g.stackLock, which nothing uses at all. A g that is
// larger by one word is larger by 32 bytes.

const (
	qinstEarlySlots   = qinstLedgerEarly
	qinstLedgerPoints = qinstEarlySlots * 8                  // offset of the first point's slot
	qinstLedgerBytes  = qinstMaxPoints * 8                   // of the points' slots
	qinstLedgerWords  = qinstLedgerPoints + qinstLedgerBytes // offset of the callees
	// of the mapping: a page for the number comes first
	qinstLedgerSize = qinstPage + qinstLedgerWords + 2*qinstLedgerBytes

	qinstMaxLedgers  = 8192
	qinstMostKept    = 4096 // beyond, only threads get new ones: a mapping is a resource of the process
	qinstManyLedgers = 1024 // beyond, all words are memory: a process may have 65,530 pieces of it
	qinstFewLedgers  = 256  // so many there may always be: one that is not in the ring takes the pages that are touched
	qinstFirstLedger = 1    // threads count together in it when no other can be had
)

// Every ledger that was made is in qinstLedgers for good, and its number is its index.
var (
	qinstLedgers      [qinstMaxLedgers]uintptr
	qinstNLedgers     uint32                  // made so far, and 1
	qinstFreeLedgers  qinstList               // ledgers that nobody owns
	qinstLedgerNext   [qinstMaxLedgers]uint32 // the list's words
	qinstLedgerRing   [qinstMaxLedgers]bool   // its slots are in the ring, as far as points were registered
	qinstLedging      uint32                  // spin lock: a ledger is being made, or all grow
	qinstLedgerExtent uintptr                 // bytes of slots that each ledger has in the ring
	qinstLedgerMemory atomic.Uint64           // bytes of all of them
	qinstUnowned      uint64                  // times that somebody found no ledger of its own
	qinstRingless     uint64                  // ledgers that the ring had no room for
	qinstMostEarly    uint32                  // points of the largest package

	// The ledger of those that have none: before the start, and with mode=off, code that was
	// not told yet that its points are off counts here.
	qinstNoLedgerMemory [(qinstPage + qinstLedgerPoints) / 8]uint64
)

// A g of another layout must be a build error: instrumented code would write to any address.
var (
	_ [unsafe.Offsetof(g{}.racectx) - qinstLedgerOffset]struct{}
	_ [qinstLedgerOffset - unsafe.Offsetof(g{}.racectx)]struct{}
	_ [unsafe.Offsetof(g{}.qinstStack) - qinstStackOffset]struct{}
	_ [qinstStackOffset - unsafe.Offsetof(g{}.qinstStack)]struct{}
)

// qinstNoLedger is the ledger of those that have none.
// Context: start, hook.
//
//go:nosplit
func qinstNoLedger() uintptr { return uintptr(unsafe.Pointer(&qinstNoLedgerMemory)) + qinstPage }

// qinstLedgerNumber is a ledger's number, 0 for the one of those that have none.
// Context: hook.
//
//go:nosplit
func qinstLedgerNumber(at uintptr) uint32 { return *(*uint32)(unsafe.Pointer(at - 8)) }

// qinstNewG gives a new g what it has before a thread runs it.
// Its ledger must be memory at all times: a g that never runs goroutines may run timers.
// Context: start, hook.
//
//go:nosplit
func qinstNewG(gp *g) {
	gp.qinst = qinstNone()
	if !raceenabled {
		gp.racectx = qinstNoLedger()
	}
}

// qinstNewM likewise.
// Context: start, hook.
//
//go:nosplit
func qinstNewM(mp *m) {
	mp.qinst, mp.qinstLedger = qinstNone(), qinstNoLedger()
	mp.qinstOurs = qinstMaker != nil && qinstMaker == getg().m
	if mp.g0 != nil {
		qinstNewG(mp.g0)
	}
}

// qinstLend gives a goroutine the ledger of the thread that is about to run it, unless it was
// stopped asynchronously and has one of its own.
// Context: start, hook.
//
//go:nosplit
func qinstLend(mp *m, gp *g) {
	if raceenabled {
		return
	}
	if mp.qinstLedger == qinstNoLedger() && qinstStarted != 0 {
		systemstack(func() { qinstTakeLedger(mp) })
	}
	if gp.stackLock != 0 {
		if gp.asyncSafePoint {
			return
		}
		qinstDropLedger(gp)
	}
	gp.racectx = mp.qinstLedger
}

// qinstKeepLedger leaves a goroutine that is being stopped asynchronously its ledger: it may have
// loaded a slot's address that it has not used yet. The thread goes on with another one.
// One that kept its ledger since it was last stopped so keeps it on: its thread has another
// already. If there is none, the thread goes on with the goroutine's, which will use it once
// more at most; that is counted.
// Context: hook.
//
//go:nosplit
func qinstKeepLedger(gp *g) {
	mp := gp.m
	if raceenabled || gp.stackLock != 0 || mp.qinstLedger == qinstNoLedger() || gp.racectx != mp.qinstLedger {
		return
	}
	var i uint32
	systemstack(func() { i = qinstSpareLedger() })
	if i == 0 {
		atomic.Xadd64(&qinstUnowned, 1)
		return
	}
	gp.stackLock = qinstLedgerNumber(mp.qinstLedger)
	qinstOwnLedger(mp, qinstLedgers[i])
}

// qinstStopped takes the ledger that a goroutine kept, if it stops in an ordinary way. It
// must not wait until the goroutine runs again: many may never do so.
// Context: hook.
//
//go:nosplit
func qinstStopped(gp *g) {
	if gp.stackLock != 0 && !gp.asyncSafePoint {
		qinstDropLedger(gp)
	}
}

// qinstDropLedger gives the ledger back that a goroutine kept.
// Context: start, hook.
//
//go:nosplit
func qinstDropLedger(gp *g) {
	i := gp.stackLock
	gp.stackLock = 0
	qinstFreeLedger(i)
}

// qinstFreeLedger puts a ledger on the list of those that nobody owns.
// Context: start, hook.
//
//go:nosplit
func qinstFreeLedger(i uint32) {
	if i > qinstFirstLedger {
		qinstFreeLedgers.push(i)
	}
}

// qinstCalledBack gives a goroutine of a thread that C created a ledger: such a goroutine
// begins to run without the scheduler.
// Context: hook.
//
//go:nosplit
func qinstCalledBack(gp *g) {
	if !raceenabled && gp.m.qinstLedger == qinstNoLedger() && qinstStarted != 0 {
		systemstack(func() { qinstTakeLedger(gp.m) })
		gp.racectx = gp.m.qinstLedger
	}
}

// qinstTakeLedger gives a thread a ledger. There is one for each thread, whatever memory= says:
// without it hits would be lost.
// Context: start, hook.
func qinstTakeLedger(mp *m) {
	i := qinstFreeLedgers.pop()
	if i == 0 {
		i = qinstNewLedger(qinstMaxLedgers, true)
	}
	if i == 0 {
		atomic.Xadd64(&qinstUnowned, 1)
		i = qinstFirstLedger
	}
	qinstOwnLedger(mp, qinstLedgers[i])
}

// qinstOwnLedger makes a ledger the thread's, and that of what it runs on its own stack.
// Context: start, hook.
//
//go:nosplit
func qinstOwnLedger(mp *m, at uintptr) {
	mp.qinstLedger = at
	mp.g0.racectx = at
}

// qinstLeaveLedger takes the ledger of a thread that is about to end.
// Context: hook.
//
//go:nosplit
func qinstLeaveLedger(mp *m) {
	if raceenabled {
		return
	}
	i := qinstLedgerNumber(mp.qinstLedger)
	qinstOwnLedger(mp, qinstNoLedger())
	qinstFreeLedger(i)
}

// qinstSpareLedger is a ledger for a thread whose goroutine keeps its own, 0 if there is none.
// Context: hook.
func qinstSpareLedger() uint32 {
	if i := qinstFreeLedgers.pop(); i != 0 {
		return i
	}
	return qinstNewLedger(qinstMostKept, false)
}

// qinstNewLedger makes a ledger, 0 if there are most already, or no memory. Where memory= or
// the ring has no room it is memory of the process alone if it must be had: then only the
// pages that it counts in take memory, and a kill loses its counts.
// Context: start, hook, writer.
func qinstNewLedger(most uint32, must bool) uint32 {
	qinstLockLedgers()
	i := qinstNLedgers
	if i >= most || !qinstMakeLedger(i, must) {
		i = 0
	}
	qinstUnlockLedgers()
	return i
}

// qinstLockLedgers takes the lock over how many ledgers there are and how far they reach.
// Context: start, hook, writer.
func qinstLockLedgers() {
	for !atomic.Cas(&qinstLedging, 0, 1) {
		usleep(20)
	}
}

// qinstUnlockLedgers gives it back.
// Context: start, hook, writer.
func qinstUnlockLedgers() { atomic.Store(&qinstLedging, 0) }

// qinstMakeLedger makes ledger i, under the lock.
// Context: start, hook, writer.
func qinstMakeLedger(i uint32, must bool) bool {
	size := qinstLedgerExtent
	piece := qinstLedgerPiece(i)
	room := qinstLedgerMay(size) && (!qinstRinged || piece != 0 && qinstUseRing(piece, size, qinstLedgerAt(i)))
	if !room && !must && i >= qinstFewLedgers || i > qinstFirstLedger && qinstTooMuch() {
		return false
	}
	p := qinstAddresses(qinstLedgerSize)
	if p == 0 {
		return false
	}
	qinstTrimLedger(p)
	at := p + qinstPage
	if room && qinstRinged {
		room = qinstMove(piece, at+qinstLedgerPoints, qinstLedgerStride())
	}
	// The slots of a ledger in the ring are in use already.
	used := size
	if room && qinstRinged {
		used = 0
	}
	words := size
	if i >= qinstManyLedgers {
		words = qinstLedgerStride()
	}
	if !qinstUse(p, qinstPage+qinstLedgerPoints+used) || !qinstUseWords(at, 0, words) {
		return false
	}
	if room {
		qinstLedgerMemory.Add(int64(size))
	} else {
		atomic.Xadd64(&qinstRingless, 1)
	}
	*(*uint32)(unsafe.Pointer(p + qinstPage - 8)) = i
	qinstLedgerRing[i] = room
	atomic.Storeuintptr(&qinstLedgers[i], at)
	atomic.Store(&qinstNLedgers, i+1)
	qinstHead[qinstRingWordLedgers] = uint64(i + 1)
	return true
}

// qinstLedgerMay reports whether ledgers may have so many bytes more in the ring. They have an
// eighth of all memory for themselves and no more: a program may register its points and start its
// threads when events and other counts have taken what there was, and a thread that finds no page
// of counters traces nothing.
// Context: start, hook, writer.
func qinstLedgerMay(more uintptr) bool {
	return qinstLedgerMemory.Load()+uint64(more) <= qinstLedgerShare()
}

// qinstLedgerShare is how many bytes ledgers may have in the ring.
// Context: start, hook, writer.
func qinstLedgerShare() uint64 { return qinstSet.memory / 8 }

// qinstLedgerStride is from one ledger to the next in the ring.
// Context: start, hook, writer.
func qinstLedgerStride() uintptr { return uintptr(qinstMostPoints) * 8 }

// qinstLedgerAt is where a ledger's slots are in the ring.
// Context: start, hook, writer.
func qinstLedgerAt(i uint32) uintptr { return qinstRingAt.ledgers + uintptr(i)*qinstLedgerStride() }

// qinstLedgerPiece is the address at which a ledger's slots are mapped before there is a ledger, 0
// if they are not: then the writer was too slow, or the ring has no more.
// Context: start, hook, writer.
func qinstLedgerPiece(i uint32) uintptr {
	p := qinstPieces[i/qinstPieceLedgers]
	if p == 0 {
		return 0
	}
	return p + uintptr(i%qinstPieceLedgers)*qinstLedgerStride()
}

// qinstUseWords makes the words after a ledger's slots memory, from one byte to another.
// Context: start, hook, writer.
func qinstUseWords(at, from, to uintptr) bool {
	words := at + qinstLedgerWords
	return qinstUse(words+from, to-from) && qinstUse(words+qinstLedgerBytes+from, to-from)
}

// qinstTrimLedger gives the addresses back that no point of this program needs.
// Context: start, hook, writer.
func qinstTrimLedger(p uintptr) {
	n := qinstLedgerStride()
	for part := range uintptr(3) {
		qinstUnmap(p+qinstPage+qinstLedgerPoints+part*qinstLedgerBytes+n, qinstLedgerBytes-n)
	}
	qinstTaken.Add(-3 * int64(qinstLedgerBytes-n))
}

// Callees that are known at run time only. The slot of such a call counts all of its hits. Of its
// callees the ledger's word names one, whose hits need nothing more. The others are counted by
// qinst_told: in the table of the thread, and in the word behind, which says how many of the slot's
// hits were not of the word's callee. So that one has the difference. It is the callee that was
// called most, as far as is known: the first one to begin with, until another one was called
// more often.
//
// A callee's name is the address of its code or, at the call of an interface's method, the address
// of the table with the interface's methods: its caller has loaded that already.

// qinstMost has the words of a call.
type qinstMost struct{ callee, others, slot *uint64 }

// qinstMostTurn is after how many calls of a callee it may become the one that the word names.
const qinstMostTurn = 64

// qinstCalleesRead: callees are being written.
var qinstCalleesRead uint32
