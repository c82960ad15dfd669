package runtime

import (
	"internal/runtime/syscall/linux"
	"unsafe"
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
		qinstSay("a limit of the process's threads leaves no room for the tool's (pids.max, ulimit -u); " +
			"the program runs untraced")
		return
	}
	systemstack(func() {
		qinstNewThread(qinstWriter)
		qinstAwaitStage(qinstStageNone)
	})
	if qinstStage != qinstStageOpen {
		return
	}
	qinstTimeWake()
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

// qinstWakeNS is how long it takes to wake a thread, in ns; 0: not known.
var qinstWakeNS int64

// qinstTimeWake measures that with the writer, which sleeps until the program records. Predictions
// for more processors need it. A program with several processors wakes threads itself, and its
// trace has the calls; one with a single processor does not, and waits here for a quarter of a
// millisecond. The shortest call counts: the first one may find the other processor in deep sleep,
// which those of a busy program are not.
// Context: start.
func qinstTimeWake() {
	const tries, untilAsleep = 10, 20_000
	if gomaxprocs > 1 || qinstSet.mode == "count" {
		return
	}
	for range tries {
		for from := nanotime(); nanotime()-from < untilAsleep; {
		}
		from := nanotime()
		woken := futex(unsafe.Pointer(&qinstStage), _FUTEX_WAKE_PRIVATE, 1, nil, nil, 0)
		if ns := nanotime() - from; woken == 1 && (qinstWakeNS == 0 || ns < qinstWakeNS) {
			qinstWakeNS = ns
		}
	}
}

// qinstNewThread starts a thread of the tool's own.
// Context: start.
func qinstNewThread(f func()) {
	mp := acquirem()
	qinstMaker = mp
	newm(f, nil, -1)
	qinstMaker = nil
	releasem(mp)
	// A thread that never runs Go code must not count in the search for deadlocks, nor where the
	// program limits its threads or counts them. It cannot say so itself: should the program
	// deadlock at once, it dies with this lock held.
	lock(&sched.lock)
	qinstThreads++
	unlock(&sched.lock)
}

var (
	qinstThreads int32 // of the tool; sched.lock protects it
	qinstMaker   *m    // starts one of them: what it makes is the tool's, from when others can see it
)

var qinstStarted uint32

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

// qinstPriceTries is how often a price is measured. The least counts, because an interrupt in a
// loop of two microseconds makes it eight times as long: then the report would say that the tool
// took most of the run, and rate control would trace hardly anything.
const qinstPriceTries = 8

var qinstAtomicPS int64

// qinstShareCounters gives the shared recorder counters for points that are registered.
// It is called when a package registers, so that a hit always finds a counter, even where
// every page is in use.
// Context: start.
func qinstShareCounters(from, to uint32) bool {
	b := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[0]))
	for number := from >> qinstPageShift; number <= (to-1)>>qinstPageShift && from < to; number++ {
		if *b.page(number) == 0 {
			if !qinstNewPage(b, number, qinstSharedPage) {
				return false
			}
		}
	}
	return true
}

// qinstFindHome finds the working directory; it stays "" where there is none.
// Context: start.
func qinstFindHome() {
	p := &qinstHome
	if n, _, e := linux.Syscall6(qinstSysGetcwd, uintptr(unsafe.Pointer(&p.buf)), uintptr(len(p.buf)), 0, 0, 0,
		0); e == 0 && n > 0 && p.buf[0] == '/' {
		p.n = int(n) - 1 // a zero ends it
	}
}

// qinstFindProgram finds the executable's path, by which default names and the place of
// the output go.
// Context: start.
func qinstFindProgram() {
	p := &qinstExePath
	link := "/proc/self/exe\x00"
	n, _, e := linux.Syscall6(qinstSysReadlink, qinstAtCwd, uintptr(unsafe.Pointer(unsafe.StringData(link))),
		uintptr(unsafe.Pointer(&p.buf)), uintptr(len(p.buf)), 0, 0)
	if e != 0 {
		n = 0
	}
	s := qinstString(&p.buf[0], int(n))
	qinstSet.exe = s
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '/' {
			s = s[i+1:]
			break
		}
	}
	if s == "" {
		s = "program"
	}
	qinstSet.program = s
}

// qinstParentTraced reports whether the parent is an instrumented process: then its ring has a
// known name, and belongs to this user: others may make files there, too. Such a child prints
// nothing, for tests compare the output of the processes they start.
// Context: start.
func qinstParentTraced() bool {
	ppid, _, _ := linux.Syscall6(qinstSysGetppid, 0, 0, 0, 0, 0, 0)
	p := &qinstScratchPath
	p.n = 0
	p.str("/dev/shm/qinst.").num(uint64(ppid))
	p.buf[p.n] = 0
	_, _, e := linux.Syscall6(qinstSysStat, qinstAtCwd, uintptr(unsafe.Pointer(&p.buf)),
		uintptr(unsafe.Pointer(&qinstStatText)), 0, 0, 0)
	return e == 0 && qinstStatWord(qinstStatUser) == qinstUser()
}

// qinstInvariantClock reports whether the processor's clock always runs, at one speed.
func qinstInvariantClock() bool
