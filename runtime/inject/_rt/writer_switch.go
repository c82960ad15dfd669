package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// A goroutine that runs may have no processor: the system gave it to somebody else, or its thread
// waits for a page or in a call that the runtime did not see. Only the system knows. It writes a
// record whenever a thread gets a processor or loses it (context_switch of perf_event_open), and
// the writer makes events of them.
//
// There is one ring for each processor, and one event for each thread and processor. Threads that
// start later inherit theirs, so that the number of descriptors does not grow with them. All
// threads share a processor's ring, because a ring for each thread would need more locked memory
// than users may have.
//
// The writer opens them and not the program's first thread: the first event of a machine makes the
// system wait for all its processors, some milliseconds on a large one.

const (
	qinstMostRings    = 512     // processors
	qinstMostSwitched = 64      // threads when the writer begins
	qinstMostOpened   = 256     // events of these
	qinstSwitchBytes  = 1 << 18 // of a ring, or less: all together
	qinstSwitchMemory = 1. / 32 // of what the tool may use
	qinstSwitchNS     = 20e6    // between two looks into the rings
	qinstSwitchLate   = 50e3    // ns: later records may not be complete yet
	qinstSwitchCostNS = 800     // of a thread that loses a processor and gets one, with the writer's part
	// of the processor time, on average over a run: beyond that the system is asked now and then
	qinstPartSwitches = 0.01
	qinstPartTaken    = 0.03  // likewise, while other programs take processors
	qinstTakenShare   = 0.1   // from this much of what threads run they wait because of such programs
	qinstSwitchTrial  = 1e9   // ns before that is decided
	qinstSwitchWindow = 100e6 // ns in which it is asked then
	qinstSlopeNS      = 50e6  // over which the speed of ticks is measured
	qinstTIDSlots     = 1 << 12

	qinstNoThread      = 3 // errors of the system
	qinstNoMemory      = 12
	qinstNoDescriptors = 24
	qinstNotAsked      = 1<<32 - 1 // instead of an error
	qinstTooMany       = 1<<32 - 2
	qinstSilent        = 1<<32 - 3
)

// qinstSwitchRing is one processor's.
type qinstSwitchRing struct {
	page uintptr // the system's head; its records follow
	size uint64  // bytes of these
	tail uint64  // read so far
	head uint64  // to be read now
	fd   int32
	cpu  uint32

	lastTID  uint32 // of the last record that was read, to find those that two events wrote
	lastMisc uint16
}

var qinstSwitches qinstSwitching

// qinstSwitching is what the writer knows of switches.
type qinstSwitching struct {
	rings  [qinstMostRings]qinstSwitchRing
	n      int
	errno  uintptr                // why there are none
	fds    [qinstMostOpened]int32 // of events without a ring of their own
	opened int
	began  int64          // when the system was asked first
	turned int64          // when it was asked, or not, for the last time
	paused bool           // it is not asked for the time being
	rate   float64        // records for each ns while it is asked
	before uint64         // records when it was asked last
	from   uint64         // ticks: since when there are records
	until  uint64         // up to which there are, 0: there still are
	past   [256][2]uint64 // earlier such times: the last of them
	nPast  uint32
	seen   uint64 // records
	lost   uint64 // records that found no room
	at     int64  // of the last look
	full   bool   // it found a ring filled by more than a quarter

	ticks uint64 // read together with mono
	mono  int64
	slope float64 // ticks in a ns

	next   [qinstMostRings]uint64    // times of the rings' next records
	known  [qinstMostSwitched]uint32 // threads that have events
	nKnown int
	tids   [qinstTIDSlots]uint64 // thread << 32 | number of its recorder
}

// qinstPerfAttr is struct perf_event_attr, as far as it is used.
type qinstPerfAttr struct {
	typ, size              uint32
	config, period         uint64
	sampleType, readFormat uint64
	flags                  uint64
	wakeup, bpType         uint32
	_                      [4]uint64
	_                      uint32
	clockid                int32
	_                      [3]uint64
}

// qinstStartSwitches opens an event for each thread that there is, on each processor it may use.
// Threads that start meanwhile are found by a further look.
// Context: writer.
func qinstStartSwitches() {
	s := &qinstSwitches
	if s.errno = s.start(); s.errno != 0 {
		qinstCollectorAsks.Store(true)
	}
}

// start is qinstStartSwitches, and returns why there are none.
// Context: writer.
func (s *qinstSwitching) start() (errno uintptr) {
	if qinstSet.noSwitches || qinstStates == 0 {
		return qinstNotAsked
	}
	if !qinstTableOwn { // the program could close the descriptors, and these numbers would be closed again
		return qinstNoDescriptors
	}
	b := qinstAttach(getg().m)
	if b == nil {
		return qinstNoMemory
	}
	b.tool = true
	s.ticks, s.mono, s.slope = qinstNow(), nanotime(), 1
	for found := true; found && s.errno == 0; {
		found = qinstSwitchThreads()
	}
	if s.n == 0 && s.errno == 0 {
		s.errno = qinstNoThread
	}
	if s.errno != 0 {
		s.close()
	}
	s.from, s.began = qinstNow(), nanotime()
	s.at, s.turned = s.began, s.began
	return s.errno
}

// qinstSwitchThreads opens the events of all threads that have none, and reports whether it found
// any.
// Context: writer.
func qinstSwitchThreads() (found bool) {
	p := &qinstScratchPath
	p.n = 0
	fd, e := p.str("/proc/self/task").open(qinstDirectoryFlag, 0)
	if e != 0 {
		qinstSwitches.errno = e
		return false
	}
	qinstEachNumber(fd, func(tid uint32) { found = qinstSwitchThread(tid) || found })
	closefd(fd)
	return found
}

const qinstDirectoryFlag = 0x10000 // O_DIRECTORY

// qinstEachNumber calls f with each entry of a directory whose name is a number.
// Context: writer.
func qinstEachNumber(fd int32, f func(n uint32)) {
	for {
		n, _, e := linux.Syscall6(qinstSysGetdents, uintptr(fd), uintptr(unsafe.Pointer(&qinstDirectoryText)),
			unsafe.Sizeof(qinstDirectoryText), 0, 0, 0)
		if e != 0 || n == 0 || n > unsafe.Sizeof(qinstDirectoryText) {
			break
		}
		const lengthAt, nameAt = 16, 19 // of a struct linux_dirent64
		for at := uintptr(0); at+nameAt < n; {
			d := uintptr(unsafe.Pointer(&qinstDirectoryText)) + at
			length := uintptr(*(*uint16)(unsafe.Pointer(d + lengthAt)))
			if length == 0 {
				break
			}
			at += length
			if n, _, ok := qinstNumber(unsafe.Slice((*byte)(unsafe.Pointer(d+nameAt)), int(length-nameAt))); ok {
				f(uint32(n))
			}
		}
	}
}

var qinstDirectoryText [4096]byte

// qinstSwitchThread opens a thread's events, and reports whether it had none.
// Context: writer.
func qinstSwitchThread(tid uint32) bool {
	s := &qinstSwitches
	if s.errno != 0 || tid == uint32(getg().m.procid) {
		return false
	}
	for _, t := range s.known[:s.nKnown] {
		if t == tid {
			return false
		}
	}
	for i := range qinstNUsed.Load() { // a sampler wakes a thousand times a second
		if b := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[atomic.Load(&qinstUsed[i])])); b.tool && b.tid == tid {
			return false
		}
	}
	// Without records a thread would look as if it never lost its processor. So all have them, or
	// none.
	if s.nKnown == len(s.known) || s.n > 0 && s.opened+s.n > qinstMostOpened {
		s.errno = qinstNoDescriptors
		return false
	}
	s.known[s.nKnown] = tid
	s.nKnown++
	if s.n == 0 {
		qinstMakeRings(tid)
		return true
	}
	for i := range s.rings[:s.n] {
		r := &s.rings[i]
		fd, e := qinstOpenSwitch(tid, r.cpu)
		if e == qinstNoThread { // it has ended
			break
		}
		const setOutput = 0x2405
		if e == 0 {
			if _, _, e = linux.Syscall6(qinstSysIoctl, uintptr(fd), setOutput, uintptr(r.fd), 0, 0, 0); e != 0 {
				closefd(fd)
			}
		}
		if e != 0 {
			s.errno = e
			break
		}
		s.fds[s.opened] = fd
		s.opened++
	}
	return true
}

// qinstMakeRings opens the first thread's events, with a ring on each processor that it may use.
// Context: writer.
func qinstMakeRings(tid uint32) {
	s := &qinstSwitches
	var mask [qinstMostRings / 8]byte
	n := sched_getaffinity(uintptr(tid), unsafe.Sizeof(mask), &mask[0])
	cpus := uint64(0)
	for i := int32(0); i < n*8; i++ {
		cpus += uint64(mask[i/8] >> (i % 8) & 1)
	}
	if cpus == 0 { // it has ended: the next one makes them
		return
	}
	size := uint64(qinstSwitchBytes)
	for size > qinstPage && float64(size*cpus) > qinstSwitchMemory*float64(qinstSet.memory) {
		size /= 2
	}
	for cpu := uint32(0); cpu < uint32(n*8); cpu++ {
		if mask[cpu/8]>>(cpu%8)&1 == 0 {
			continue
		}
		fd, e := qinstOpenSwitch(tid, cpu)
		const noDevice = 19
		if e == noDevice { // the processor is off
			continue
		}
		if e == qinstNoThread && s.n == 0 {
			return
		}
		if e != 0 {
			s.errno = e
			break
		}
		r := &s.rings[s.n]
		r.fd, r.cpu = fd, cpu
		// A user may lock only so much memory, and may have other rings.
		for r.page = qinstMapRing(fd, size); r.page == 0 && size > qinstPage; r.page = qinstMapRing(fd, size) {
			size /= 2
		}
		if r.page == 0 {
			closefd(fd)
			s.errno = 1 // operation not permitted
			break
		}
		r.size = size
		s.n++
	}
}

// close gives the rings and the events back.
// Context: writer.
func (s *qinstSwitching) close() {
	for i := range s.rings[:s.n] {
		munmap(unsafe.Pointer(s.rings[i].page), uintptr(s.rings[i].size+qinstPage))
		closefd(s.rings[i].fd)
	}
	for _, fd := range s.fds[:s.opened] {
		closefd(fd)
	}
	s.n, s.opened, s.until = 0, 0, qinstNow()
}

// write writes since when there are records, and up to which time.
// Context: writer.
func (s *qinstSwitching) write() {
	for i := s.nPast - min(s.nPast, uint32(len(s.past))); i < s.nPast; i++ {
		w := &s.past[i%uint32(len(s.past))]
		qinstRecordSource("switches", w[1], qinstTooMany, s.lost, w[0])
	}
	until, why := s.until, uint32(s.errno)
	if until == 0 {
		until = qinstNow()
	}
	if s.paused {
		why = qinstTooMany
	}
	qinstRecordSource("switches", until, why, s.lost, s.from)
}

// ration lets the system be asked for a part of the time if records cost more than they may. While
// other programs take processors they may cost more: then nobody else can tell when the program
// ran.
// Context: writer.
func (s *qinstSwitching) ration(now int64) {
	if qinstSet.budget == 0 || now-s.began < qinstSwitchTrial || now-s.turned < qinstSwitchWindow {
		return
	}
	part := qinstPartSwitches
	if float64(qinstHadLast.wait) > qinstTakenShare*float64(qinstHadLast.run) {
		part = qinstPartTaken
	}
	left := part*float64(qinstProcessCPU()) - float64(s.seen/2*qinstSwitchCostNS)
	switch {
	case !s.paused && left < 0:
		s.rate = float64(s.seen-s.before) / float64(now-s.turned)
		s.pause(now)
	case s.paused && left > s.rate*qinstSwitchWindow/2*qinstSwitchCostNS:
		s.goOn(now)
	}
}

// pause asks the system no more, for the time being. All threads go on as far as readers know.
// Context: writer.
func (s *qinstSwitching) pause(now int64) {
	qinstPut2(max(qinstNow(), getg().m.qinst.last), 0, qinstEvOn<<24|qinstAllThreads, 0)
	const disable = 0x2401
	s.each(disable)
	s.paused, s.turned, s.until = true, now, qinstNow()
}

// goOn asks the system again.
// Context: writer.
func (s *qinstSwitching) goOn(now int64) {
	const enable = 0x2400
	s.each(enable)
	s.past[s.nPast%uint32(len(s.past))] = [2]uint64{s.from, s.until}
	s.nPast++
	s.paused, s.turned, s.from, s.until, s.before = false, now, qinstNow(), 0, s.seen
	for i := range s.rings[:s.n] {
		s.rings[i].lastTID = 0
	}
}

// each does something with all events, and with those that threads have inherited.
// Context: writer.
func (s *qinstSwitching) each(request uintptr) {
	for i := range s.rings[:s.n] {
		linux.Syscall6(qinstSysIoctl, uintptr(s.rings[i].fd), request, 0, 0, 0, 0)
	}
	for _, fd := range s.fds[:s.opened] {
		linux.Syscall6(qinstSysIoctl, uintptr(fd), request, 0, 0, 0, 0)
	}
}

// qinstMapRing maps a ring, 0 if that is not possible.
// Context: writer.
func qinstMapRing(fd int32, size uint64) uintptr {
	return qinstMmap(uintptr(size+qinstPage), qinstProt, qinstShared, uintptr(fd), 0)
}

// qinstOpenSwitch opens the event that tells of a thread's switches on one processor. Threads that
// it starts inherit the event, child processes and other programs do not.
// Context: writer.
func qinstOpenSwitch(tid, cpu uint32) (fd int32, errno uintptr) {
	const (
		software, dummy                        = 1, 9
		sampleTID, sampleTime, sampleCPU       = 1 << 1, 1 << 2, 1 << 7
		inherit, noKernel, noHypervisor        = 1 << 1, 1 << 5, 1 << 6
		watermark, sampleIDs, clockID, switchs = 1 << 14, 1 << 18, 1 << 25, 1 << 26
		inheritThread, removeOnExec            = 1 << 35, 1 << 36
		closeOnExec                            = 8
		monotonic                              = 1
	)
	a := qinstPerfAttr{typ: software, config: dummy, sampleType: sampleTID | sampleTime | sampleCPU, clockid: monotonic,
		wakeup: 1 << 30,
		flags: inherit | noKernel | noHypervisor | watermark | sampleIDs | clockID | switchs | inheritThread |
			removeOnExec}
	a.size = uint32(unsafe.Sizeof(a))
	r, _, e := linux.Syscall6(qinstSysPerf, uintptr(unsafe.Pointer(&a)), uintptr(tid), uintptr(cpu), ^uintptr(0),
		closeOnExec, 0)
	if e != 0 {
		return -1, e
	}
	// A low number would be missing in the program, which counts on it.
	if fd = qinstDuplicate(int32(r)); fd < 0 {
		errno = qinstNoDescriptors
	}
	closefd(int32(r))
	return fd, errno
}

// word reads a word of a ring.
// Context: writer.
func (r *qinstSwitchRing) word(at uint64) uint64 {
	return *(*uint64)(unsafe.Pointer(r.page + qinstPage + uintptr(at&(r.size-1))))
}

// Words of the system's head.
const (
	qinstRingHead = 1024
	qinstRingTail = 1032
)

// Records of the system.
const (
	qinstPerfLost      = 2
	qinstPerfSwitch    = 14
	qinstPerfOut       = 1 << 13
	qinstPerfPreempted = 1 << 14
)

// time is when the record that is next happened, in ns; none: there is no more.
// Context: writer.
func (r *qinstSwitchRing) time() (ns uint64) {
	for r.tail < r.head {
		head := r.word(r.tail)
		size := head >> 48
		if size < 8 {
			r.tail = r.head // which the system does not write
			break
		}
		switch uint32(head) {
		case qinstPerfSwitch:
			if uint32(r.word(r.tail+8)>>32) != r.lastTID || uint16(head>>32) != r.lastMisc {
				return r.word(r.tail + 16)
			}
			// A thread has an event of its own and an inherited one. Both write, in turn. Without
			// that nobody loses this processor twice, or gets it twice.
		case qinstPerfLost:
			return r.word(r.tail + 32)
		}
		r.tail += size
	}
	return ^uint64(0)
}

// qinstNoteSwitches makes events of the records since its last call, in the order of their times.
// Context: writer.
func qinstNoteSwitches(all bool) {
	s := &qinstSwitches
	now, mono := qinstNow(), nanotime()
	if s.n == 0 || qinstStates == 0 || !all && mono-s.at < qinstSwitchNS {
		return
	}
	s.at = mono
	if d := mono - s.mono; d >= qinstSlopeNS || s.slope == 1 && d > 0 {
		s.slope = float64(now-s.ticks) / float64(d)
		s.ticks, s.mono = now, mono
	}
	until := uint64(mono)
	if !all {
		until -= qinstSwitchLate
	}
	s.full = false
	for i := range s.rings[:s.n] {
		r := &s.rings[i]
		r.head = atomic.Load64((*uint64)(unsafe.Pointer(r.page + qinstRingHead)))
		s.full = s.full || r.head-r.tail > r.size/4
		s.next[i] = r.time()
	}
	for {
		first := 0
		for i := range s.next[:s.n] {
			if s.next[i] < s.next[first] {
				first = i
			}
		}
		t := s.next[first]
		if t > until {
			break
		}
		r := &s.rings[first]
		s.seen++
		qinstNoteSwitch(r, now-uint64(float64(uint64(mono)-min(t, uint64(mono)))*s.slope))
		r.tail += r.word(r.tail) >> 48
		s.next[first] = r.time()
	}
	for i := range s.rings[:s.n] {
		r := &s.rings[i]
		atomic.Store64((*uint64)(unsafe.Pointer(r.page+qinstRingTail)), r.tail)
	}
	if !all {
		s.ration(mono)
	}
}

// qinstNoteSwitch makes an event of a ring's next record.
// Context: writer.
func qinstNoteSwitch(r *qinstSwitchRing, ticks uint64) {
	b := getg().m.qinst
	ticks = max(ticks, b.last)
	head := r.word(r.tail)
	if uint32(head) == qinstPerfLost {
		r.lastTID = 0
		qinstSwitches.lost += r.word(r.tail + 16)
		qinstPut2(ticks, 0, qinstEvOn<<24|qinstAllThreads, uint64(r.cpu)) // who has a processor is not known any more
		return
	}
	tid := uint32(r.word(r.tail+8) >> 32)
	r.lastTID, r.lastMisc = tid, uint16(head>>32)
	num := qinstRecorderOf(tid)
	switch misc := head >> 32 & 0xffff; {
	case num == 0: // the tool's, one of C's, or the monitor's: it runs no goroutine
	case misc&qinstPerfOut == 0:
		qinstPut2(ticks, 0, qinstEvOn<<24|uint64(num), uint64(r.cpu)|uint64(tid)<<32)
	case misc&qinstPerfPreempted != 0:
		qinstPut(ticks, 0, qinstEvTaken<<24|uint64(num))
	default:
		qinstPut(ticks, 0, qinstEvOff<<24|uint64(num))
	}
}

// qinstOwns notes which thread has a recorder, so that the records of threads that have ended can
// still be told from others: several may live between two looks.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstOwns(b *qinstRecorder) {
	atomic.Store64(&qinstSwitches.tids[b.tid%qinstTIDSlots], uint64(b.tid)<<32|uint64(b.num))
}

// qinstRecorderOf is the number of a thread's recorder, 0 if it has none, or is the tool's.
// Context: writer.
func qinstRecorderOf(tid uint32) uint32 {
	slot := atomic.Load64(&qinstSwitches.tids[tid%qinstTIDSlots])
	if slot>>32 == uint64(tid) {
		if (*qinstRecorder)(unsafe.Pointer(qinstRecorders[uint32(slot)])).tool {
			return 0
		}
		return uint32(slot)
	}
	for i := range qinstNUsed.Load() { // the slot is another thread's by now
		if b := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[atomic.Load(&qinstUsed[i])])); b.tid == tid && !b.tool {
			return b.num
		}
	}
	return 0
}

// bytes is the memory of the rings.
// Context: writer.
func (s *qinstSwitching) bytes() (n uint64) {
	for i := range s.rings[:s.n] {
		n += s.rings[i].size + qinstPage
	}
	return n
}
