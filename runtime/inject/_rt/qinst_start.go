package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
)

// The beginning: settings, the output, memory, and then the writer and the samplers. It
// runs in the main goroutine before any package is initialised, so that nothing of the
// program has been missed. The order matters: nothing is recorded before the ring is
// described, since the program may be killed at any time after that.

// qinstStart is called first thing in the main goroutine, while no other runs.
// Context: start.
func qinstStart() {
	s := &qinstSet
	qinstNewM(getg().m) // the runtime has just cleared a word of its g0 that is ours
	qinstApplyDefaults()
	pid, _, _ := linux.Syscall6(qinstSysGetpid, 0, 0, 0, 0, 0, 0)
	s.pid = uint64(pid)
	qinstFindProgram()
	qinstFindHome()
	if s.temporary = gogetenv("TMPDIR"); s.temporary == "" { // as package os has it, which cannot be asked here
		s.temporary = "/tmp"
	}
	s.quiet = qinstParentTraced()
	s.env = gogetenv("QINST")
	// Whoever starts a program that has another user's rights must not decide what files it makes.
	if secureMode {
		qinstSay("the program has rights that its user lacks (setuid, setgid, capabilities); it runs untraced")
		return
	}
	if !qinstParse(qinstDefaults) || !qinstParse(s.env) || s.mode == "off" {
		return
	}
	// A clock that stops in sleep, or changes its speed, would make durations wrong
	// without a sign of it.
	qinstSlowClock = !qinstInvariantClock()
	qinstHasCheck = qinstChecks()
	qinstOwnPID = s.pid
	qinstSet.stream = (qinstNow()*0x9E3779B97F4A7C15 ^ s.pid<<40) >> 1
	qinstPriceBuffer()
	qinstPrepareExtra()
	// In these modes no counter is above its threshold by itself. Hits are only counted,
	// and no budget is needed.
	if s.mode == "count" || s.mode == "sample" {
		s.threshold, s.budget = qinstCountOnly, 0
		if s.mode == "count" {
			qinstUsual = qinstProcCounted
		}
	} else {
		s.threshold = -1 << 29
	}
	qinstBoundPoints()
	room := false
	systemstack(func() {
		room = qinstMayThread(1 + s.samplers + uint32(min(gomaxprocs, qinstTrialProcs)) + qinstTrialSpare)
	})
	if !room {
		qinstSay("a limit of the process's threads leaves no room for the tool's (pids.max, ulimit -u); the program runs untraced")
		return
	}
	systemstack(func() {
		qinstNewThread(qinstWriter)
		qinstAwaitStage(qinstStageNone)
	})
	if qinstStage != qinstStageOpen {
		return
	}
	qinstNoteClock() // if the program is killed now: relating the clocks needs two readings
	qinstStarted = 1
	qinstLend(getg().m, getg())
	qinst_on = 1
	if s.mode != "count" {
		qinstStates = 1
		// The main goroutine was made before anything was recorded; readers need its
		// creation and start to know which goroutine runs here.
		gp := getg()
		qinstNotePC(gp.startpc)
		qinstPut3(qinstNow(), 0, qinstEvGoCreate<<24, qinstGo(gp), uint64(gp.startpc))
		qinstGoStart()
	}
	systemstack(func() {
		qinstSetStage(qinstStageOn)
		for i := uint32(0); i < s.samplers && qinstSampling != 0; i++ {
			qinstNewThread(qinstTakeSamples)
		}
	})
}

// qinstOpenAll opens what the tool writes to, and makes its memory. The writer does it, and the main goroutine waits.
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

// qinstNewThread starts a thread of the tool's own.
// Context: start.
func qinstNewThread(f func()) {
	mp := acquirem()
	qinstMaker = mp
	newm(f, nil, -1)
	qinstMaker = nil
	releasem(mp)
	// A thread that never runs Go code must not count in the search for deadlocks, nor where the program limits its threads or
	// counts them. It cannot say so itself: should the program deadlock at once, it dies with this lock held.
	lock(&sched.lock)
	qinstThreads++
	unlock(&sched.lock)
}

var (
	qinstThreads int32 // of the tool; sched.lock protects it
	qinstMaker   *m    // starts one of them: what it makes is the tool's, from when others can see it
)

var qinstStarted uint32

// qinstPriceBuffer measures the cost of the events of one buffer. In a loop of nothing else
// an event takes little more than its clock reading. In programs, measured from outside
// (zstd's and bbolt's benchmarks, docs/RESULTS.md), it takes three to five times that,
// because the processor does nothing else meanwhile, and events displace data in its caches.
// A budget is a promise, so it is five here. A hit that is only counted takes a sixth to a
// fourth of a clock reading in such a loop, and in zstd's benchmarks, of whose hits a profile
// of the processor's counts finds 1.6 % of the time, 0.35.
// Context: start.
func qinstPriceBuffer() {
	for range qinstPriceTries {
		qinstReadClocks()
	}
	qinstSet.bufferCost = 1 + 5*uint64(qinstReadsNS)*(qinstBufferSize/8)/qinstPriceReads
	qinstCountNS = 0.35 * float64(qinstReadsNS) / qinstPriceReads
	qinstPriceAtomic()
}

const qinstPriceReads = 64 // of the clock, in a loop

var qinstReadsNS, qinstReadsTicks int64 = 1 << 62, 1 << 62 // what they took at least

// qinstReadClocks reads the clock in a loop, and keeps what that took at least.
// Context: start, writer.
func qinstReadClocks() {
	start, from := nanotime(), qinstNow()
	for range qinstPriceReads {
		qinstNow()
	}
	if ticks, ns := int64(qinstNow()-from), nanotime()-start; ns < qinstReadsNS {
		qinstReadsNS, qinstReadsTicks = ns, ticks
	}
}

// qinstPriceAgain lowers the prices if a reading of the clock takes less than it did at the start, which may be slow as a whole.
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

// qinstPriceTries is how often a price is measured. The least counts, because an interrupt in a
// loop of two microseconds makes it eight times as long: then the report would say that the tool
// took most of the run, and rate control would trace hardly anything.
const qinstPriceTries = 8

// qinstPriceAtomic measures the cost of a locked instruction, because every operation on a
// synchronization object has a few.
// Context: start.
func qinstPriceAtomic() {
	const times = 32
	word, ns := uint64(0), int64(1<<62)
	for range qinstPriceTries {
		start := nanotime()
		for range times {
			atomic.Cas64(&word, word, word+1)
		}
		ns = min(ns, nanotime()-start)
	}
	qinstAtomicPS = ns * 1000 / times
}

var qinstAtomicPS int64
