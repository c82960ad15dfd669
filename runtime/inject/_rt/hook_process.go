package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// qinstJumperNext lets the jumper be the next that this processor runs, if the writer has asked for
// it. In the queue of all processors it would wait for all that are in this one's own.
// Context: hook.
func qinstJumperNext() {
	j := &qinstJumps
	if atomic.Load(&j.state) == qinstJumperWanted && atomic.Cas(&j.state, qinstJumperWanted, qinstJumperAsked) {
		ready(j.gp.ptr(), 0, true)
	}
}

// qinstSignalled takes a signal that asks for a file, or where the thread is. It reports whether
// that was all that the signal was for. It runs on a signal stack: it raises a number, and the
// writer does the rest.
// Context: hook.
//
//go:nosplit
func qinstSignalled(sig uint32, c *sigctxt, gp *g) bool {
	if sig == sigPreempt && qinstTells(c, gp) || sig == _SIGSEGV && qinstForked(uintptr(c.sigaddr())) {
		return true
	}
	if qinstStarted == 0 || sig == 0 || sig != qinstFlight.signal {
		return false
	}
	atomic.Xadd(&qinstFlight.asked, 1)
	qinstWake()
	return true
}

// qinstForked makes a page of memory for a child that this process has forked by a raw system call,
// and that has touched the tool's memory, which children do not get. It reports whether that was
// so. The child goes on untraced.
// Context: hook.
//
//go:nosplit
func qinstForked(at uintptr) bool {
	if !qinstIsChild() || !qinstOurs(at) {
		return false
	}
	qinst_on, qinstStates, qinstStarted, qinstSampling = 0, 0, 0, 0
	const notOver = 0x100000
	p, _, e := linux.Syscall6(qinstSysMmap, at&^(qinstPage-1), qinstPage, qinstProt, qinstPrivate|qinstFixed|notOver,
		^uintptr(0), 0)
	if e != 0 {
		return false
	}
	for _, r := range qinstRecorders[:qinstNRecorders] {
		if r == p { // its other words are right as zero
			b := (*qinstRecorder)(unsafe.Pointer(p))
			b.threshold, b.telling, b.callees = qinstCountOnly, qinstCountOnly, qinstNoCallees()
		}
	}
	return true
}

// qinstOurs reports whether an address is, or was, in the tool's memory.
// Context: hook.
//
//go:nosplit
func qinstOurs(at uintptr) bool {
	for _, m := range qinstMapped[:qinstNMapped] {
		if at-m[0] < m[1] {
			return true
		}
	}
	for _, p := range qinstLedgers[:qinstNLedgers] {
		if at-(p-qinstPage) < qinstLedgerSize {
			return true
		}
	}
	for _, p := range qinstRecorders[:qinstNRecorders] {
		if at-p < qinstRecorderStride {
			return true
		}
	}
	return false
}

// qinstPerThread makes a system call that the program makes in all of its threads, if this is the
// writer, and reports whether it was. A descriptor among the arguments is borrowed. The result does
// not count: what the writer may do is nothing of the program's.
// Context: hook.
//
//go:nosplit
func qinstPerThread() bool {
	mp := getg().m
	if mp != qinstWriterM.ptr() || !qinstTableOwn {
		return false
	}
	a := perThreadSyscall
	qinstGiveRing(a.trap, a.a1, a.a2)
	_, _, e := linux.Syscall6(a.trap, a.a1, a.a2, a.a3, a.a4, a.a5, a.a6)
	const badDescriptor = 9
	if e == badDescriptor {
		if fd := qinstBorrow(a.a1); fd >= 0 {
			linux.Syscall6(a.trap, uintptr(fd), a.a2, a.a3, a.a4, a.a5, a.a6)
			closefd(fd)
		}
	}
	mp.needPerThreadSyscall.Store(0)
	return true
}

// qinstGiveRing makes the user that the process is about to become the owner of the ring. In a
// directory where everybody may make files nobody else could remove it in the end.
// Context: hook.
//
//go:nosplit
func qinstGiveRing(call, first, second uintptr) {
	user := second
	switch call {
	case qinstSysSetuid:
		user = first
	case qinstSysSetreuid, qinstSysSetresuid:
	default:
		return
	}
	qinstGiveTo(user)
}

// qinstDies takes a signal that ends the program, while extensions hold what only they can
// write. It reports whether the handler is to return: the program goes on for as long as
// extensions take, as if the signal came later.
// A program that sent the signal itself must not go on after that place. Its thread waits
// here, for a short time only: it may have the P that extensions need.
// Context: hook.
func qinstDies(sig uint32, info *siginfo) bool {
	r := &qinstReduce
	itself := uint64(uint32(info.si_addr)) == qinstSet.pid // the sender is in this place
	if qinstStarted == 0 || !qinstReducing() || itself && getg().m.curg == r.gp.ptr() {
		return false
	}
	if atomic.Load(&r.deadly) == 0 {
		// Where an exit or a panic has begun, the rest goes as it does without a reducer.
		if !atomic.Cas64(&qinstEndTime, 0, qinstNow()) || !atomic.Cas(&qinstEnds, 0, 1) {
			return false
		}
		qinstStatus, r.last = int32(128+sig), true
		qinstNoteEnd(qinstWhySignal, qinstStatus)
		atomic.Xadd(&r.asked, 1)
		atomic.Store(&r.deadly, sig) // after this an answer ends the program
		qinstWake()
	}
	if !itself {
		return true
	}
	for since := nanotime(); nanotime()-since < qinstItselfNS; {
		usleep(50)
	}
	atomic.Store(&qinstEnding, qinstWhySignal+1)
	return false
}
