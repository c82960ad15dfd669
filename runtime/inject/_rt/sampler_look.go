package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"unsafe"
)

// Where a thread is that runs, only the thread itself can tell: its profile stack has no procedure
// that is held, and shows a leaf for half of its time only, between the two probes. So a sampler
// sets a timer of the thread's processor time, whose signal comes with the system's next tick that
// finds the thread on a processor. The signal's handler follows the stack as package runtime's own
// profiler does.
//
// A signal that is sent would come sooner, but not at any place: in a virtual machine it waits for
// tens of microseconds, or for the end of a system call. And it interrupts another processor, which
// is expensive there.
//
// The signal is the one by which package runtime preempts goroutines. Programs get it at any time
// in any case, and it may come without a reason. Before it comes the thread may enter a system
// call: package runtime's preemption has the same gap, and the system restarts calls. While the
// thread waits in one no timer of its processor time goes off, and the next look stops the timer.
//
// The handler may have interrupted a probe that is about to write an event. So it writes none,
// and leaves what it found in the recorder. The sampler takes it with its next look.

// States of a look.
const (
	qinstLookNone = iota
	qinstLookAsked
	qinstLookDone
)

const (
	qinstCodeBits  = 17
	qinstMostCodes = 1<<qinstCodeBits - 1
	qinstCodeSlots = 1 << (qinstCodeBits + 1)
	qinstCodeSpare = 1 << 15 // of these numbers: for the innermost calls, when the others are used up
	qinstCodeDepth = 400     // frames of a stack, the innermost ones

	qinstLookFirst = 300  // looks of a sampler that are as frequent as is set
	qinstPartLooks = 0.15 // of the budget, for those after them
)

// qinstLook is what a thread found when it was asked where it is.
type qinstLook struct {
	state uint32
	timer int32
	of    uint32 // thread of the timer; 0: there is none
	path  uint32
	code  uint32
	ticks uint64
	took  uint64 // ticks, by all looks at the thread
}

// qinstCode is a place in the text, and the code of the call that leads there. Calls on the way
// stand in it once, whatever the depth of a recursion: otherwise each of its stacks would have
// codes of its own.
type qinstCode struct {
	from uint64
	pc   uintptr // after the call, or the instruction that ran; 1: calls that are not known; 0: not stored yet
}

var (
	qinstLooks       uint8     // threads are asked
	qinstTimers      uint8     // by timers
	qinstTimerTickNS int64     // of the system's, at which these go off
	qinstCodes       qinstRoom // of qinstCode, code n at n-1
	qinstCodeTable   uintptr   // of uint32: numbers
	qinstNCodes      atomic.Uint32
	qinstCodesOut    uint32 // written to the file
	qinstLostCodes   uint64
)

// ask asks a thread where it is, and reports whether it was not asked before. Its next answer
// stands for all looks that found it running until then: otherwise calls of the system, in which it
// is found by the looks themselves, would weigh more. A timer is set again: its signal may have
// been taken for another one.
// Context: sampler.
func (b *qinstRecorder) ask() bool {
	b.looks++
	first := atomic.Cas(&b.look.state, qinstLookNone, qinstLookAsked)
	switch {
	case atomic.Load(&b.look.state) != qinstLookAsked:
		return false
	case qinstTimers != 0 && b.setTimer(1):
	case first:
		tgkill(getpid(), int(b.tid), sigPreempt)
	}
	return first
}

// unask stops the timer of a thread that does not run: it may be in C code when it runs again.
// Context: sampler.
func (b *qinstRecorder) unask() {
	if qinstTimers != 0 && atomic.Load(&b.look.state) == qinstLookAsked && b.setTimer(0) {
		atomic.Cas(&b.look.state, qinstLookAsked, qinstLookNone)
	}
}

// setTimer lets a timer go off when the thread has used so much more processor time, in ns; 0 stops
// it. It reports whether it could. Where the system gives no timers, signals are sent after that.
// Context: sampler.
func (b *qinstRecorder) setTimer(ns int64) bool {
	l, tid := &b.look, b.tid
	if tid == 0 { // it has just ended
		return true
	}
	if l.of != tid && !l.makeTimer(tid) {
		return false
	}
	var t itimerspec
	t.it_value.tv_nsec = ns
	if timer_settime(l.timer, 0, &t, nil) != 0 { // the number is another thread's now
		timer_delete(l.timer)
		l.of = 0
	}
	return l.of != 0
}

// makeTimer makes a timer of a thread's processor time, in the place of that of a thread that has
// ended.
// Context: sampler.
func (l *qinstLook) makeTimer(tid uint32) bool {
	if l.of != 0 {
		timer_delete(l.timer)
		l.of = 0
	}
	var e sigevent
	e.signo, e.notify, e.sigev_notify_thread_id = sigPreempt, _SIGEV_THREAD_ID, int32(tid)
	const ofThread = 6
	switch timer_create(^int32(tid)<<3|ofThread, &e, &l.timer) {
	case 0:
		l.of = tid
	case -_EINVAL: // there is no such thread any more
	default:
		qinstTimers = 0
	}
	return l.of != 0
}

// tellingNS is the processor time that threads took to tell the sampler where they are, in ns. What
// the system does to deliver a timer's signal is about as much as its handler does; to deliver one
// that was sent, as much as it does for the sampler.
// Context: writer, sampler.
func (s *qinstSampler) tellingNS() float64 {
	ns := float64(s.took) * s.tickNS
	if qinstTimers != 0 {
		return 2 * ns
	}
	return float64(atomic.Load64(&s.cpu)) + ns
}

// afford returns the mean time between looks that the budget allows. A short run
// needs looks most, so that the first ones are as frequent as is set.
// Context: sampler.
func (s *qinstSampler) afford() int64 {
	gap := qinstSet.sampleGap
	if qinstTimers != 0 {
		gap = max(gap, qinstTimerTickNS/2) // a thread tells at every other tick, at most
	}
	if !qinstBudgetOn || s.asked < qinstLookFirst {
		return gap
	}
	took := float64(atomic.Load64(&s.cpu)) + s.tellingNS()
	return max(gap, int64(took/float64(s.asked)/(qinstPartLooks*qinstBudgeting.Target)))
}

// codeOfCall is where a goroutine is that was in a system call when the thread's last event was
// written; 0 if it is not any more. Its stack does not change in the call, and is followed by its
// frame pointers. If the call ends meanwhile, what is read is of no use, but harmless: stacks are
// never unmapped.
// Context: sampler.
func (b *qinstRecorder) codeOfCall(gp *g) uint32 {
	last := atomic.Load64(&b.last)
	pc, fp, lo, hi := gp.syscallpc, gp.syscallbp, gp.stack.lo, gp.stack.hi
	var pcs [qinstCodeDepth]uintptr
	n := 0
	for more := pc != 0; more && n < len(pcs); n++ {
		pcs[n] = pc
		if more = fp > lo && fp < hi-2*goarch.PtrSize && fp%goarch.PtrSize == 0; more {
			pc, lo, fp = atomic.Loaduintptr((*uintptr)(unsafe.Pointer(fp+goarch.PtrSize))), fp,
				atomic.Loaduintptr((*uintptr)(unsafe.Pointer(fp)))
		}
	}
	if atomic.Load64(&b.last) != last || readgstatus(gp)&^_Gscan != _Gsyscall ||
		uintptr(unsafe.Pointer(gp)) != atomic.Loaduintptr(&b.gp) {
		return 0
	}
	return qinstCodeFor(&pcs, n, n == len(pcs))
}

// tell writes what threads have found since the last look, in the order of their times.
// Context: sampler.
func (s *qinstSampler) tell(me uint32) {
	var list [64]*qinstRecorder
	n := 0
	for i := me; i < qinstNUsed.Load() && n < len(list); i += qinstSet.samplers {
		b := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[atomic.Load(&qinstUsed[i])]))
		if atomic.Load(&b.look.state) != qinstLookDone {
			continue
		}
		k := n
		for ; k > 0 && list[k-1].look.ticks > b.look.ticks; k-- {
			list[k] = list[k-1]
		}
		list[k] = b
		n++
	}
	first := uint64(1)
	for _, b := range list[:n] {
		l := b.look
		s.took += l.took - b.lookTook
		b.lookTook = l.took
		atomic.Store(&b.look.state, qinstLookNone)
		weight := qinstWeight(s.gap * int64(max(b.looks, 1)))
		b.looks = 0
		if l.code != 0 {
			qinstPut3(max(l.ticks, getg().m.qinst.last), 0, qinstEvLook<<24|uint64(b.num),
				uint64(l.path)|weight|first<<63, uint64(l.code))
			first = 0
		}
	}
}

// qinstWeight is the time between looks, in its place in a sample.
// Context: sampler.
func qinstWeight(gap int64) uint64 { return uint64(min(gap/1000, 1<<31-1)) << 32 }

// qinstThreadCPUOf is that of any thread of the process, 0 if there is none of that number.
// Context: sampler.
func qinstThreadCPUOf(tid uint32) uint64 {
	const perThread, scheduled = 4, 2 // how the kernel numbers the clocks of others
	return qinstReadClock(^uintptr(tid)<<3 | perThread | scheduled)
}
