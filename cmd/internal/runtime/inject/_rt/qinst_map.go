package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// The memory that threads record into. It is a file in /dev/shm, so that after
// a SIGKILL the kernel still has every recorded event and count, and its pages
// are allocated before they are mapped: touching a page of a sparse file on a
// full disk kills the program with SIGBUS. Where no such file can be had the
// memory is anonymous.
//
//	[0, qinstBuffersAt)        head: words that say where everything is
//	[qinstBuffersAt, ...)      buffers, as many as were needed
//	[qinstLogAt, ...)         packets that must not be lost: tables, descriptors
//	[qinstRecordersAt, ...)      recorders
//	[qinstDirectoryAt, ...)   whose counters are where
//	[qinstPagesAt, ...)       pages of counters
//	[qinstLedgersAt, ...)     the ledgers' slots of points
//
// A recorder in memory is its page here, and a table of its pages of counters.

// The parts have fixed places in the file, with room for the most that each may become:
// nothing ever moves, and pages that are not allocated cost nothing.
const (
	qinstPage        = qinstRingPage
	qinstBuffersAt   = qinstPage
	qinstLogAt       = qinstBuffersAt + qinstMaxRing*qinstBufferSize
	qinstLogSize     = 256 << 20
	qinstRecordersAt = qinstLogAt + qinstLogSize
	qinstDirectoryAt = qinstRecordersAt + qinstMaxRecorders*qinstPage
	qinstPagesAt     = qinstDirectoryAt + qinstMostPages*4
	qinstLedgersAt   = qinstPagesAt + qinstMostPages*qinstPageSize

	qinstProt      = 1 | 2
	qinstShared    = 1
	qinstPrivate   = 2 | 0x20 | 0x4000 // anonymous, no reserve
	qinstFixed     = 0x10
	qinstPunchHole = 1 | 2 // and keep the file's size
	qinstDontFork  = 10
	qinstNoHuge    = 15
	qinstDontDump  = 16
)

// Tables stay in the program's own memory, where the linker put them: text is a constant
// of the instrumented package, which is never unmapped.
// qinstTable is a package's table of points.
type qinstTable struct {
	text   string
	base   uint32
	probes uint32  // points of it that have a byte in off; all, or none
	off    uintptr // the package's bytes: one a point, see offOf, and one more, see levelOf
	kinds  bool    // of its points rate control has them, and where their procedures begin

	words string // of each word of ledgers the offset of its point, four bytes
}

// Addresses that are zero until they are mapped are tested before use, because they stay
// zero without the tool or after a failure.
var (
	qinstRing           int32                  = -1
	qinstHead           *[qinstPage / 8]uint64 // of the ring; anonymous if that is
	qinstMaking         uint32                 // spin lock: a recorder is being made
	qinstMemory         uint32                 // spin lock over what follows; only registration and the writer take it
	qinstLog            uintptr                // of qinstLogSize
	qinstNext           uint32                 // points registered
	qinstTotals         uintptr
	qinstRecorderMemory uintptr // of all recorders there may be
	qinstCallees        uintptr // likewise
	qinstTables         [1 << 12]qinstTable
	qinstNTables        int
	qinstOutTables      int
)

// qinstLockMemory takes the lock over tables, rules and pages. It sleeps instead of
// parking, because the writer has no P; holders must be on the system stack, otherwise
// they could be preempted with it.
// Context: start, goroutine, writer.
func qinstLockMemory() {
	for !atomic.Cas(&qinstMemory, 0, 1) {
		usleep(20)
	}
}

// qinstUnlockMemory gives it back.
// Context: start, goroutine, writer.
func qinstUnlockMemory() { atomic.Store(&qinstMemory, 0) }

// qinstMap makes the ring and the pools.
// Everything is reserved at once and touched as it is needed: addresses are then fixed,
// and no pointer to a buffer or a recorder can go stale.
// Context: start.
func qinstMap() bool {
	qinstOpenRing()
	head := qinstMapAt(0, qinstPage)
	qinstLog = qinstMapAt(qinstLogAt, qinstLogSize)
	buffers := qinstMapAt(qinstBuffersAt, qinstMaxRing*qinstBufferSize)
	pages := qinstMapAt(qinstPagesAt, qinstMostPages*qinstPageSize)
	qinstDirectory = qinstMapAt(qinstDirectoryAt, qinstMostPages*4)
	qinstTotals = qinstAnonymous(qinstMaxPoints * 16)
	qinstRecorderMemory = qinstAnonymous(qinstMaxRecorders * (qinstPage + qinstPageTable))
	qinstCallees = qinstAnonymous(qinstMaxRecorders * qinstCalleesSize)
	qinstTexts = qinstAnonymous(qinstTextBytes)
	if !qinstMapWaitStacks() || !qinstMapStacks() || qinstTexts == 0 || head == 0 || qinstLog == 0 || buffers == 0 || pages == 0 || qinstDirectory == 0 || qinstRecorderMemory == 0 || qinstCallees == 0 || qinstTotals == 0 {
		qinstSay("cannot map memory for the trace; the program goes on untraced")
		return false
	}
	qinstBuffers.base, qinstBuffers.stride = buffers, qinstBufferSize
	qinstPages.base, qinstPages.stride = pages, qinstPageSize
	qinstDescribeRing(head)
	qinstGrowRing(0)
	return qinstGrowPages() && qinstStartLedgers()
}

// qinstDescribeRing fills the head, for those who find the ring after the program
// was killed. The magic comes last.
// Readers in another process go by these words alone, and take a ring without the magic
// for one that is not ready.
// Context: start.
func qinstDescribeRing(head uintptr) {
	var b *qinstRecorder // for the offsets
	var c *qinstBuffer
	qinstHead = (*[qinstPage / 8]uint64)(unsafe.Pointer(head))
	h := qinstHead
	h[qinstRingWordVersion] = qinstRingVersion
	h[qinstRingWordPID] = qinstSet.pid
	h[qinstRingWordStream] = qinstSet.stream
	h[qinstRingWordChunkBase], h[qinstRingWordChunkAt] = uint64(qinstBuffers.base), qinstBuffersAt
	h[qinstRingWordChunkSize], h[qinstRingWordChunkHead] = qinstBufferSize, qinstHeadSize
	h[qinstRingWordBlockAt], h[qinstRingWordBlockSize] = qinstRecordersAt, qinstPage
	h[qinstRingWordDirectoryAt], h[qinstRingWordPageAt], h[qinstRingWordPageSize] = qinstDirectoryAt, qinstPagesAt, qinstPageSize
	h[qinstRingWordBlockP], h[qinstRingWordBlockChunk] = uint64(unsafe.Offsetof(b.p)), uint64(unsafe.Offsetof(b.buffer))
	h[qinstRingWordBlockLost], h[qinstRingWordBlockDeep] = uint64(unsafe.Offsetof(b.lost)), uint64(unsafe.Offsetof(b.overflow))
	h[qinstRingWordChunkBytes], h[qinstRingWordChunkNum] = uint64(unsafe.Offsetof(c.bytes)), uint64(unsafe.Offsetof(c.num))
	h[qinstRingWordChunkTID], h[qinstRingWordChunkSeq] = uint64(unsafe.Offsetof(c.tid)), uint64(unsafe.Offsetof(c.seq))
	h[qinstRingWordChunkTicks], h[qinstRingWordChunkG] = uint64(unsafe.Offsetof(c.ticks)), uint64(unsafe.Offsetof(c.g))
	h[qinstRingWordChunkProc] = uint64(unsafe.Offsetof(c.proc))
	h[qinstRingWordLogAt] = qinstLogAt
	h[qinstRingWordLedgerAt], h[qinstRingWordLedgerSize] = qinstLedgersAt, qinstLedgerBytes
	qinstNoteClock()
	atomic.Store64(&h[qinstRingWordMagic], qinstRingMagic)
}

// qinstNoteClock puts a reading of the clocks into the ring's head: in the place
// that the last one is not in.
// There are two places, and the turn is raised behind the writing: a program that is
// killed in the middle leaves the other reading whole.
// Context: start, writer.
func qinstNoteClock() {
	h := qinstHead
	turn := h[qinstRingWordTurn]
	at := qinstRingWordClock + turn%2*3
	ticks, mono, wall := qinstClocks()
	h[at], h[at+1], h[at+2] = ticks, uint64(mono), uint64(wall)
	h[qinstRingWordEarly], h[qinstRingWordNoBlock] = atomic.Load64(&qinstEarly), atomic.Load64(&qinstNoRecorder)
	atomic.Store64(&h[qinstRingWordTurn], turn+1)
}

// qinstAnonymous maps memory of the process's own, 0 if there is none. It is not
// reserved, so what is never touched costs nothing.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstAnonymous(size uintptr) uintptr {
	return qinstMmap(0, size, qinstPrivate, ^uintptr(0), 0)
}

// qinstMapAt maps a part of the ring, or memory in its place where there is none.
// Context: start.
func qinstMapAt(off, size uintptr) uintptr {
	if qinstRing < 0 {
		return qinstAnonymous(size)
	}
	return qinstMmap(0, size, qinstShared, uintptr(qinstRing), off)
}

// qinstMmap maps memory, 0 on failure. Huge pages are declined, because one would make a
// thread's few touched counters cost 2 MiB.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstMmap(at, size, flags, fd, off uintptr) uintptr {
	p, _, e := linux.Syscall6(qinstSysMmap, at, size, qinstProt, flags, fd, off)
	if e != 0 {
		return 0
	}
	// A forked child must not write into its parent's ring.
	advice := [...]uintptr{qinstDontFork, qinstDontDump, qinstNoHuge}
	for _, a := range advice[:min(uintptr(len(advice)), size/qinstPage)] {
		linux.Syscall6(qinstSysMadvise, p, size, a, 0, 0, 0)
	}
	return p
}

// qinstOpenRing creates the ring's file.
// Context: start.
func qinstOpenRing() {
	p := &qinstShmPath
	// Process ids come again, in containers most of all. The ring of a killed program
	// must stay until somebody has read it.
	for try := uint64(0); try < 100; try++ {
		p.n = 0
		p.str(qinstSet.ring).str("/qinst.").num(qinstSet.pid)
		if try > 0 {
			p.str(".").num(try) // left by a killed process that had this id
		}
		fd, e := p.open(qinstRdwr|qinstCreat|qinstExcl, 0o600)
		if e == qinstEEXIST {
			continue
		}
		if e == 0 {
			qinstRing = qinstHighFD(fd)
			if qinstFits() {
				return
			}
			qinstUnlinkRing()
			closefd(qinstRing)
			qinstRing = -1
		}
		break
	}
	p.n = 0
	qinstSay("no ring in ", qinstSet.ring, ": should the program be killed, the end of the trace is lost")
}

// qinstFits allocates the space that a small program needs, because having no ring is
// better than having one that is full at once.
// Context: start.
func qinstFits() bool {
	return qinstAllocate(0, qinstBuffersAt+uintptr(min(qinstGrow, qinstSet.mostBuffers))*qinstBufferSize) &&
		qinstAllocate(qinstDirectoryAt, qinstPage) && qinstAllocate(qinstPagesAt, qinstPageGrow*qinstPageSize)
}

// qinstDropLog forgets the log once the file has all that is in it.
// Context: writer.
func qinstDropLog() {
	used := qinstHead[qinstRingWordLog]
	if used == 0 || qinstRing < 0 || !qinstOut.regular || qinstOut.failed || qinstFlight.on {
		return
	}
	qinstLockMemory()
	if qinstOutTables == qinstNTables && qinstOutKinds == qinstNKinds {
		atomic.Store64(&qinstHead[qinstRingWordLog], 0)
		linux.Syscall6(qinstSysFallocate, uintptr(qinstRing), qinstPunchHole, qinstLogAt, uintptr(used), 0, 0)
	}
	qinstUnlockMemory()
}

// qinstRingName is the ring's path, "" without one.
// Context: start, writer.
func qinstRingName() string { return qinstShmPath.text() }

// qinstUnlinkRing removes the ring's name, unless the file is incomplete, because then
// "qinst salvage" needs the ring.
// Context: start, writer.
func qinstUnlinkRing() {
	if qinstShmPath.n > 0 && !qinstOut.failed {
		qinstShmPath.buf[qinstShmPath.n] = 0
		linux.Syscall6(qinstSysUnlinkat, qinstAtCwd, uintptr(unsafe.Pointer(&qinstShmPath.buf)), 0, 0, 0, 0)
	}
}

// qinstAllocate makes sure that pages of the ring exist.
// Pages must exist before they are touched. On a full /dev/shm a touch would end the
// program with SIGBUS, and the tool must never do that.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstAllocate(off, size uintptr) bool {
	if qinstRing < 0 {
		return true
	}
	for {
		_, _, e := linux.Syscall6(qinstSysFallocate, uintptr(qinstRing), 0, off, size, 0, 0)
		if e != _EINTR {
			return e == 0
		}
	}
}

// qinstGrowRing lets the threads have more than n buffers. It reports false if it cannot.
// The hooks of threads call it, too.
// The holder of the lock is on its system stack and makes one system call, so spinning
// here is short; the lock is taken by threads that hold the scheduler's.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstGrowRing(n uint32) (ok bool) {
	for !atomic.Cas(&qinstGrowing, 0, 1) {
		usleep(20)
	}
	ok = qinstBuffers.limit.Load() > n || qinstMoreBuffers(n)
	atomic.Store(&qinstGrowing, 0)
	return ok
}

// qinstMoreBuffers raises how many buffers there may be. A quarter of the memory belongs to
// events whatever counts use: a program with many points must not lose its scheduling
// events.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstMoreBuffers(n uint32) bool {
	grow := min(qinstGrow, qinstSet.mostBuffers-n)
	size := uint64(grow) * qinstBufferSize
	if uint64(n)*qinstBufferSize+size > qinstSet.memory/4 && !qinstMayUse(size) {
		qinstSet.mostBuffers = n
		return false
	}
	if grow == 0 || n > 0 && !qinstAllocate(qinstBuffersAt+uintptr(n)*qinstBufferSize, uintptr(size)) { // the first are there, see qinstFits
		return false
	}
	qinstBuffers.limit.Store(n + grow)
	qinstHead[qinstRingWordChunks] = uint64(n + grow)
	return true
}

// qinstNewRecorder makes one more recorder; the first is the shared one.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstNewRecorder() bool {
	for !atomic.Cas(&qinstMaking, 0, 1) {
		usleep(20)
	}
	n := qinstNRecorders
	ok := n < qinstMaxRecorders && qinstMakeRecorder(n)
	atomic.Store(&qinstMaking, 0)
	if ok && n > 0 {
		qinstReady.push(n)
		qinstSpares.Add(1)
	}
	return ok
}

// qinstMakeRecorder makes recorder n. The hooks of threads call it, too: it waits for nobody.
// The count of recorders is raised behind the recorder's own words, since whoever walks the
// recorders may read it at once.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstMakeRecorder(n uint32) bool {
	off := uintptr(qinstRecordersAt) + uintptr(n)*qinstPage
	p := uintptr(0)
	// Pages of the file are allocated for several recorders at a time: a system call for
	// each thread would show in programs with thousands.
	if n%qinstFirst != 0 || qinstAllocate(off, qinstFirst*qinstPage) {
		p = qinstRecorderMemory + uintptr(n)*(qinstPage+qinstPageTable)
	}
	if p != 0 && qinstRing >= 0 {
		p = qinstMmap(p, qinstPage, qinstShared|qinstFixed, uintptr(qinstRing), off)
	}
	if p == 0 {
		return false
	}
	b := (*qinstRecorder)(unsafe.Pointer(p))
	// low is out of reach until rate control sets it: a point is not noted for a writer
	// that does not look.
	b.num = n
	b.threshold, b.telling, b.low = qinstSet.threshold, qinstSet.threshold, -1<<31
	b.callees = qinstCallees + uintptr(n)*qinstCalleesSize
	qinstRecorders[n] = p
	atomic.Store(&qinstNRecorders, n+1)
	qinstHead[qinstRingWordBlocks] = uint64(n + 1)
	qinstControlRecorder(b)
	return true
}

// qinstRegister gives a package's points their indexes, and their slots in ledgers: at gets
// the distance of the first one from a ledger's address. It runs before the package's variables
// are initialised.
// A program has its tables in the ring's log from here on, so that a killed one can be
// read even if the writer never ran.
// Context: start.
//
//go:linkname qinstRegister qinst_register
func qinstRegister(base *uint32, points uint32, table string, off unsafe.Pointer, probes uint32, at *uintptr, words string) bool {
	t := qinstTable{text: table, probes: probes, off: uintptr(off), words: words}
	if qinstStarted == 0 {
		t.setOff(1)
		return false
	}
	ok := false
	systemstack(func() {
		qinstLockMemory()
		defer qinstUnlockMemory()
		if qinstNTables == len(qinstTables) || points > qinstMaxPoints-qinstNext {
			qinstSay("more points than a program can have (1048576); those of some packages are not recorded")
			return
		}
		if !qinstShareCounters(qinstNext, qinstNext+points) {
			qinstSay("no room for counts in ", qinstSet.ring, " or in QINST=memory=; the points of some packages are not recorded")
			return
		}
		t.base = qinstNext
		t.setOff(0)
		qinstTables[qinstNTables] = t
		qinstNTables++
		ok = true
		qinstGrowLedgers(qinstNext + points)
		*base = qinstNext
		if at != nil {
			*at = qinstLedgerPoints + uintptr(qinstNext)*8
			qinstMostEarly = max(qinstMostEarly, min(points, qinstEarlySlots))
		}
		// Rules apply before the first hit, and the probes of points that are off are
		// switched off before they run once.
		if qinstControlled {
			qinstApplyRules(&qinstTables[qinstNTables-1])
		}
		qinstNext += points
		qinstHead[qinstRingWordPoints] = uint64(qinstNext)
		qinstLogPacket(qinstProbesHead, *base, table)
	})
	// A package without indexes is not recorded. Its probes are switched off, because they
	// would take the slow side each time.
	if !ok {
		t.setOff(1)
	}
	return true
}

// setOff makes the program reach all points of a package, or none.
// Plain stores are enough: a probe that reads the old byte records one hit more or less.
// Context: start, writer.
func (t *qinstTable) setOff(v byte) {
	for i := range uintptr(t.probes) {
		*t.offOf(i) = v
		*t.levelOf(i) = qinstUsual * (1 - v)
	}
}

// offOf is a point's byte, not 0 if the point is not to be reached.
// Context: start, goroutine, writer.
func (t *qinstTable) offOf(i uintptr) *byte { return (*byte)(unsafe.Pointer(t.off + i)) }

// levelOf is the level of a procedure, by the number of its first point: 0 if it runs as it was
// written, without probes.
// Context: start, goroutine, writer.
func (t *qinstTable) levelOf(i uintptr) *byte {
	return (*byte)(unsafe.Pointer(t.off + uintptr(t.probes) + i))
}

// qinstUsual is the level of procedures without a rule that asks for more or less.
var qinstUsual byte = qinstProcProbed

// qinstSetOff makes the program reach a point, or not. Its procedure runs without probes while no
// point of it is to be reached.
// Context: start, goroutine, writer.
func qinstSetOff(point uint32, v byte) {
	if t := qinstTableOf(point); t != nil && point-t.base < t.probes {
		*t.offOf(uintptr(point - t.base)) = v
		t.setLevel(uintptr(point - t.base))
	}
}

// qinstSetInLine makes the operations of a point be counted in line, or lets its probe see them. The point's
// own level says which. Those that have no such place in the text do not read it.
// Context: start, goroutine, writer.
func qinstSetInLine(point uint32, on bool) {
	if t := qinstTableOf(point); t != nil && point-t.base < t.probes {
		level := byte(qinstProcProbed)
		if on {
			level = qinstProcCounted
		}
		*t.levelOf(uintptr(point - t.base)) = level
	}
}

// setLevel gives the procedure of a point its level.
// Context: start, goroutine, writer.
func (t *qinstTable) setLevel(i uintptr) {
	qinstKindOf(t.base + uint32(i)) // finds the owners, too
	owner := i - uintptr(qinstRulingOf(t.base+uint32(i)).within)
	level := t.levelNow(owner, i)
	if qinstHeld != 0 && level == qinstProcProbed && !qinstBurst.on {
		if c := qinstControlOf(t.base + uint32(owner)); c.held != 0 {
			level = c.held
		}
	}
	*t.levelOf(owner) = level
}

// levelNow returns the level that a procedure is to have: the highest of its points'. It looks at
// those from point i on first: rules switch points off in ascending order, so that the next one
// usually tells at once.
// Context: start, goroutine, writer.
func (t *qinstTable) levelNow(owner, i uintptr) (level byte) {
	for k := i; k < uintptr(t.probes) && (k == owner || qinstRulingOf(t.base+uint32(k)).within != 0) && level != qinstProcProbed; k++ {
		level = max(level, t.wants(k))
	}
	for k := owner; k < i && level != qinstProcProbed; k++ {
		level = max(level, t.wants(k))
	}
	return level
}

// wants returns the level that a point asks for.
// Context: start, goroutine, writer.
func (t *qinstTable) wants(i uintptr) byte {
	if *t.offOf(i) != 0 {
		return qinstProcPlain
	}
	if o := qinstRulingOf(t.base + uint32(i)); o.rule != 0 && qinstRules[o.rule-1].most > qinstRateCount {
		return qinstProcProbed
	}
	return qinstUsual
}

// qinstTableOf is the table that a point is in.
// Context: start, goroutine, writer.
func qinstTableOf(point uint32) *qinstTable {
	// Tables are in the order of their bases, since indexes are given out in the order of
	// registration.
	lo, hi := 0, qinstNTables // the last one with a base that is not above
	for lo < hi {
		if mid := (lo + hi) / 2; qinstTables[mid].base <= point {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return nil
	}
	return &qinstTables[lo-1]
}

// qinstStop ends recording: no probe is reached any more.
// Context: start, writer.
func qinstStop() {
	qinst_on = 0
	for i := range qinstNTables {
		qinstTables[i].setOff(1)
	}
}

// qinstLogPacket puts a packet into the ring's log, as far as there is room: should
// the program be killed before the writer has come to it, it is there. The packet is a head, a number, and the rest.
// The length is stored behind the bytes. A reader of the ring sees whole packets.
// Context: start.
func qinstLogPacket(head string, number uint32, body string) {
	used := uintptr(qinstHead[qinstRingWordLog])
	n := uintptr(len(head)) + 5
	size := n + uintptr(len(body))
	if qinstRing < 0 || size > qinstLogSize-used || !qinstAllocate(qinstLogAt+used, size) {
		return
	}
	to := qinstLog + used
	memmove(unsafe.Pointer(to), unsafe.Pointer(unsafe.StringData(head)), n-5)
	*(*byte)(unsafe.Pointer(to + n - 5)) = 0xce
	for i := range uintptr(4) {
		*(*byte)(unsafe.Pointer(to + n - 4 + i)) = byte(number >> (24 - 8*i))
	}
	memmove(unsafe.Pointer(to+n), unsafe.Pointer(unsafe.StringData(body)), uintptr(len(body)))
	atomic.Store64(&qinstHead[qinstRingWordLog], uint64(used+size))
}
