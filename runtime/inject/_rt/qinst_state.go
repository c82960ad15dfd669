package runtime

import "internal/runtime/atomic"

// The hooks for scheduling events. They are called at the head of the methods
// of traceLocker, with which Go's own execution tracer notes the same events:
// what that tracer had to get right (a goroutine that waits only so that its
// stack can be scanned still runs; a goroutine that left a system call runs
// only once it has a processor) holds here by construction.

// qinstLocker is what traceAcquire returns while Go's tracer is off: one that
// is ok, so that the methods are called, but has no generation, so that they
// end after the hook.
//
//go:nosplit
func qinstLocker() traceLocker {
	if qinstStates == 0 {
		return traceLocker{}
	}
	return traceLocker{mp: getg().m}
}

//go:nosplit
func qinstGoCreate(newg *g, pc uintptr, blocked bool) {
	if qinstStates == 0 {
		return
	}
	newg.qinstSeq = 0
	arg := uint64(0)
	if blocked {
		arg = 1
	}
	qinstNotePC(pc)
	qinstPut(qinstCurrent(), qinstEvGoCreate, arg, 3, qinstGo(newg), uint64(pc))
}

//go:nosplit
func qinstGoStart() {
	if qinstStates == 0 {
		return
	}
	gp := getg().m.curg
	qinstPut(0, qinstEvGoStart, 0, 2, qinstGo(gp), 0)
	qinstRuns(gp.goid)
}

//go:nosplit
func qinstGoPark() {
	if qinstStates == 0 {
		return
	}
	qinstPutCur(qinstEvGoPark, uint64(getg().m.curg.waitreason))
	qinstRuns(0)
}

// qinstGoPreemptPark notes a goroutine that a suspendG stopped; its waitreason
// is set only later.
//
//go:nosplit
func qinstGoStop(why uint64) {
	if qinstStates == 0 {
		return
	}
	qinstPutCur(qinstEvGoStop, why)
	qinstRuns(0)
}

//go:nosplit
func qinstGoEnd() {
	if qinstStates == 0 {
		return
	}
	qinstPutCur(qinstEvGoEnd, 0)
	qinstRuns(0)
}

// qinstGoUnpark notes who woke gp. The running goroutine did only in a ready
// that it called itself; those come with a positive skip, while the poller's
// lists, timers and the collector use 0. On a thread without a goroutine it was
// a timer.
//
//go:nosplit
func qinstGoUnpark(gp *g, skip int) {
	if qinstStates == 0 {
		return
	}
	cur := qinstCurrent()
	cause := uint64(qinstCauseGoroutine)
	switch {
	case skip == 0:
		cause = qinstCauseOf(gp.waitreason)
	case cur == 0:
		cause = qinstCauseTimer
	}
	qinstPut(cur, qinstEvGoUnpark, cause, 2, qinstGo(gp), 0)
}

// qinstCauseOf tells who wakes a goroutine that waits for the given reason when
// no goroutine did.
//
//go:nosplit
func qinstCauseOf(r waitReason) uint64 {
	switch r {
	case waitReasonIOWait:
		return qinstCauseNetpoll
	case waitReasonSleep:
		return qinstCauseTimer
	case waitReasonGCAssistWait, waitReasonGCSweepWait, waitReasonGCScavengeWait,
		waitReasonGCWorkerIdle, waitReasonForceGCIdle, waitReasonFinalizerWait, waitReasonCleanupWait:
		return qinstCauseGC
	}
	return qinstCauseScheduler
}

//go:nosplit
func qinstGoSwitch(next *g, ends bool) {
	if qinstStates == 0 {
		return
	}
	arg := uint64(0)
	if ends {
		arg = 1
	}
	qinstPut(qinstCurrent(), qinstEvGoSwitch, arg, 2, qinstGo(next), 0)
	qinstRuns(next.goid)
}

//go:nosplit
func qinstGoSysCall() {
	if qinstStates == 0 {
		return
	}
	qinstPutCur(qinstEvSyscallBegin, 0)
}

//go:nosplit
func qinstGoSysExit(lostP bool) {
	if qinstStates == 0 {
		return
	}
	if !lostP {
		qinstPutCur(qinstEvSyscallEnd, 0)
		return
	}
	qinstPutCur(qinstEvSyscallEndNoP, 0)
	qinstRuns(0)
}

//go:nosplit
func qinstGoCreateSyscall(gp *g) {
	if qinstStates == 0 {
		return
	}
	gp.qinstSeq = 0
	qinstPut(0, qinstEvGoCreateSyscall, 0, 2, qinstGo(gp), 0)
	qinstRuns(gp.goid)
}

//go:nosplit
func qinstGoDestroySyscall() {
	if qinstStates == 0 {
		return
	}
	qinstPutCur(qinstEvGoEndSyscall, 0)
	qinstRuns(0)
}

// qinstRunning is qinstCurrent for events that may come between goroutines: the
// one that the events so far put on the thread, not the one in curg, which
// changes first.
//
//go:nosplit
func qinstRunning() uint64 {
	if b := getg().m.qinst; b != nil {
		return b.g
	}
	return 0
}

//go:nosplit
func qinstProcStart() {
	if qinstStates == 0 {
		return
	}
	id := getg().m.p.ptr().id
	qinstPut(qinstRunning(), qinstEvProcStart, uint64(id), 1, 0, 0)
	if b := getg().m.qinst; b != nil {
		b.proc = id
	}
}

//go:nosplit
func qinstProcStop(pp *p) {
	if qinstStates == 0 {
		return
	}
	qinstPut(qinstRunning(), qinstEvProcStop, uint64(pp.id), 1, 0, 0)
	if b := getg().m.qinst; b != nil {
		b.proc = -1
	}
}

//go:nosplit
func qinstProcSteal(pp *p) {
	if qinstStates == 0 {
		return
	}
	qinstPut(qinstRunning(), qinstEvProcSteal, uint64(pp.id), 1, 0, 0)
}

// qinstMark notes an event of the whole process or of the running goroutine
// that changes no state.
//
//go:nosplit
func qinstMark(kind, arg uint64) {
	if qinstStates == 0 {
		return
	}
	qinstPut(qinstRunning(), kind, arg, 1, 0, 0)
}

// qinstPCs are the start functions of goroutines, an open-addressed hash table
// that the writer thread reads to write down their names.
var (
	qinstPCs     [1 << 12]uintptr
	qinstLostPCs uint64
)

//go:nosplit
func qinstNotePC(pc uintptr) {
	i := (pc * 0x9E3779B97F4A7C15) >> 52
	for range 32 {
		slot := &qinstPCs[i&(uintptr(len(qinstPCs))-1)]
		switch got := atomic.Loaduintptr(slot); {
		case got == pc:
			return
		case got == 0 && atomic.Casuintptr(slot, 0, pc):
			return
		case atomic.Loaduintptr(slot) == pc:
			return
		}
		i++
	}
	atomic.Xadd64((&qinstLostPCs), 1)
}
