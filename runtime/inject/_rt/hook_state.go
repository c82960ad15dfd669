package runtime

import "unsafe"

// Every hook first looks at qinstStates, since the methods are called whether qinst
// records or not. Then it reads the clock, before anything else that takes time, so that
// the event has the time of the transition.

// The hooks for scheduling events. They are called at the head of the methods
// of traceLocker, with which Go's own execution tracer notes the same events.
// The tracer's treatment of difficult cases therefore holds here too: a goroutine
// that waits only so that its stack can be scanned still runs, and a goroutine that
// left a system call runs only once it has a processor.

// qinstGoCreate notes that a goroutine was made, runnable or waiting. Its numbers begin
// anew: the g may have been another's.
// Context: hook.
//
//go:nosplit
func qinstGoCreate(newg *g, pc uintptr, blocked bool) {
	if qinstStates == 0 {
		return
	}
	now := qinstNow()
	proc := qinstStatementAt(newg.gopc)
	newg.qinstSeqLow, newg.qinstSeqHigh = 0, 0
	// Where the creator was is needed only if events do not show: readers know it
	// otherwise from its open procedures.
	gp := getg().m.curg
	arg := uint64(qinstPathOf(gp)) << 1
	if proc != 0 && gp != nil && !qinstIsIn(gp, proc-1) {
		arg = uint64(qinstPathInto(qinstWholePath(gp), proc-1)) << 1
	}
	if blocked {
		arg |= 1
	}
	pc = qinstStartOf(newg, pc)
	if mp := getg().m; mp.qinstTimer != 0 && mp.curg == nil { // a timer's function starts it
		qinstPut2(now, 0, qinstEvFired<<24, uint64(mp.qinstTimer)&(1<<qinstAddrBits-1))
		mp.qinstTimer = 0
	}
	qinstPut3(now, qinstCurrent(), qinstEvGoCreate<<24|arg, qinstGo(newg), uint64(pc))
}

// qinstArms notes that the running goroutine sets a timer that will start another one, unless it is
// stopped before.
// Context: hook.
func qinstArms(t *timer) {
	if gp := getg(); qinstStates != 0 && gp == gp.m.curg {
		qinstPut2(qinstNow(), gp.goid, qinstEvTimer<<24, uint64(uintptr(unsafe.Pointer(t)))&(1<<qinstAddrBits-1))
	}
}

// qinstGoStart notes that the thread runs a goroutine. It is called after the change of
// state, so that it cannot have been stopped before its event.
// Context: start, hook.
//
//go:nosplit
func qinstGoStart() {
	if qinstStates == 0 {
		return
	}
	gp := getg().m.curg
	b := getg().m.qinst
	now := uint64(0)
	if b.found {
		b.found = false
		now = b.last
	} else {
		now = qinstNow()
	}
	if b.yielded != 0 && b.p == b.yielded+8 && b.yielder == qinstGoNow(gp) && b.g == 0 {
		b.goesOn(gp.goid)
		return
	}
	qinstPut2(now, 0, qinstEvGoStart<<24, qinstGo(gp))
	qinstRuns(gp.goid)
}

// goesOn notes that the goroutine that has just yielded goes on, and nothing happened meanwhile.
// One event stands for a run of such yields, of which the collector's sweeper makes thousands, and
// a goroutine that waits by yielding millions a second: "yields", and after it a word that is a
// yield while the goroutine has no processor, and means nothing while it has one. The writer may
// read the buffer at any time, up to where it ends. So what stands there only changes by single
// words, and the end never goes back.
// Context: start, hook.
//
//go:nosplit
func (b *qinstRecorder) goesOn(g uint64) {
	at := (*uint64)(unsafe.Pointer(b.yielded))
	if y := (*uint64)(unsafe.Pointer(b.yields)); y != nil && b.yielded == b.yields+8 && *y&(1<<24-1) < 1<<24-1 {
		*y++
		*at = qinstEvYields << 24
		b.last = b.yieldsAt
	} else {
		*at = *at>>32<<32 | qinstEvYields<<24 | 1
		b.yields, b.yieldsAt = b.yielded, b.last
	}
	b.yielded, b.g = 0, g
}

// yieldsAgain notes a yield in the place of the one before, if that was the last event and the
// goroutine went on. It reports whether it did.
// Context: hook.
//
//go:nosplit
func (b *qinstRecorder) yieldsAgain(g, now, head uint64) bool {
	if b.yields == 0 || b.p != b.yields+16 || b.last != b.yieldsAt || b.g != g || (now-b.last)>>32 != 0 {
		return false
	}
	*(*uint64)(unsafe.Pointer(b.yields + 8)) = (now-b.last)<<32 | head
	b.last, b.g = now, 0
	return true
}

// qinstFoundLocal is called when the scheduler takes a goroutine from the
// processor's own queue, a few ns after the last one left: the start then has
// the time of that event, and costs no clock read. No other thread can have
// made the goroutine runnable since.
// Context: hook.
//
//go:nosplit
func qinstFoundLocal() {
	if b := getg().m.qinst; b.p != 0 {
		b.found = true
	}
}

// qinstLeave notes that the running goroutine does not run any more.
// Context: hook.
//
//go:nosplit
func qinstLeave(head uint64) {
	qinstPut(qinstNow(), qinstCurrent(), head)
	qinstRuns(0)
}

// qinstGoPark runs on the system stack. The wait reason and the lock are read here and not when the
// wait ends: by then they are those of the next one. Only gopark sets them. A goroutine that is
// stopped so that its stack can be scanned, or by a debugger, still has those of its wait before,
// so that the caller's reason goes first.
// Context: hook.
func qinstGoPark(reason traceBlockReason) {
	if qinstStates == 0 {
		return
	}
	now := qinstNow()
	mp := getg().m
	gp := mp.curg
	why := gp.waitreason
	switch reason {
	case traceBlockPreempted:
		why = waitReasonPreempted
	case traceBlockDebugCall:
		why = waitReasonDebugCall
	}
	switch why {
	case waitReasonPreempted, waitReasonDebugCall,
		waitReasonGCWorkerIdle, waitReasonGCSweepWait, waitReasonGCScavengeWait, waitReasonForceGCIdle,
		waitReasonFinalizerWait, waitReasonCleanupWait, waitReasonUpdateGOMAXPROCSIdle:
		// Waits for no object, and the runtime's own, which wait for work.
		qinstPut(now, gp.goid, qinstEvGoPark<<24|uint64(why))
	default:
		what := uint64(qinstWaitsFor(gp, mp.waitlock))&(1<<qinstAddrBits-1) | qinstWaitStackOf(gp, 0)<<qinstAddrBits
		qinstPut2(now, gp.goid, qinstEvGoWait<<24|uint64(gp.waitreason), what)
	}
	qinstRuns(0)
}

// qinstGoStop notes that the running goroutine yields, or is preempted.
// Context: hook.
//
//go:nosplit
func qinstGoStop(why uint64) {
	if qinstStates == 0 {
		return
	}
	if why != qinstStopSched {
		qinstLeave(qinstEvGoStop<<24 | why)
		return
	}
	b, g, now := getg().m.qinst, qinstCurrent(), qinstNow()
	if b.yieldsAgain(g, now, qinstEvGoStop<<24|why) {
		b.yielded, b.yielder = b.yields+8, qinstGoNow(getg().m.curg)
		return
	}
	at := b.p
	qinstPut(now, g, qinstEvGoStop<<24|why)
	qinstRuns(0)
	if at != 0 && b.p == at+8 { // else it stands in another buffer, or behind what tells of a break
		b.yielded, b.yielder = at, qinstGoNow(getg().m.curg)
	}
}

// qinstGoEnd notes that the running goroutine has ended.
// Context: hook.
//
//go:nosplit
func qinstGoEnd() {
	if qinstStates != 0 {
		qinstLeave(qinstEvGoEnd << 24)
	}
}

// qinstGoUnpark notes the cause of gp's wake-up. It was the running goroutine only
// if that called ready itself; such calls have a positive skip, whereas the poller's
// lists, timers and the collector use 0. On a thread without a goroutine it was a
// timer. A synctest bubble does not change which goroutine runs on the thread: it
// runs its timers in a goroutine, and wakes its root when one has ended.
// Context: hook.
//
//go:nosplit
func qinstGoUnpark(gp *g, skip int) {
	if qinstStates == 0 {
		return
	}
	now := qinstNow()
	cur := qinstCurrent()
	on := getg().m.qinst.g
	cause := uint64(qinstCauseGoroutine)
	switch {
	case skip == 0:
		cause = qinstCauseOf(gp.waitreason)
	case cur == 0:
		cause = qinstCauseTimer
	default:
		on = cur
	}
	if cause == qinstCauseTimer {
		if late := min(uint64(max(getg().m.qinstLate, 0))/qinstLateUnit, qinstMostLate); late >= qinstLeastLate {
			qinstPut(now, on, qinstEvLate<<24|late)
		}
	}
	// A select waits for many channels; which one ended the wait is known at this moment
	// alone.
	if c := qinstWokenBy(gp); c != 0 {
		qinstPut3(now, on, qinstEvGoUnparkBy<<24|cause, qinstGo(gp), uint64(c))
		return
	}
	qinstPut2(now, on, qinstEvGoUnpark<<24|cause, qinstGo(gp))
}

// qinstCauseOf returns the cause of the wake-up of a goroutine that waited for the
// given reason, if no goroutine woke it.
// Context: hook.
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

// qinstGoSwitch notes that a coroutine hands its thread to another one, without the
// scheduler.
// Context: hook.
//
//go:nosplit
func qinstGoSwitch(next *g, ends bool) {
	if qinstStates == 0 {
		return
	}
	now := qinstNow()
	arg := uint64(0)
	if ends {
		arg = 1
	}
	// A coroutine that ended has left the thread already.
	qinstPut2(now, qinstRunning(), qinstEvGoSwitch<<24|arg, qinstGo(next))
	qinstRuns(next.goid)
}

// qinstGoSysCall notes the beginning of a system call. Little stack is left here, so that the
// function and its callees must stay nosplit. While a rate of bytes is exceeded it only keeps the
// time. If the thread still has its processor at the end of the call, neither event is written and
// the call is counted, because a program can make a million calls a second and nothing else bounds
// their events. Otherwise qinstCallCounts writes the event late. The thread has no other events
// during the call, so they stay in order.
// Context: hook.
//
//go:nosplit
func qinstGoSysCall() {
	if qinstStates == 0 {
		return
	}
	now := qinstNow()
	if b := getg().m.qinst; qinstSet.rate != 0 && qinstTokens.Load() < 0 && b.p != 0 && b.g == qinstCurrent() {
		b.call = now
		getg().m.qinstEnd = 0 // it is this call's, and no later one's
		return
	}
	qinstPut(now, qinstCurrent(), qinstEvSyscallBegin<<24|qinstWritesTo())
}

// qinstCallCounts notes the beginning that qinstGoSysCall has left out, if there is one, because
// the thread's processor or its goroutine is about to change.
// Context: hook.
//
//go:nosplit
func qinstCallCounts() {
	b := getg().m.qinst
	if b.call == 0 {
		return
	}
	at := b.call
	b.call = 0
	if b = qinstReadyFor(at, b.g); b != nil {
		*(*uint64)(unsafe.Pointer(b.p)) = (at-b.last)<<32 | qinstEvSyscallBegin<<24
		b.last = at
		qinstPublish(&b.p, b.p+8)
	}
}

// qinstGoSysExit notes the end of a system call after which the thread still
// has its processor. As Go's tracer has it, one whose tick was changed counts
// as lost and found again (dropm changes the tick of a thread that C gives
// back, for another may come with the same m).
// Context: hook.
//
//go:nosplit
func qinstGoSysExit(pp *p) {
	if qinstStates == 0 {
		return
	}
	if pp.syscalltick == getg().m.syscalltick {
		now := qinstNow()
		if b := getg().m.qinst; b.call != 0 {
			b.calls++
			b.called += now - b.call
			b.call = 0
			return
		}
		stack := uint64(0)
		if now-getg().m.qinst.last > qinstLongTicks {
			systemstack(func() { stack = qinstWaitStackOf(getg().m.curg, 0) })
		}
		qinstPut(now, qinstCurrent(), qinstEvSyscallEnd<<24|stack)
		return
	}
	systemstack(func() {
		qinstProcSteal(pp)
		qinstProcStart()
		qinstGoSysExitLost()
		qinstGoStart()
	})
}

// qinstGoSysExitLost notes the end of a system call whose processor is gone.
// Context: hook.
//
//go:nosplit
func qinstGoSysExitLost() {
	if qinstStates != 0 {
		qinstCallCounts()
		b := getg().m.qinst
		stack := b.calledIn
		if b.calledIn = 0; stack == 0 { // it is still running
			stack = qinstWaitStackOf(getg().m.curg, 0)
		}
		qinstLeave(qinstEvSyscallEndNoP<<24 | stack)
	}
}

// qinstCallEnds notes in which stack gp made the system call that now ends without a processor.
// Soon gp is runnable, and the garbage collector may move its stack.
// Context: hook.
func qinstCallEnds(gp *g) {
	if qinstStates != 0 {
		getg().m.qinst.calledIn = qinstWaitStackOf(gp, 0)
	}
}

// qinstGoCreateSyscall notes a goroutine that appears on a thread of C.
// Context: hook.
//
//go:nosplit
func qinstGoCreateSyscall(gp *g) {
	if qinstStates == 0 {
		return
	}
	now := qinstNow()
	gp.qinstSeqLow, gp.qinstSeqHigh = 0, 0
	qinstPut2(now, 0, qinstEvGoCreateSyscall<<24, qinstGo(gp))
	qinstRuns(gp.goid)
}

// qinstGoDestroySyscall notes that such a goroutine is gone.
// Context: hook.
//
//go:nosplit
func qinstGoDestroySyscall() {
	if qinstStates != 0 {
		qinstCallCounts()
		qinstLeave(qinstEvGoEndSyscall << 24)
	}
}

// qinstRunning is qinstCurrent for events that may come between goroutines: the
// one that the events so far put on the thread, not the one in curg, which
// changes first.
// Context: hook.
//
//go:nosplit
func qinstRunning() uint64 {
	return getg().m.qinst.g
}

// qinstProcStart notes that the thread has a processor now, also in its recorder: the next
// buffer's head says so.
// Context: hook.
//
//go:nosplit
func qinstProcStart() {
	if qinstStates == 0 {
		return
	}
	id := getg().m.p.ptr().id
	qinstMark(qinstEvProcStart, uint64(id))
	qinstHasProc(id)
}

// qinstProcStop notes that the thread gives its processor up.
// Context: hook.
//
//go:nosplit
func qinstProcStop(pp *p) {
	qinstMark(qinstEvProcStop, uint64(pp.id))
	qinstHasProc(-1)
}

// qinstProcSteal notes that a processor was taken from a thread in a system call. The
// event is on the thread that took it, which has a right to speak for it.
// Context: hook.
//
//go:nosplit
func qinstProcSteal(pp *p) {
	qinstMark(qinstEvProcSteal, uint64(pp.id))
}

// qinstHasProc tells the recorder. The recorder that all have is never written to.
// Context: hook.
//
//go:nosplit
func qinstHasProc(id int32) {
	if b := getg().m.qinst; b != qinstNone() {
		b.proc = id
	}
}

// qinstMark notes an event of the whole process, of a processor, or of the
// running goroutine, that changes no goroutine's state.
// Context: hook.
//
//go:nosplit
func qinstMark(kind, arg uint64) {
	if qinstStates != 0 {
		qinstCallCounts()
		qinstPut(qinstNow(), qinstRunning(), kind<<24|arg)
	}
}

// qinstWakes notes that the running goroutine begins or ends to wake a thread for an idle
// processor. The call takes 7 to 40 us on a virtual machine, and is no work of the program: on one
// processor there is none. The root of a synctest bubble is woken by a goroutine that has just
// ended, and is still the current one: of that one nothing may follow.
// Context: hook.
//
//go:nosplit
func qinstWakes(kind uint64) {
	if qinstStates == 0 {
		return
	}
	if g := qinstCurrent(); g != 0 && g == qinstRunning() {
		qinstPut(qinstNow(), g, kind<<24)
	}
}

// qinstTask notes where a task of runtime/trace begins, and where it ends, which may be in another
// goroutine.
// Context: hook.
func qinstTask(id, kind uint64, name string) {
	if gp := getg(); qinstStates != 0 && gp == gp.m.curg {
		text := uint64(0)
		if kind == qinstEvTaskBegin {
			text = qinstTextOf(name)
		}
		qinstPut2(qinstNow(), gp.goid, kind<<24|text, id)
	}
}

// qinstCurrent is the goroutine whose thread this is, 0 if none.
// Context: hook.
//
//go:nosplit
func qinstCurrent() uint64 {
	if gp := getg().m.curg; gp != nil {
		return gp.goid
	}
	return 0
}

// countEnded adds that of the calling thread, which is about to end. A reading that the writer
// makes meanwhile may be counted twice.
// Context: hook.
func (b *qinstRecorder) countEnded() {
	run := qinstThreadCPU()
	if b.readTid.Load() == b.tid {
		run -= min(run, b.readRun.Load())
	}
	qinstEnded.Add(int64(run))
}
