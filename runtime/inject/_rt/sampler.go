package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// Sampling, after Quartz (3.1). A hit that is not traced still puts its procedure or loop
// on the goroutine's profile stack, without a clock reading. Samplers, threads without a P
// that hold no locks, look from time to time at the goroutine that each thread of the
// program runs, and record its path of procedures and loops.
//
// The times between looks are those of a Poisson process, because samples then show the
// average, whatever rhythm the program has.

// qinstSampling is set where hits that are not traced are put on profile stacks.
var qinstSampling uint8

// A look costs a few microseconds, and its bounds keep it so: frames beyond the middle of
// a very deep stack, and threads that are in long system calls, are looked at less.
const (
	qinstUntraced = 1 << 21 // in a frame's point: no event told of the entry

	qinstSampleNobody = 16   // looks that find nothing running, before the time between them grows
	qinstSampleIdle   = 16   // times longer than set is the time between looks while nothing runs
	qinstSampleOld    = 10e6 // ns: a system call that is older is looked at less often, and counts for more
	qinstSampleDepth  = 2048 // frames that are looked at: the outer half, and the inner
	qinstLookNS       = 100e6

	// of processor time in a burst, before a thread is looked at: the activations that began before
	// it are over by then
	qinstWarmNS = 100e3
	qinstLateNS = 20e3 // a look is never late before

	qinstRanNS = 10e3 // and since the last look

	qinstPathBits  = 17
	qinstMostPaths = 1<<qinstPathBits - 1
	qinstPathSlots = 1 << (qinstPathBits + 1)
)

// qinstSampler is a thread that takes samples.
type qinstSampler struct {
	asleep uint32 // futex
	cpu    uint64 // ns that it has used
	tickNS float64
	burst  uint64 // the last one that it has samples of
	gap    int64  // ns, mean time between looks that led to the last one
	late   int64  // ns, about as late as half of the looks are
	asked  int64  // threads
	took   uint64 // ticks, by what these did
	points [qinstSampleDepth]uint32
}

// Paths are numbered as texts and stacks are, in a table without locks; each is one word,
// so that there is no half of one.
var (
	qinstSamplers  [qinstMostSamplers]qinstSampler
	qinstNSamplers atomic.Uint32
	qinstBelow     uint32 // points below trace

	qinstUsed  [qinstMaxRecorders]uint32 // recorders that a thread has, or had
	qinstNUsed atomic.Uint32

	qinstPaths     qinstRoom // of uint64: path n-1, and 1 (see qinstPathInto)
	qinstPathTable uintptr   // of uint64: that, above n
	qinstNPaths    atomic.Uint32
	qinstPathsOut  uint32 // written to the file
	qinstLostPaths uint64
)

// qinstPathInto is the path that leads from another one, 0 for none, into a procedure or
// loop; the other one itself if there is no room.
// Threads may both make the same path; the first to note it is found, the other number
// stays unused.
// Context: hook, sampler.
//
//go:nosplit
func qinstPathInto(from, point uint32) uint32 {
	key := uint64(from)<<22 | uint64(point)
	for i := uintptr(0); ; i++ {
		slot := (*uint64)(unsafe.Pointer(qinstPathTable + qinstPlace(key*qinstMix, i, qinstPathBits+1)*8))
		got := atomic.Load64(slot)
		if got == 0 {
			now, n := qinstNPaths.Load(), uint32(0)
			if now < qinstMostPaths && qinstPaths.upTo(uintptr(min(now+64, qinstMostPaths))*8) {
				n = qinstNPaths.Add(1)
			}
			if n == 0 || n > qinstMostPaths {
				atomic.Xadd64(&qinstLostPaths, 1)
				return from
			}
			atomic.Store64((*uint64)(unsafe.Pointer(qinstPaths.base+uintptr(n-1)*8)), key+1)
			if atomic.Cas64(slot, 0, key<<qinstPathBits|uint64(n)) {
				return n
			}
			got = atomic.Load64(slot) // another thread's
		}
		if got>>qinstPathBits == key {
			return uint32(got & qinstMostPaths)
		}
	}
}

// qinstTakeSamples is a thread that looks at a part of the program's threads.
// Waits are exponential: at even distances samples could fall into step with the program,
// and would see one part of a loop always.
// Context: sampler.
//
//go:nowritebarrierrec
func qinstTakeSamples() {
	me := qinstNSamplers.Add(1) - 1
	s := &qinstSamplers[me%qinstMostSamplers]
	qinstBlockSignals()
	const setTimerSlack = 29
	// 50 us would be a tenth of the time between two looks
	linux.Syscall6(qinstSysPrctl, setTimerSlack, 1000, 0, 0, 0, 0)
	// A sampler records into a recorder like any thread. Its samples are events, and readers
	// put them between those of the threads it looked at.
	if b := qinstAttach(getg().m); b != nil {
		b.tool = true
	}
	if qinstLooks != 0 {
		qinstCodeInto(0, 1) // which is to be the first code: see qinstNewCode
	}
	gap, looks, nobody := s.afford(), 0, 0
	ticks, mono := qinstNow(), nanotime()
	for {
		for qinstLooks == 0 && qinstSet.mode != "sample" && atomic.Load(&qinstBelow)|atomic.Load(&qinstStarved) == 0 ||
			qinstStates == 0 || qinstBetweenBursts() {
			atomic.Store(&s.asleep, 1)
			futexsleep(&s.asleep, 1, qinstLookNS)
			atomic.Store(&s.asleep, 0)
		}
		if atomic.Load(&qinstHeld) != 0 && qinstLooks == 0 {
			gap = qinstBurstLookNS
		}
		punctual := s.sleep(gap * int64(fastexprand(1<<20)) >> 20)
		if atomic.Load(&handlingSig[sigPreempt]) == 0 {
			qinstLooks = 0 // the program ignores the signal
		}
		if qinstStates == 0 || qinstBetweenBursts() || !punctual && qinstTimers == 0 {
			continue
		}
		if s.look(me, gap) {
			gap, nobody = s.afford(), 0
		} else if nobody++; nobody > qinstSampleNobody {
			gap = max(gap, min(2*gap, qinstSampleIdle*qinstSet.sampleGap))
		}
		// The thread's own time is read seldom, since reading it is a system call; the
		// budget needs it once in a window.
		if looks++; looks%32 == 0 {
			atomic.Store64(&s.cpu, qinstThreadCPU())
			s.tickNS = float64(nanotime()-mono) / float64(qinstNow()-ticks)
		}
	}
}

// sleep waits, and reports whether the system let the sampler go on in time. If all processors are
// busy it may have to wait until a thread of the program calls the system: a look then would find
// such calls too often. In time is what takes up to three times as long as half of all waits do.
// Context: sampler.
func (s *qinstSampler) sleep(ns int64) bool {
	since := nanotime()
	futexsleep(&s.asleep, 0, ns)
	late := nanotime() - since - ns
	if late > s.late {
		s.late += s.late/16 + 100
	} else {
		s.late -= s.late / 16
	}
	return late <= 3*s.late+qinstLateNS
}

// qinstBetweenBursts reports whether samples would miss what is held.
// Context: sampler.
func qinstBetweenBursts() bool {
	return qinstLooks == 0 && atomic.Load(&qinstHeld) != 0 && atomic.Load(&qinstLooking) == 0
}

// look takes a sample of each thread that runs a goroutine. gap is the mean time between
// looks that led to this one. It reports whether there was any.
// The thread goes on meanwhile, so that the values read may not fit together. They are
// tested against the recorder's goroutine, and the profile stack's address is compared before
// and after.
// Context: sampler.
func (s *qinstSampler) look(me uint32, gap int64) (busy bool) {
	first := true
	s.tell(me)
	s.gap = gap
	if atomic.Load(&qinstHeld) != 0 && qinstLooks == 0 {
		// all looks of a burst are one observation, for all the time to the next
		first = s.burst != qinstBurst.n
		gap += int64(float64(gap) * float64(qinstBurst.gap) / qinstBurst.lasts)
	}
	for i := me; i < qinstNUsed.Load(); i += qinstSet.samplers {
		b := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[atomic.Load(&qinstUsed[i])]))
		at := atomic.Loaduintptr(&b.gp)
		if at == 0 || b.g == 0 {
			b.unask()
			continue
		}
		// The goroutine may leave the thread during the look. It is the same one, and
		// runs, if the thread's events agree with the goroutine's own state.
		gp := (*g)(unsafe.Pointer(at)) // goroutines are never freed
		state := readgstatus(gp) &^ _Gscan
		if gp.goid != b.g || state != _Grunning && state != _Gsyscall && (state != _Gwaiting || qinstLooks == 0) {
			b.unask()
			continue
		}
		if state == _Gsyscall {
			b.unask()
		} else if qinstLooks != 0 { // one that waits and is on its thread works for the collector
			busy = true
			if b.ask() {
				s.asked++
			}
			continue
		}
		if atomic.Load(&qinstHeld) != 0 && state == _Grunning && !b.ran() {
			continue
		}
		weight := gap
		now := qinstNow()
		if state == _Gsyscall {
			if weight = s.weight(b, now, gap); weight == 0 {
				continue
			}
		} else {
			busy = true
		}
		w := uint64(s.path(gp)) | qinstWeight(weight)
		if first {
			w |= 1 << 63
			first, s.burst = false, qinstBurst.n
		}
		if qinstLooks == 0 {
			qinstPut2(now, 0, qinstEvSample<<24|uint64(b.num), w)
		} else if code := b.codeOfCall(gp); code != 0 {
			qinstPut3(now, 0, qinstEvLook<<24|uint64(b.num), w, uint64(code))
		}
	}
	return busy
}

// ran reports whether a thread has run since it was last looked at, and long enough in this burst.
// What is held is on the profile stack only if it was entered in the burst. So a thread that the
// system keeps waiting would show the caller, all the burst long, and one that runs shows it as
// long as the activations last that it was in when the burst began.
// Context: sampler.
func (b *qinstRecorder) ran() bool {
	cpu := qinstThreadCPUOf(b.tid)
	if b.burst != qinstBurst.n {
		b.burst, b.burstCPU, b.lookCPU = qinstBurst.n, cpu, cpu
		return false
	}
	before := b.lookCPU
	b.lookCPU = cpu
	return cpu-before >= qinstRanNS && cpu-b.burstCPU >= qinstWarmNS
}

// weight returns the time that a look at a thread in a system call stands for, 0 for none.
// A call may last for hours.
// Context: sampler.
func (s *qinstSampler) weight(b *qinstRecorder, now uint64, gap int64) int64 {
	age := float64(now-max(b.last, b.call)) * s.tickNS
	if age <= qinstSampleOld {
		return gap
	}
	if float64(cheaprand()) > qinstSampleOld/age*(1<<32) {
		return 0
	}
	return int64(float64(gap) * age / qinstSampleOld)
}

// path is where in the program a goroutine is, that runs meanwhile. The innermost frames
// are read first: they change most often.
// The memory may be another goroutine's by the time it is read, which is harmless as it
// is never unmapped, and found out at the end.
// Context: sampler.
func (s *qinstSampler) path(gp *g) (path uint32) {
	st := gp.qinstStack
	if st == nil {
		return 0
	}
	entries := atomic.Loaduintptr(&st.entries)
	d := min(atomic.LoadAcq(&st.depth), st.size)
	n := uint32(0) // in points, innermost first
	for i := d; i > 0; i-- {
		if n == qinstSampleDepth/2 && i > qinstSampleDepth/2 {
			i = qinstSampleDepth / 2
		}
		s.points[n] = atomic.Load((*uint32)(unsafe.Pointer(entries+uintptr(i-1)*16))) &^ qinstLate
		n++
	}
	if gp.qinstStack != st || atomic.Loaduintptr(&st.entries) != entries {
		return 0 // the stack has grown: the memory may be another goroutine's by now
	}
	last := ^uint32(0)
	for ; n > 0; n-- {
		if p := s.points[n-1]; p != last {
			path, last = qinstPathInto(path, p), p
		}
	}
	return path
}
