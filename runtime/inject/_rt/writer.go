package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// The writer is a thread without a P, like sysmon: it appends full buffers to
// the output and prepares the items that the hooks take from the lists. It
// allocates nothing, takes no lock that a crashing thread may hold, and blocks
// signals, because a thread that dies waits for it.

// The writer must be quick enough that threads find buffers, and rare enough that its own
// time does not show in a program that does little.
const (
	qinstTickNS     = 100e6   // clocks, thread times, refills: at least (see qinstPace)
	qinstThreadNS   = 20e6    // for each thread, between two readings of their times: a reading opens a file
	qinstUntracedNS = 1e9     // at least, while nothing is traced: only totals are made of these readings then
	qinstBusyUS     = 500     // between looks while buffers come in
	qinstFirst      = 8       // recorders made before the program starts
	qinstMostSpares = 48      // recorders kept ready, at most
	qinstGrow       = 128     // buffers a growth of the ring adds, but for the first
	qinstMaxRing    = 1 << 15 // buffers: 1 GiB
	qinstBatch      = 32      // buffers written together
	qinstFeedNS     = 10e6    // between two servings of the budget
	qinstSlowest    = 8       // times that ticks may come more seldom
	qinstLongestNS  = 10e9    // an ending thread's patience with the writer
	qinstReaderNS   = 1e9     // the same, with a reader of the output who takes nothing
	qinstEndLookNS  = 100e6   // between two looks whether it is over
	qinstIdle       = 0xffffffff

	qinstAllSleepers = 1<<31 - 1
)

// Words through which threads and the writer communicate. One side raises each word and the
// other compares, so that no answer can be lost.
var (
	qinstWriterM  muintptr
	qinstSleeping uint32 // futex: 1 while the writer sleeps until it is woken
	qinstEnds     uint32 // 1 once a thread gives the reason why the program ends
	qinstEnding   uint32 // 1 + why, once the program ends
	qinstEndTime  uint64 // when the end was requested: later activity is the tool's
	qinstStatus   int32
	qinstSync     uint32 // raised to ask for everything recorded so far
	qinstSynced   uint32
	qinstDone     uint32
	qinstWaits    int64 // since when the writer has waited for a reader of its output; 0: it does not

	qinstThreadsAt int64 // when threads' times were read
)

// Why the program ended.
const (
	qinstWhyExit = iota
	qinstWhyPanic
	qinstWhySignal
	qinstWhyExec
	qinstWhyHost
)

var qinstWhyText = [...]string{"exit", "panic or fatal error", "signal", "exec", "end of the host program"}

// qinstWake wakes the writer if it sleeps. The word is changed by one thread only, so
// that one makes the system call.
// Context: start, probe, hook, end, goroutine, writer, sampler, reducer.
//
//go:nosplit
func qinstWake() {
	if atomic.Load(&qinstSleeping) != 0 && atomic.Cas(&qinstSleeping, 1, 0) {
		futexwakeup(&qinstSleeping, 1)
	}
}

// qinst_fini does what qinstEnd does when the program that has loaded a library of Go's ends:
// nobody tells Go's runtime of that. The dynamic linker calls it, as the library's DT_FINI, in a
// thread that need not know Go. So it is in assembly, and waits with system calls of its own. The
// linker's symbol has to be one that is not local.
//
//go:cgo_export_static qinst_fini

const (
	qinstFiniSeconds = int(qinstReaderNS / 1e9) // between two looks
	qinstFiniTurns   = int(qinstLongestNS / qinstReaderNS)
	qinstFiniEnd     = (qinstWhyHost+1)<<32 | (1<<32 - 1) // what it puts into the ring: nobody tells it the status
)

// What is said then, by the assembly, too. The writer may be using the memory of other lines.
var (
	qinstUnreadText     = "qinst: nobody reads the trace: its end is lost\n"
	qinstUnfinishedText = "qinst: the trace was not finished within 10 s, and what its file lacks stays in memory: \"qinst salvage -o OUT FILE\" takes it from there, -clean removes it\n"
)

// qinstWriter is the writer thread.
// It never returns: the thread has no goroutine to go back to, and the process ends
// without it.
// Context: writer.
//
//go:nowritebarrierrec
func qinstWriter() {
	qinstWriterM.set(getg().m)
	qinstBlockSignals()
	qinstOwnTable()
	if !qinstOpenAll() {
		qinstGiveUp()
	}
	qinstKeepNone()
	qinstSetStage(qinstStageOpen)
	qinstAwaitStage(qinstStageOpen)
	if !qinstOut.regular {
		qinstWriteHead() // not by the program's own thread: the reader may be slow, or gone
	}
	if !qinstFlight.on {
		qinstWriteThreads() // their usage before the trace began
		var u qinstUsage
		u.load()
		qinstFaultsBefore = u.faults()
		qinstWriteMachine(true)
		qinstWriteClock()
		qinstWriteMetrics()
		qinstPush()
	}
	qinstStartSwitches() // may take milliseconds, which the first readings must not wait for
	qinstTimeSleep()
	tick := nanotime()
	qinstParts.since = tick
	for {
		// Buffers come first, because threads can run out of them. Then come the items that
		// hooks need, then rate control, and last requests, which can wait.
		busy := qinstDrain()
		qinstPrepare()
		qinstControlWindow()
		if qinstMayStop() {
			qinstStopForJumps()
		}
		qinstTellForeign()
		qinstBurstDue()
		qinstAnswer()
		qinstGive()
		qinstServe()
		qinstFlightServe()
		qinstNoteClock()
		qinstNoteSwitches(false)
		if now := nanotime(); now-tick >= qinstTickGap() {
			tick = now
			qinstSetPace()
			qinstTick()
		}
		qinstDeath()
		if atomic.Load(&qinstEnding) != 0 {
			break
		}
		// A process that calls exec goes on as another program, or as itself if exec
		// fails. Both are served: the file is complete now, and may be continued.
		if n := atomic.Load(&qinstSync); n != qinstSynced {
			qinstNoteSwitches(true)
			qinstWriteTail(qinstWhyExec)
			qinstUnlinkRing() // the next program of this process makes its own
			atomic.Store64(&qinstHead[qinstRingWordEnd], 0)
			qinstReduceGoOn() // exec may fail
			atomic.Store(&qinstSynced, n)
			futexwakeup(&qinstSynced, qinstAllSleepers)
		}
		qinstRest(busy)
	}
	// Probes are switched off first. Events that threads record meanwhile are after the
	// end record's time, and counts that still grow do not matter any more.
	qinstNoteSwitches(true)
	qinstStop()
	qinstStates = 0
	qinstWriteTail(qinstEnding - 1)
	if qinstOut.fd >= 0 {
		closefd(qinstOut.fd)
	}
	if qinstParts.other > 0 {
		closefd(qinstParts.other - 1)
	}
	if !qinstUnlinkRing() {
		qinstEmptyRing()
	}
	qinstHangUp()
	if sig := atomic.Load(&qinstReduce.deadly); sig != 0 {
		dieFromSignal(sig)
	}
	atomic.Store(&qinstDone, 1)
	futexwakeup(&qinstDone, qinstAllSleepers)
	for {
		usleep(1 << 30) // the process is about to end
	}
}

// qinstRest sleeps: briefly while buffers come in, else until a thread wakes it.
// It announces its sleep before it looks for work a last time. Otherwise work that comes in
// between would not wake it.
// Context: writer.
func qinstRest(busy bool) {
	if busy && qinstPressed() || atomic.Load(&qinstReduce.deadly) != 0 {
		usleep(qinstBusyUS)
		return
	}
	// The longest sleep depends on who waits: ten milliseconds for starved threads, a window
	// for rates and clients, a tick for the clocks.
	most := qinstTickGap()
	switch {
	case qinstRationed() && atomic.Load(&qinstStarved) != 0:
		most = qinstFeedGap
	case qinstControlled, qinstCtl.fd > 0:
		most = qinstWindowGap()
	}
	if qinstSwitches.full {
		most = min(most, qinstSwitchNS/2)
	}
	if wait := qinstBurst.when() - nanotime(); qinstBurst.wanted() && wait > 0 { // else something is in its way
		most = min(most, wait)
	}
	urgent := atomic.Load(&qinstUrgent) != 0
	if urgent { // but no window is shorter than that
		most = min(most, qinstWindow.at+qinstHurryGap()-nanotime())
	}
	atomic.Store(&qinstSleeping, 1)
	if !qinstHasWork() && (urgent && most > 0 || atomic.Load(&qinstUrgent) == 0) &&
		atomic.Load(&qinstAsked) == qinstAnswered && atomic.Load(&qinstNextUser) == 0 &&
		atomic.Load(&qinstFlight.asked) == qinstFlight.done && !qinstFewRecorders() && !qinstPagesLow() &&
		atomic.Load(&qinstEnding) == 0 && atomic.Load(&qinstSync) == qinstSynced {
		futexsleep(&qinstSleeping, 1, most)
	}
	atomic.Store(&qinstSleeping, 0)
}

// qinstHasWork reports whether there are buffers that should be written, or reduced.
// Context: writer.
func qinstHasWork() bool {
	r := &qinstReduce
	if r.out.Load() != 0 || atomic.Loaduintptr(&r.packets) != 0 {
		return true
	}
	return (qinstPressed() || atomic.Load(&r.asked) != atomic.Load(&r.answered)) && qinstReduceWanted() &&
		atomic.Load(&r.state) != qinstReduceWorks
}

// qinstBlockSignals blocks all but those the thread itself may cause and those that are sent to
// every thread and waited for: by doAllThreadsSyscall and glibc, and by musl.
// Context: writer, sampler.
func qinstBlockSignals() {
	set := sigset_all
	// Everything else goes to the program's threads, as it would without this one.
	for _, s := range [...]int{_SIGILL, _SIGTRAP, _SIGBUS, _SIGFPE, _SIGSEGV, sigPerThreadSyscall, qinstSigMusl} {
		sigdelset(&set, s)
	}
	sigprocmask(_SIG_SETMASK, &set, nil)
}

const qinstSigMusl = sigPerThreadSyscall + 1

// qinstDrain writes the full buffers, oldest first, and reports whether there
// were any.
// A flight recorder's buffers are kept instead, and so go back to threads only when they
// are old.
// Context: writer.
func qinstDrain() bool {
	list := qinstTakeFull()
	if list == 0 && atomic.Loaduintptr(&qinstReduce.packets) == 0 {
		return false
	}
	if qinstFlight.on {
		qinstKeep(list)
		atomic.Storeuintptr(&qinstReduce.packets, 0)
		return true
	}
	from, cpu, before := qinstNow(), qinstThreadCPU(), qinstOut.bytes
	qinstWriteKinds()
	qinstWriteList(list)
	qinstWritePackets()
	qinstNewSegment()
	qinstCost(from, cpu, qinstOut.bytes-before)
	if qinstSet.limit != 0 && !qinstOut.limited && qinstLimited() {
		qinstLimit()
	}
	return true
}

// qinstWriteList writes a list of buffers, the last first.
// A buffer goes back to the threads only once it is in the file, since it is not copied on
// the way.
// Context: writer.
func qinstWriteList(list uint32) {
	var oldest uint32
	for list != 0 {
		h := qinstBufferAt(list)
		list, h.next, oldest = h.next, oldest, list
	}
	for oldest != 0 {
		// Several buffers go into one write: file systems take a megabyte at a
		// time twice as fast as 32 KiB.
		// They are queued first and put back after the push, because queued buffers are
		// not copied.
		first, n := oldest, 0
		for ; oldest != 0 && n < qinstBatch; n++ {
			h := qinstBufferAt(oldest)
			oldest = h.next
			qinstWriteBuffer(h, uintptr(h.bytes))
		}
		qinstPush()
		for ; n > 0 && !qinstOut.failed; n-- {
			h := qinstBufferAt(first)
			first = h.next
			h.bytes = 0 // it is in the file and must not be recovered from the ring
			qinstBuffers.put(uintptr(unsafe.Pointer(h)))
		}
	}
}

// qinstBufferAt is buffer i, from 1.
// Context: writer, reducer.
func qinstBufferAt(i uint32) *qinstBuffer {
	return (*qinstBuffer)(unsafe.Pointer(qinstBuffers.base + uintptr(i-1)*qinstBuffers.stride))
}

// qinstWriteBuffer writes the first n bytes of a buffer's events as one record. An empty
// one counts, too: a thread's records are numbered.
// Context: writer.
func qinstWriteBuffer(h *qinstBuffer, n uintptr) {
	qinstWriteEvents(h, uintptr(unsafe.Pointer(h))+qinstHeadSize, n)
}

// qinstWriteEvents writes n bytes of events at p, under a buffer's head.
// Context: writer.
func qinstWriteEvents(h *qinstBuffer, p, n uintptr) {
	qinstRecordEvents(h.num, h.tid, h.seq, h.ticks, h.g, h.proc, uint64(n))
	qinstWriteBehind(p, n)
	qinstSeal()
}

// qinstLimit stops events for good; counting goes on.
// States are cleared as well as floors raised, because scheduling events would make the
// file grow on.
// Context: writer.
func qinstLimit() {
	qinstOut.limited = true
	qinstSet.threshold = qinstCountOnly // of recorders to come
	qinstThreshold(qinstCountOnly)
	qinstStates = 0
	qinstRecordLimit(qinstNow(), qinstOut.bytes, "bytes")
}

// qinstThreshold sets every recorder's thresholds.
// Threads read the threshold without a lock: for a few hits more some trace and others do
// not, which readers are prepared for.
// Context: writer.
func qinstThreshold(threshold int32) {
	for i := uint32(0); i < qinstNRecorders; i++ {
		b := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[i]))
		b.threshold, b.telling = threshold, threshold
	}
}

// qinstPrepare keeps recorders and buffers in stock.
// Hooks cannot make recorders and buffers, so that there must always be enough in advance.
// Context: writer.
func qinstPrepare() {
	for qinstSpares.Load() < qinstStock() && qinstNewRecorder() {
	}
	if qinstPagesLow() {
		qinstGrowPages()
	}
	qinstMapPieces()
	limit := qinstBuffers.limit.Load()
	if used := uint32(qinstBuffers.used.Load()); (used > limit/2 || limit < qinstGrow && qinstPressed()) &&
		limit < qinstSet.mostBuffers {
		qinstGrowRing(limit)
	}
	qinstFeed()
}

// qinstStock is how many recorders are kept ready: as many as threads have, because a program with
// few threads seldom gets many at once. Making one takes three system calls.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstStock() int32 {
	had := int32(atomic.Load(&qinstNRecorders)) - qinstSpares.Load()
	return min(max(had, qinstFirst), qinstMostSpares)
}

// qinstFewRecorders reports whether the writer is to make more.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstFewRecorders() bool {
	return qinstSpares.Load() < qinstStock()*2/3
}

// qinstFeed lets starved threads trace again, once the ring has room and budget
// and rate allow it.
// A thread that was starved is fed only when there is twice the reserve. With less it
// would starve again at once, and floors would change all the time.
// Context: writer.
func qinstFeed() {
	s := &qinstSet
	if qinstRationed() {
		if now := nanotime(); now-s.fed >= qinstFeedGap {
			left := qinstTokens.Swap(0)
			n := qinstRation(uint64(now-s.fed), uint64(max(left, 0)))
			s.fed = now
			if qinstTokens.Add(min(left, 0)+int32(n)) > 0 {
				qinstFeedGap = qinstFeedNS
			} else { // a process that does little need not be looked at that often
				qinstFeedGap = min(2*qinstFeedGap, qinstWindowGap())
			}
		}
		if qinstTokens.Load() <= 0 {
			return
		}
	}
	free := int32(qinstBuffers.limit.Load()) - qinstBuffers.used.Load()
	if atomic.Load(&qinstStarved) != 0 && !qinstOut.limited && free > 2*qinstReserve {
		atomic.Store(&qinstStarved, 0)
		qinstThreshold(s.threshold)
	}
}

// qinstFeedGap is how long after one serving the next one comes.
var qinstFeedGap int64 = qinstFeedNS

// qinstRationed reports whether threads may fill only so many buffers at a time.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstRationed() bool { return qinstSet.budget|qinstSet.rate != 0 }

// qinstRation returns how many buffers may be filled after ns went by. left buffers of the
// last ration are still unused. The budget is a share of the processor time that the process
// used meanwhile. Its unused part is carried over, as far as it is worth only few buffers,
// because a program that has just begun has used none. The unused part of the rate is
// carried over too, a second's worth at most.
// Context: writer.
func qinstRation(ns, left uint64) uint64 {
	s := &qinstSet
	n := uint64(qinstSet.mostBuffers)
	// Tokens that were not used flow back as credit, at what a buffer costs. The bound
	// keeps a program that slept for a minute from tracing at full speed for the next
	// one.
	if s.budget != 0 {
		cpu := qinstProcessCPU()
		s.credit += (cpu-s.fedCPU)*s.budget/1000 + left*s.bufferCost
		s.fedCPU = cpu
		s.credit = min(s.credit, max(uint64(qinstFeedNS)*s.budget/1000*uint64(gomaxprocs), qinstBatch*s.bufferCost))
		n = min(n, s.credit/s.bufferCost)
	}
	// A second's worth may be saved up, so that a burst after a quiet second is traced
	// whole.
	if s.rate != 0 {
		s.rateCredit = min(s.rateCredit+left*qinstBufferSize+uint64(float64(ns)*float64(s.rate)/1e9),
			max(s.rate, qinstBufferSize))
		n = min(n, s.rateCredit/qinstBufferSize)
		s.rateCredit -= n * qinstBufferSize
	}
	if s.budget != 0 {
		s.credit -= n * s.bufferCost
	}
	return n
}

// qinstPace is by how much rarer than usual the periodic work is done, 1 to qinstSlowest. What the
// writer does in a tick and in a window does not depend on what the program does, so that a process
// that uses little processor time would pay a large part of that for it: a server that uses 3 % of
// a processor a tenth.
var qinstPace = struct {
	slow         int64
	at           int64  // when the last tick was
	cpu, process uint64 // then
	mine, all    uint64 // used since it was last slowed down
	ticks        uint32 // since then
}{slow: 1}

// It goes slower by what many ticks took, because a program that rests for a moment goes on at
// once; and faster by one.
const (
	qinstPaceTicks = 10
	qinstPaceMost  = 0.01 // share of the process's time that the writer may take before it goes slower
	qinstPaceLeast = 0.004
	qinstPaceBusy  = 0.4 // processors that the process uses, from which on it does not go slower
)

// qinstTickGap is the time between two ticks.
// Context: writer.
func qinstTickGap() int64 { return qinstTickNS * qinstPace.slow }

// qinstWindowGap is the time between two windows of rate control, if nothing is urgent. It is
// bounded, since the system's records of switches must find room until the next look.
// Context: writer.
func qinstWindowGap() int64 { return qinstWindowNS * min(qinstPace.slow, qinstSlowest/2) }

// qinstHurryGap is the same at least, if a counter is without quota.
// Context: writer.
func qinstHurryGap() int64 { return qinstHurryNS * qinstPace.slow * qinstPace.slow }

// qinstSetPace decides by what the writer and the process used.
// Context: writer.
func qinstSetPace() {
	p := &qinstPace
	cpu, process := qinstThreadCPU(), qinstProcessCPU()
	mine, all := cpu-p.cpu, process-p.process
	now := nanotime()
	busy := float64(all) > qinstPaceBusy*float64(now-p.at)
	p.at, p.cpu, p.process = now, cpu, process
	p.mine, p.all, p.ticks = p.mine+mine, p.all+all, p.ticks+1
	slow := p.slow
	if busy {
		p.slow = 1
	} else if float64(mine) < qinstPaceLeast*float64(all) {
		p.slow = max(1, slow/2)
	} else if p.ticks >= qinstPaceTicks && float64(p.mine) > qinstPaceMost*float64(p.all) {
		p.slow = min(2*slow, qinstSlowest)
	}
	if p.slow != slow || p.ticks >= qinstPaceTicks {
		p.mine, p.all, p.ticks = 0, 0, 0
	}
}

// qinstTick does the periodic work, ten times a second unless the process uses little processor
// time. Its records are small and tell readers how far the file reaches, so that they are written
// even when nothing happens.
// Context: writer.
func qinstTick() {
	if qinstFlight.on {
		qinstFlightClock()
		qinstForget()
		return
	}
	now := nanotime()
	qinstWriteClock()
	if qinstStates != 0 || now-qinstThreadsAt >= qinstUntracedNS {
		qinstWriteMachine(false)
		if threads := int64(qinstNRecorders) - int64(qinstSpares.Load()); now-qinstThreadsAt >= threads*qinstThreadNS {
			qinstThreadsAt = now
			qinstWriteThreads()
		}
	}
	qinstWriteNews()
	qinstWriteMetrics()
	qinstPriceAgain()
	qinstSumsDue(now)
	qinstBurstSumsDue(now)
	qinstWriteDropped()
	qinstRefill()
	qinstFoldAll()
	qinstPush()
	qinstDropLog()
}

// qinstRefill gives quota back to counters that traced very often. It looks only after a
// gigabyte of events.
// A counter without limit begins at quota 0 above a threshold of -2^29: after 2^29 events it
// would only count.
// Context: writer.
func qinstRefill() {
	if qinstOut.bytes-qinstOut.refilled < 1<<30 {
		return
	}
	qinstOut.refilled = qinstOut.bytes
	for k := range qinstNext {
		qinstEachCounter(k, func(c *qinstCounter) {
			if c.quota < -1<<28 {
				c.quota = 0
			}
		})
	}
}

// qinstWriteTail writes everything recorded so far and the records that make
// the file complete. Buffers that their threads still fill are written as they
// are now; when such a buffer is written again its recorder has the same number,
// and readers take the later one.
// It may run twice, before an exec that fails and again at the end, so everything here
// must be repeatable: readers take the later record.
// Context: writer.
func qinstWriteTail(why uint32) {
	if qinstSet.extensions != "" && qinstReduce.run == nil {
		qinstSay("QINST: found extensions=", qinstSet.extensions,
			", and no package that imports extensions of qinst, or no events")
	}
	if qinstFirstTables > 0 && qinstFirstFound == 0 {
		qinstSay("-prune: the trace is of another program, whose procedures this one does not have; it had no effect")
	}
	if qinstFlight.on {
		qinstFlightEnd(why)
		return
	}
	from, cpu, before := qinstNow(), qinstThreadCPU(), qinstOut.bytes
	qinstWriteKinds()
	reduced := qinstReducing() && qinstReduce.answered == qinstReduce.asked && (qinstReduce.last || why == qinstWhyExec)
	switch {
	case reduced:
		qinstWritePackets()
		qinstWriteList(uint32(qinstReduce.out.Swap(0)))
		qinstWriteParts()
	case qinstReduce.run != nil:
		qinstLeaveReducer()
	default:
		qinstWriteList(uint32(qinstFull.Swap(0)))
	}
	lost := qinstNoRecorder
	for i := uint32(1); i < qinstNRecorders; i++ {
		lost += (*qinstRecorder)(unsafe.Pointer(qinstRecorders[i])).lost
	}
	if !reduced {
		qinstWriteOpen()
		qinstWriteList(uint32(qinstFull.Swap(0)))
	}
	// Tables to which the events above refer may come after them, because readers index a
	// segment before they read its events. Totals come last, so that they lack only the hits
	// that were counted after them.
	qinstWriteNews()
	qinstWriteMachine(true)
	qinstWriteSources()
	qinstCheckRules()
	qinstWriteSums()
	qinstWriteTimes()
	qinstWriteDropped()
	qinstWriteBursts()
	qinstWriteCounts()
	qinstSayFloor()
	qinstWriteCallees()
	qinstWriteThreads() // at the same time as what the process used, of which theirs is a part
	qinstWriteUsage()
	qinstWritePrices()
	qinstWriteMetrics()
	qinstWriteMemory()
	qinstWriteClock()
	qinstPush()
	qinstCost(from, cpu, qinstOut.bytes-before)
	qinstWriteCost()
	end := atomic.Load64(&qinstEndTime)
	if end == 0 {
		end = qinstNow()
	}
	qinstRecordEnd(end, qinstWhyText[why], qinstStatus, lost, qinstEarly+qinstEarlyHits(), qinstOverflows(),
		qinstUnnamed())
	qinstWriteCheck()
	qinstPush()
}

// qinstWriteOpen writes the buffers that threads are filling, as they are now. Threads go on
// recording. All events below p were complete when p was read, and memory above p is not read.
// Words below p may change, see goesOn: so a copy is written, of which the checksum is right.
// Context: writer.
func qinstWriteOpen() {
	for i := uint32(1); i < qinstNRecorders; i++ {
		b := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[i]))
		p, c := atomic.Loaduintptr(&b.p), atomic.Loaduintptr(&b.buffer)
		if c != 0 && p > c+qinstHeadSize && p <= c+qinstBufferSize {
			to := unsafe.Pointer(&qinstOpened)
			memmove(to, unsafe.Pointer(c), p-c)
			qinstWriteBuffer((*qinstBuffer)(to), p-c-qinstHeadSize)
			qinstPush() // before the next one is there: long pieces are not copied
		}
	}
}

// qinstOpened is the copy of a buffer that a thread is filling.
var qinstOpened [qinstBufferSize / 8]uint64

// qinstUnnamed returns how much found no room in the tables of texts, stacks and callees.
// Context: writer.
func qinstUnnamed() uint64 {
	n := qinstLostTexts + qinstLostWaitStacks + qinstLostPaths
	for i := uint32(1); i < qinstNRecorders; i++ {
		n += (*qinstRecorder)(unsafe.Pointer(qinstRecorders[i])).unresolved
	}
	return n
}

// qinstOverflows is how many entries were too deep for their profile stacks.
// Context: writer.
func qinstOverflows() uint64 {
	n := uint64(0)
	for i := uint32(1); i < qinstNRecorders; i++ {
		n += (*qinstRecorder)(unsafe.Pointer(qinstRecorders[i])).overflow
	}
	return n
}

// Why an output buffer of our own and pieces that stay where they are: a buffer has 32 KiB, and is
// written without being copied once. Small records gather in buf between them, in the
// order of the file.
// qinstOut is the output file, with the data queued for it.
var qinstOut struct {
	fd      int32 // -1 after an error
	regular bool  // a file of our own: writing to it does not wait for a reader
	limited bool
	full    uint32 // its disk is
	failed  bool   // the ring stays: it has the data that the file lacks
	n       uintptr
	bytes   uint64

	refilled uint64 // bytes at the last qinstRefill

	segment, segmentAt, tables uint64 // number, where it began, bytes of its tables

	costFrom, costTo, costCPU, costBytes uint64

	// Data queued for the next write: pieces of buf, and longer pieces that stay in
	// place until then.
	iov    [2*qinstBatch + 2][2]uintptr
	queued int
	from   uintptr // the part of buf after the last queued piece
	buf    [32 << 10]byte
}

// qinstByte appends a byte to the output buffer, and writes that out when it is full.
// Context: writer.
func qinstByte(b byte) {
	if qinstOut.n == uintptr(len(qinstOut.buf)) {
		qinstPush()
	}
	qinstOut.buf[qinstOut.n] = b
	qinstOut.n++
}

// qinstWriteBehind appends n bytes at p. Long pieces are not copied: they must
// stay as they are until the next push.
// Context: writer.
func qinstWriteBehind(p, n uintptr) {
	if n >= qinstShort {
		qinstCheckOut()
		qinstCheck.sum = qinstCRC(qinstCheck.sum, p, n)
	}
	qinstQueue(p, n)
}

// qinstShort is the length of a piece from which on it is not copied. A system call takes an
// address and a length for each piece, and that costs as much as copying this much.
const qinstShort = 4096

// qinstQueue does the same without a checksum.
// Context: writer.
func qinstQueue(p, n uintptr) {
	o := &qinstOut
	if n < qinstShort {
		if o.n+n > uintptr(len(o.buf)) {
			qinstPush()
		}
		memmove(unsafe.Pointer(&o.buf[o.n]), unsafe.Pointer(p), n)
		o.n += n
		return
	}
	if o.queued+2 > len(o.iov)-1 {
		qinstPush()
	}
	qinstQueueBuffer()
	o.iov[o.queued] = [2]uintptr{p, n}
	o.queued++
}

// qinstQueueBuffer queues the piece of the output buffer after the last queued one.
// Context: writer.
func qinstQueueBuffer() {
	o := &qinstOut
	if o.n > o.from {
		o.iov[o.queued] = [2]uintptr{uintptr(unsafe.Pointer(&o.buf[o.from])), o.n - o.from}
		o.queued++
		o.from = o.n
	}
}

// qinstPush writes everything queued.
// It continues after a short write, because a pipe takes only as much as it has room for.
// Context: writer.
func qinstPush() {
	o := &qinstOut
	qinstCheckOut()
	qinstQueueBuffer()
	if qinstOutputLost() {
		o.fd = -1
		qinstStop()
		qinstStates = 0
		qinstSay("the program has closed the trace's descriptor; the program goes on untraced")
	}
	for i := 0; i < o.queued && o.fd >= 0; {
		if o.iov[i][1] == 0 {
			i++
			continue
		}
		if !o.regular && qinstWaits == 0 {
			atomic.Storeint64(&qinstWaits, nanotime())
		}
		done, _, errno := linux.Syscall6(qinstSysWritev, uintptr(o.fd), uintptr(unsafe.Pointer(&o.iov[i])),
			uintptr(o.queued-i), 0, 0, 0)
		if errno == _EINTR {
			continue
		}
		// The program may have made the descriptor non-blocking, which changes ours too,
		// as they share it.
		if errno == _EAGAIN { // a pipe that the program made so
			usleep(qinstBusyUS)
			continue
		}
		// Space may come back. Until then threads find no buffers, and count.
		if errno == qinstENOSPC && o.regular && atomic.Load(&qinstEnding) == 0 && qinstStarted != 0 {
			atomic.Store(&o.full, 1)
			qinstSay("cannot write the trace: ", qinstErrno(errno),
				"; the program goes on, and so does the trace when there is space")
			usleep(qinstTickNS / 1000)
			continue
		}
		if errno != 0 {
			qinstWriteFailed(errno)
			break
		}
		atomic.Storeint64(&qinstWaits, 0)
		o.bytes += uint64(done)
		for i < o.queued && done >= o.iov[i][1] {
			done -= o.iov[i][1]
			i++
		}
		if i < o.queued {
			o.iov[i][0] += done
			o.iov[i][1] -= done
		}
	}
	atomic.Storeint64(&qinstWaits, 0)
	atomic.Store(&o.full, 0)
	o.queued, o.n, o.from, qinstCheck.from = 0, 0, 0, 0
}

// qinstWriteFailed gives the output up; the program goes on untraced. Data that a file
// lacks stays in the ring, together with the reason, for readers.
// The error is printed once. The program goes on as if it had not been instrumented, except
// that it counts.
// Context: writer.
func qinstWriteFailed(errno uintptr) {
	o := &qinstOut
	closefd(o.fd)
	o.fd = -1
	qinstStates = 0
	qinstThreshold(qinstCountOnly)
	rest := "; the program goes on untraced"
	if !o.regular || qinstRing < 0 {
		qinstStop()
	} else {
		o.failed = true // counting goes on
		qinstHead[qinstRingWordFailedAt], qinstHead[qinstRingWordWritten] = qinstNow(), o.bytes
		atomic.Store64(&qinstHead[qinstRingWordFailed], uint64(errno))
		rest = "; the program goes on untraced, and what the file lacks stays in memory: \"qinst salvage -o OUT FILE\" takes it from there, -clean removes it"
	}
	qinstSay("cannot write the trace: ", qinstErrno(errno), rest)
}

// qinstOpenAll opens what the tool writes to, and makes its memory. The writer does it, and the
// main goroutine waits.
// Context: writer.
func qinstOpenAll() bool {
	s := &qinstSet
	if !qinstOpenOutput() {
		return false
	}
	qinstBoundMemory()
	if s.mode == "flight" && !qinstStartFlight() {
		return false
	}
	if !qinstMap() || qinstTooMuch() {
		qinstSay("no room for the trace in the program's memory, which is limited; the program goes on untraced")
		return false
	}
	qinstPrepareSamples()
	qinstStartControl()
	// The first buffers are free of charge: the budget is a share of processor time, of
	// which none has been used.
	qinstTokens.Store(qinstBatch) // until the writer first looks
	for range qinstFirst {
		if !qinstNewRecorder() {
			return false
		}
	}
	// A killed program is found by its file, which must name the ring from the first
	// event on.
	if qinstOut.regular {
		qinstWriteHead()
	}
	if qinstOut.fd < 0 {
		return false
	}
	if s.ctl {
		qinstListen()
	}
	return true
}

// qinstGiveUp leaves nothing of the tool in the process but a thread that sleeps.
// Context: writer.
func qinstGiveUp() {
	qinstSampling = 0
	qinstOut.failed = false
	qinstUnlinkRing()
	if qinstOut.regular {
		qinstUnlinkOutput()
	}
	for i := range qinstNMapped {
		qinstUnmap(qinstMapped[i][0], qinstMapped[i][1])
	}
	if qinstTableOwn {
		const all = 1<<32 - 1
		linux.Syscall6(qinstSysCloseRange, 0, all, 0, 0, 0, 0)
	}
	qinstSetStage(qinstStageFailed)
	qinstAwaitStage(qinstStageFailed)
}

// qinstPriceAgain lowers the prices if a reading of the clock takes less than it did at the start,
// which may be slow as a whole.
// Context: writer.
func qinstPriceAgain() {
	before := qinstReadsNS
	if qinstReadClocks(); qinstReadsNS < before {
		lower := float64(qinstReadsNS) / float64(before)
		qinstSet.bufferCost = 1 + uint64(lower*float64(qinstSet.bufferCost))
		qinstCountNS *= lower
		qinstEventNS *= lower
	}
}

// qinstStop ends recording: no probe is reached any more.
// Context: writer.
func qinstStop() {
	qinst_on = 0
	for i := range qinstNTables {
		qinstTables[i].setOff(1)
	}
}
