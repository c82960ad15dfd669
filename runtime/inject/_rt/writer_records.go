package runtime

import (
	"internal/goarch"
	"internal/goos"
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// All of it runs in the writer, or before anything else runs. Functions named
// qinstRecordX are generated from the format's table: their parameters are the record's
// fields.
//
// A file must be readable whatever happens to the program. A record of sums (counts, times,
// events that extensions dropped) can therefore be written again, and readers take the last
// one. A record that defines something comes before the first record that uses it.

// The records that the writer makes beside the threads' events.

// qinstSegmentSize is the number of bytes after which a new segment begins, if the tables
// are not a large part of it. Damage costs at most one segment.
const qinstSegmentSize = 64 << 20

// qinstNewSegment begins a new segment if the one at hand is long enough.
// Segments bound what damage costs; but each repeats the tables, so one whose tables are
// an eighth of it goes on.
// Context: writer.
func qinstNewSegment() {
	o := &qinstOut
	// A program with many points has large tables. To repeat them for each 64 MiB would
	// make the file longer by a part of them.
	if size := o.bytes - o.segmentAt; size < qinstSegmentSize || size < 8*o.tables {
		return
	}
	qinstWriteCheck()
	qinstPush()
	o.segment++
	o.segmentAt = o.bytes
	qinstForgetWritten()
	qinstWriteHead()
	qinstWriteClock()
	qinstWriteNews()
	qinstPush()
	o.tables = o.bytes - o.segmentAt
}

// qinstForgetWritten makes the writer write all tables again.
// A segment stands alone, and so must have every table that its events refer to.
// Context: writer.
func qinstForgetWritten() {
	qinstOutTables, qinstOutKinds, qinstWaitStacksOut, qinstTextsOut, qinstNFramesOut, qinstPathsOut, qinstCodesOut = 0,
		0, 0, 0, 0, 0, 0
	clear(qinstPCsOut[:])
	memclrNoHeapPointers(unsafe.Pointer(qinstFramesOut), qinstStackMap*goarch.PtrSize)
}

// qinstWriteHead starts a segment: the header, attributes of the process, and the
// descriptors that the tool prepared.
// The ring's name must be within the first page, because that is written whole or not at
// all, and a file that was cut must still lead to the ring.
// Context: writer.
func qinstWriteHead() {
	qinstByte(0x95)
	qinstByte(0)
	qinstByte(0xa0 | byte(len(qinstMagic))) // in its short form: readers look for it
	qinstWriteBehind(uintptr(unsafe.Pointer(unsafe.StringData(qinstMagic))), uintptr(len(qinstMagic)))
	qinstByte(qinstVersion)
	qinstStr("qinst")
	qinstByte(0x82)
	qinstStr(qinstAttrStream)
	qinstU64(qinstSet.stream)
	qinstStr(qinstAttrSegment)
	qinstU64(qinstOut.segment)
	qinstSeal()
	qinstCheck.packets, qinstCheck.sums = 0, 0 // of those behind the header
	qinstAttrStr("ring", qinstRingName())      // within the first page: that is written whole or not at all
	qinstAttrStr("program", qinstSet.program)
	qinstAttrInt("pid", int64(qinstSet.pid))
	if qinstBuildID != "" {
		qinstAttrStr("build_id", qinstBuildID)
	}
	qinstAttrStr("go", buildVersion)
	qinstAttrStr("goos", goos.GOOS)
	qinstAttrStr("goarch", goarch.GOARCH)
	qinstAttrInt("gomaxprocs", int64(gomaxprocs))
	qinstAttrInt("ncpu", int64(numCPUStartup))
	qinstAttrStr("mode", qinstSet.mode)
	qinstAttrStr("settings", qinstSet.env)
	qinstAttrInt("event_cost_ps", int64(qinstSet.bufferCost*1000/(qinstBufferSize/8)))
	qinstAttrInt("atomic_cost_ps", qinstAtomicPS)
	qinstAttrInt("clock_cost_ps", int64(qinstSet.bufferCost*1000/(qinstBufferSize/8)/5))
	qinstAttrInt("count_cost_ps", int64(qinstCountNS*1000))
	if qinstExtraPS != 0 {
		qinstAttrInt("extra_ps", qinstExtraPS)
	}
	if qinstSleepNS != 0 { // else see qinstTimeSleep
		qinstWriteWaits()
	}
	qinstAttrInt("budget_permille", int64(qinstSet.budget))
	if qinstSampling != 0 {
		qinstAttrInt("sample_ns", qinstSet.sampleGap)
	}
	if qinstSlowClock {
		qinstAttrStr("clock", "nanotime")
	} else {
		qinstAttrStr("clock", "cycles")
	}
	qinstWriteSealed(uintptr(unsafe.Pointer(unsafe.StringData(qinstPreamble))), uintptr(len(qinstPreamble)),
		qinstPreamblePackets, qinstPreambleSums)
	// Wait reasons are numbers of this Go version, so their texts are in the file.
	for code, text := range waitReasonStrings {
		qinstRecordReason(uint32(code), text)
	}
	qinstPush()
}

// qinstBuildID is the GNU build id of the binary, which the linker put here, in hexadecimal digits;
// empty: it has none.
var qinstBuildID string

// qinstSleepNS is how long the system takes for a sleep of 3 us; 0: it has not been measured yet.
var qinstSleepNS int64

// qinstTimeSleep measures that. Go's scheduler sleeps so before it takes the goroutine that is next
// on another processor, and what goroutines that hand over to each other gain by more processors
// depends on it. The median of five sleeps takes less than a millisecond of the writer's own time.
// Context: writer.
func qinstTimeSleep() {
	var sorted [5]int64
	for i := range sorted {
		start := nanotime()
		usleep(3)
		ns := nanotime() - start
		for ; i > 0 && sorted[i-1] > ns; i-- {
			sorted[i] = sorted[i-1]
		}
		sorted[i] = ns
	}
	if qinstSleepNS = sorted[len(sorted)/2]; !qinstFlight.on {
		qinstWriteWaits()
		qinstPush()
	}
}

// qinstWriteWaits writes what was measured when the program started.
// Context: writer.
func qinstWriteWaits() {
	qinstAttrInt("sleep_ns", qinstSleepNS)
	if qinstWakeNS != 0 {
		qinstAttrInt("wake_ns", qinstWakeNS)
	}
}

// qinstAttrStr writes an attribute of the stream, a text.
// Context: writer.
func qinstAttrStr(key, value string) {
	qinstByte(0x93)
	qinstByte(qinstPacketAttribute)
	qinstStr(key)
	qinstStr(value)
	qinstSeal()
}

// qinstAttrInt writes an attribute of the stream, a number.
// Context: writer.
func qinstAttrInt(key string, value int64) {
	qinstByte(0x93)
	qinstByte(qinstPacketAttribute)
	qinstStr(key)
	qinstI64(value)
	qinstSeal()
}

// qinstWriteClock writes a reading of the clocks, which relates ticks to time. Two are needed, far
// apart; there is one every tick because programs are killed. It tells when the next one is due,
// because a reading that does not come is how a process that was stopped is known.
// Context: writer.
func qinstWriteClock() {
	ticks, mono, wall := qinstClocks()
	qinstRecordClock(ticks, mono, wall, uint32(qinstTickGap()))
}

// qinstClocks reads the three clocks together.
// The ticks are the mean of a reading before and one after, since the thread may lose its
// processor between the clocks.
// Context: start, writer.
func qinstClocks() (ticks uint64, mono, wall int64) {
	a := qinstNow()
	sec, nsec, mono := time_now()
	b := qinstNow()
	return a + (b-a)/2, mono, sec*1e9 + int64(nsec)
}

// qinstWriteNews writes the tables and functions that came since the last call.
// It is called at every tick rather than when something is new: to look costs
// nothing, and threads need not wake the writer for a name.
// Context: writer.
func qinstWriteNews() {
	qinstWriteKinds()
	for ; qinstOutTables < qinstNTables; qinstOutTables++ {
		t := &qinstTables[qinstOutTables]
		// The tool encoded the record's other fields.
		qinstBytes(qinstProbesHead)
		qinstU32(t.base)
		qinstWriteBehind(t.table.at, uintptr(t.table.n))
		qinstSeal()
	}
	qinstWriteWaitStacks()
	qinstWriteTexts()
	qinstWritePaths()
	qinstWriteCodes()
	// The names of functions are looked up here: a hook notes the address only, since
	// findfunc is too much for a place with locks held.
	for i := range qinstPCs {
		pc := qinstPCs[i]
		if pc == 0 || qinstPCsOut[i/64]>>(i%64)&1 != 0 {
			continue
		}
		qinstPCsOut[i/64] |= 1 << (i % 64)
		f := findfunc(startPCForTrace(pc))
		if !f.valid() {
			continue
		}
		file, line := funcline(f, f.entry())
		qinstRecordFunction(uint64(pc), funcname(f), file, uint32(line))
	}
}

var qinstPCsOut [len(qinstPCs) / 64]uint64

// qinstCost adds one run of the writer to its account, which is written every
// tick.
// Context: writer.
func qinstCost(from, cpu, bytes uint64) {
	o := &qinstOut
	if o.costFrom == 0 {
		o.costFrom = from
	}
	o.costTo = qinstNow()
	o.costCPU += qinstThreadCPU() - cpu
	o.costBytes += bytes
}

// qinstWriteCost writes the writer's own use of resources, so that reports can show the
// cost of recording.
// Context: writer.
func qinstWriteCost() {
	o := &qinstOut
	if o.costFrom == 0 {
		return
	}
	qinstRecordFlush(o.costFrom, o.costTo, o.costBytes, o.costCPU)
	o.costFrom, o.costCPU, o.costBytes = 0, 0, 0
}

// qinstThreadCPU is the processor time of the calling thread in ns.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstThreadCPU() uint64 {
	const clockThreadCPUTime = 3
	return qinstReadClock(clockThreadCPUTime)
}

// qinstReadClock reads a clock of the system, in ns.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstReadClock(number uintptr) uint64 {
	var ts [2]int64
	linux.Syscall6(qinstSysClock, number, uintptr(unsafe.Pointer(&ts)), 0, 0, 0, 0)
	return uint64(ts[0])*1e9 + uint64(ts[1])
}

// qinstHadTime is how long threads had processors, and waited for one, in ns.
type qinstHadTime struct{ run, wait uint64 }

// qinstHad is the sum at the last reading of all threads, and qinstHadLast what came to it since
// the one before.
var qinstHad, qinstHadLast qinstHadTime

// qinstWriteThreads writes the operating system's account of each thread.
// Context: writer.
func qinstWriteThreads() {
	qinstWriteCost()
	before := qinstHad
	qinstHad = qinstHadTime{}
	for i := uint32(1); i < qinstNRecorders; i++ {
		b := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[i]))
		switch tid := b.tid; {
		case tid == 0:
		case b.tool:
			qinstWriteThread(qinstIdle, tid)
		default:
			if run, told := qinstWriteThread(b.num, tid); told {
				b.readRun.Store(run)
				b.readTid.Store(tid)
			}
		}
	}
	qinstWriteThread(qinstIdle, uint32(getg().m.procid))
	qinstHadLast = qinstHadTime{qinstHad.run - min(before.run, qinstHad.run),
		qinstHad.wait - min(before.wait, qinstHad.wait)}
}

// qinstWriteThread writes the operating system's account of one thread, and returns its processor
// time. A thread that has ended has no file there, and so no record.
// Context: writer.
func qinstWriteThread(num, tid uint32) (run uint64, told bool) {
	p := &qinstScratchPath
	p.n = 0
	p.str("/proc/self/task/").num(uint64(tid)).str("/schedstat\x00")
	now := qinstNow()
	run, rest, ok := qinstNumber(qinstReadFile(p.text()))
	wait, _, ok2 := qinstNumber(rest)
	told = ok && ok2
	if qinstAnswers.schedstat != 0 { // a thread that has ended tells nothing, either
		qinstAnswers.schedstat = qinstToldBy(told)
	}
	if told {
		qinstRecordOscpu(num, tid, now, run, wait)
		if num != qinstIdle {
			qinstHad.run, qinstHad.wait = qinstHad.run+run, qinstHad.wait+wait
		}
	}
	return run, told
}

// qinstEnded is the processor time of threads that have ended, as far as no record of theirs has
// it, in ns.
var qinstEnded atomic.Uint64

// qinstUsage is struct rusage: two timevals, the largest resident set in KiB,
// and more.
type qinstUsage [18]int64

// load asks the operating system.
// Context: writer.
func (u *qinstUsage) load() {
	linux.Syscall6(qinstSysGetrusage, 0, uintptr(unsafe.Pointer(u)), 0, 0, 0, 0)
}

// user is the processor time in user mode, in ns; system that in the kernel.
// Context: writer.
func (u *qinstUsage) user() uint64 { return uint64(u[0])*1e9 + uint64(u[1])*1e3 }

// Context: writer.
func (u *qinstUsage) system() uint64 { return uint64(u[2])*1e9 + uint64(u[3])*1e3 }

// faults is how often a thread waited for a page that had to be read.
// Context: writer.
func (u *qinstUsage) faults() uint64 { return uint64(u[9]) }

// qinstFaultsBefore are those before the trace: of the program's start, from a file that was not in
// memory.
var qinstFaultsBefore uint64

// qinstProcessCPU is the processor time of the process in ns.
// Context: writer.
func qinstProcessCPU() uint64 {
	var u qinstUsage
	u.load()
	return u.user() + u.system()
}

// qinstWriteUsage writes the resources that the whole process used, threads without a recorder
// included.
// Context: writer.
func qinstWriteUsage() {
	var u qinstUsage
	u.load()
	calls, called := uint64(0), uint64(0)
	for i := range qinstNRecorders {
		b := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[i]))
		calls += b.calls
		called += b.called
	}
	qinstRecordProcess(qinstNow(), u.user(), u.system(), uint64(u[4])<<10, qinstCollectorTime(), qinstLooksCPU(),
		qinstEnded.Load(), u.faults()-qinstFaultsBefore, calls, called)
}

// qinstWriteMetrics writes the runtime's metrics of its heap. Those of goroutines follow
// from the events.
// Context: writer.
func qinstWriteMetrics() {
	qinstRecordMetrics(qinstNow(), gcController.heapLive.Load(), gcController.gcPercentHeapGoal.Load(),
		uint64(work.cycles.Load()), qinstAllocated())
}

// qinstAllocated is how many objects were allocated from the heap: those that the runtime has added
// up, and those that processors have taken from their spans since. Nothing stops, so that it may
// miss some while threads allocate. Caches and spans are memory that is never given back.
// Context: writer.
func qinstAllocated() (n uint64) {
	for i := range memstats.heapStats.stats {
		sum := &memstats.heapStats.stats[i]
		n += sum.tinyAllocCount + sum.largeAllocCount
		for _, small := range &sum.smallAllocCount {
			n += small
		}
	}
	// GOMAXPROCS may replace the list meanwhile, and its lock may be held by a thread that dies. A
	// longer list is there before gomaxprocs has its length, which therefore is read first.
	procs := int(atomic.Loadint32(&gomaxprocs))
	all := allp
	for i := range min(procs, len(all)) {
		p := all[i]
		if p == nil {
			continue
		}
		cache := p.mcache // read once: a processor that is taken away loses it
		if cache == nil {
			continue
		}
		n += uint64(cache.tinyAllocs)
		for _, s := range &cache.alloc {
			if s != nil && s != &emptymspan {
				n += uint64(s.allocCount) - uint64(s.allocCountBeforeCache)
			}
		}
	}
	return n
}

// qinstWriteMemory writes the tool's own use of memory, and how much found no room.
// Reports need it, because a bound that was reached would otherwise look like a quiet
// program.
// Context: writer.
func qinstWriteMemory() {
	s := &qinstSet
	pageless := uint64(0)
	for i := range qinstNRecorders {
		pageless += (*qinstRecorder)(unsafe.Pointer(qinstRecorders[i])).pageless
	}
	events, counts := uint64(qinstBuffers.limit.Load())*qinstBufferSize+qinstSwitches.bytes(),
		uint64(qinstPages.limit.Load())*qinstPageSize+qinstLedgerMemory.Load()
	stacks := uint64(max(qinstStackBytes.Load(), 0))
	qinstRecordMemory(qinstNow(), s.memory, events, counts, stacks, qinstHead[qinstRingWordLog], pageless,
		atomic.Load64(&qinstStackless), qinstUnlisted,
		atomic.Load64(&qinstUnowned), atomic.Load64(&qinstRingless))
}

// qinstWriteCounts writes the totals of all counters. They are summed up first,
// for threads may still count and the record's length comes before its data.
// Context: writer.
func qinstWriteCounts() {
	if qinstTotals == 0 {
		return
	}
	// Two passes: the first notes totals in memory of the writer's own, so that the
	// second writes as many as the head says.
	found := uint64(0)
	qinstHitsAtEnd = 0
	for first := uint32(0); first < qinstNext; first += 1 << qinstPageShift {
		qinstSumPage(first>>qinstPageShift, &qinstSums)
		for k, s := range qinstSums {
			if s[0] != 0 && first+uint32(k) < qinstNext {
				*(*[2]uint64)(unsafe.Pointer(qinstTotals + uintptr(first+uint32(k))*16)) = [2]uint64{s[0], s[1]}
				found++
				qinstHitsAtEnd += s[0] - s[2] + s[2]/qinstInLineParts
			}
		}
	}
	qinstRecordCounts(qinstNow(), found*24)
	for k := uint32(0); k < qinstNext; k++ {
		if t := (*[2]uint64)(unsafe.Pointer(qinstTotals + uintptr(k)*16)); t[0] != 0 {
			words := [3]uint64{uint64(k), t[0], t[1]}
			for _, w := range words {
				qinstWord(w)
			}
		}
	}
	qinstSeal()
}

// qinstHitsAtEnd is how many hits cost as much as all that was counted, once it is written.
var qinstHitsAtEnd uint64

// qinstSayFloor prints that counting alone was above a budget that the user has set.
// Context: writer.
func qinstSayFloor() {
	s := &qinstSet
	cpu := float64(qinstProcessCPU())
	if !s.asked || float64(qinstHitsAtEnd)*qinstCountNS <= cpu*float64(s.budget)/1000 {
		return
	}
	qinstSay("counting alone is above the budget: \"qinst report\" says what to leave out")
}

// qinstWriteCallees writes which functions the call points called that did not say
// so in the source.
// Context: writer.
func qinstWriteCallees() {
	const size = unsafe.Sizeof(qinstCallee{})
	shared := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[0])) // its table is used for this alone
	if !shared.hasCallees() {
		return
	}
	if shared.named {
		memclrNoHeapPointers(unsafe.Pointer(shared.callees), qinstCalleesSize)
		shared.named = false
	}
	atomic.Store(&qinstCalleesRead, 1)
	qinstLedgerCallees(shared)
	for i := range qinstNRecorders {
		b := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[i]))
		if i > 0 && !b.used || !b.named {
			continue
		}
		for k := uintptr(0); k < qinstMaxCallees; k++ {
			e := (*qinstCallee)(unsafe.Pointer(b.callees + k*size))
			if e.n != 0 {
				qinstWriteCallee(e.point, e.pc, e.n)
			}
		}
	}
	atomic.Store(&qinstCalleesRead, 0)
}

// qinstWriteCallee writes how often a point called a function. One that is not
// known has no name, and its calls still count.
// Context: writer.
func qinstWriteCallee(point uint32, callee uintptr, n uint64) {
	pc, method := callee, uintptr(point/qinstMaxPoints)
	if method != 0 {
		pc = *(*uintptr)(unsafe.Pointer(callee + 16 + 8*method)) // the method's and 1, behind three words
	}
	point %= qinstMaxPoints
	name := ""
	if f := findfunc(pc); f.valid() {
		name = funcname(f)
	}
	qinstRecordCallee(point, name, n)
}

// The writer's scratch memory: nothing in package runtime may escape to the heap.
var (
	qinstScratchPath qinstPath
	qinstScratch     [1024]byte
)

// qinstReadFile returns the beginning of a file, in the scratch memory; path
// ends with a zero byte.
// Context: writer.
func qinstReadFile(path string) []byte {
	fd := open(unsafe.StringData(path), _O_RDONLY|_O_CLOEXEC, 0)
	if fd < 0 {
		return nil
	}
	n := read(fd, unsafe.Pointer(&qinstScratch), int32(len(qinstScratch)))
	closefd(fd)
	if n < 0 {
		return nil
	}
	return qinstScratch[:n]
}

// qinstNumber reads a decimal number and returns it with the rest of the text.
// Context: writer.
func qinstNumber(s []byte) (v uint64, rest []byte, ok bool) {
	for len(s) > 0 && s[0] == ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[0] >= '0' && s[0] <= '9' {
		v = v*10 + uint64(s[0]-'0')
		s, ok = s[1:], true
	}
	return v, s, ok
}

// qinstField finds the number after name.
// Context: writer.
func qinstField(s []byte, name string) (uint64, bool) {
	for i := 0; i+len(name) <= len(s); i++ {
		if string(s[i:i+len(name)]) == name {
			v, _, ok := qinstNumber(s[i+len(name):])
			return v, ok
		}
	}
	return 0, false
}

// qinstDecimal writes a number and returns how long it is; the runtime's own print
// functions write to stderr only.
// Context: start, writer.
func qinstDecimal(to []byte, v uint64) int {
	var digits [20]byte
	i := len(digits)
	for {
		i--
		digits[i] = byte('0' + v%10)
		v /= 10
		if v == 0 {
			break
		}
	}
	return copy(to, digits[i:])
}

// qinstWriteKinds writes the descriptors that came since the last call: before any
// record of theirs.
// It must run before buffers are written, because a reader cannot skip over a record whose
// kind it has not seen.
// Context: writer.
func qinstWriteKinds() {
	for ; qinstOutKinds < qinstNKinds; qinstOutKinds++ {
		qinstBytes(qinstDescriptorHead)
		qinstU32(qinstFirstUserTag + uint32(qinstOutKinds))
		s := qinstKinds[qinstOutKinds].string()
		qinstWriteBehind(uintptr(unsafe.Pointer(unsafe.StringData(s))), uintptr(len(s)))
		qinstSeal()
	}
}

// qinstCollectorTime is what the record of the process says of it; all ones: not known.
// Context: writer.
func qinstCollectorTime() uint64 {
	if !qinstCollectorAsks.Load() {
		return ^uint64(0)
	}
	return qinstCollector.Load()
}

// qinstTellVoids says which barriers were waited at in vain.
// Context: writer.
func qinstTellVoids(p *qinstPath) {
	for i := range qinstNRules {
		r, m := &qinstRules[i], &qinstMeetings[i]
		if came := m.void.Load(); came != 0 && !m.told {
			m.told = true
			p.n = 0
			if p.str("barrier ").str(r.name()[r.prefix:]).str(": "); came == qinstVoidFull {
				p.str("more than ").num(qinstMaxGroups).str(" of that name were in use at once")
			} else {
				p.num(uint64(came - 1)).str(" of ").num(uint64(r.limit.Participants)).str(" came, and nobody else")
			}
			p.str("; from then on it was not delayed")
			qinstSay(p.text())
		}
	}
}

// qinstWriteTexts writes the texts that came since the last call.
// It stops at the first that is not stored yet, since readers expect numbers in order;
// the next call goes on there.
// Context: writer.
func qinstWriteTexts() {
	for last := qinstNTexts.Load(); qinstTextsOut < last; qinstTextsOut++ {
		n := atomic.Load(&qinstTextLens[qinstTextsOut+1])
		if n == 0 {
			return // next time
		}
		p := qinstTexts.base + uintptr(qinstTextsOut)*qinstMaxText
		qinstRecordText(qinstTextsOut+1, qinstString((*byte)(unsafe.Pointer(p)), int(n-1)))
	}
}

// qinstWritePrices writes what events took.
// Context: writer.
func qinstWritePrices() {
	var all [qinstPriceKinds]qinstSelfTimed
	for i := uint32(1); i < qinstNRecorders; i++ {
		b := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[i]))
		for k := range all {
			t, own := &all[k], &b.price[k]
			t.n, t.sum, t.squares = t.n+own.n, t.sum+own.sum, t.squares+own.squares
		}
	}
	qinstRecordPrice("clock", qinstPriceReads, uint64(qinstReadsTicks), 0)
	if n := qinstCollectorPaid.n.Load(); n > 0 {
		qinstRecordPrice("collector", n, qinstCollectorPaid.ticks.Load(), 0)
	}
	for k := range all {
		if t := &all[k]; t.n > 0 {
			qinstRecordPrice([qinstPriceKinds]string{"call", "operation", "scheduling", "other", "extra"}[k], t.n,
				t.sum, float64(t.squares))
		}
	}
}
