package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// Where a thread is that runs, only the thread itself can tell: its profile stack has no procedure that
// is held, and shows a leaf for half of its time only, between the two probes. So a sampler sets a timer of the
// thread's processor time, whose signal comes with the system's next tick that finds the thread on a processor.
// The signal's handler follows the stack as package runtime's own profiler does.
//
// A signal that is sent would come sooner, but not at any place: in a virtual machine it waits for tens of
// microseconds, or for the end of a system call. And it interrupts another processor, which is expensive there.
//
// The signal is the one by which package runtime preempts goroutines. Programs get it at any time
// in any case, and it may come without a reason. Before it comes the thread may
// enter a system call: package runtime's preemption has the same gap, and the system restarts calls. While the thread
// waits in one no timer of its processor time goes off, and the next look stops the timer.
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

	qinstLookFirst = 1000 // looks of a sampler that are as frequent as is set
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

// qinstCode is a place in the text, and the code of the call that leads there. Calls on the way stand in
// it once, whatever the depth of a recursion: otherwise each of its stacks would have codes of its own.
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

// qinstPrepareLooks makes room for codes. Without it threads are not asked, and profile stacks show alone.
// Context: writer.
func qinstPrepareLooks() {
	qinstCodeTable = qinstAnonymous(qinstCodeSlots * 4)
	if qinstCodeTable == 0 || !qinstCodes.reserve(qinstMostCodes*unsafe.Sizeof(qinstCode{}), 1<<16) {
		return
	}
	qinstLooks = 1
	const coarse = 6 // the clock that ticks
	var tick timespec
	if _, _, e := linux.Syscall6(qinstSysClockRes, coarse, uintptr(unsafe.Pointer(&tick)), 0, 0, 0, 0); e == 0 {
		qinstTimerTickNS = tick.tv_sec*1e9 + tick.tv_nsec
		qinstTimers = 1
	}
}

// ask asks a thread where it is, and reports whether it was not asked before. Its next answer stands for all looks that
// found it running until then: otherwise calls of the system, in which it is found by the looks themselves, would weigh more. A timer is set again: its signal may have
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

// setTimer lets a timer go off when the thread has used so much more processor time, in ns; 0 stops it. It reports
// whether it could. Where the system gives no timers, signals are sent after that.
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

// makeTimer makes a timer of a thread's processor time, in the place of that of a thread that has ended.
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

// tellingNS is the processor time that threads took to tell the sampler where they are, in ns. What the system does
// to deliver a timer's signal is about as much as its handler does; to deliver one that was sent, as much as it does for the
// sampler.
// Context: writer, sampler.
func (s *qinstSampler) tellingNS() float64 {
	ns := float64(s.took) * s.tickNS
	if qinstTimers != 0 {
		return 2 * ns
	}
	return float64(atomic.Load64(&s.cpu)) + ns
}

// qinstLooksCPU is that time for all samplers.
// Context: writer.
func qinstLooksCPU() (ns uint64) {
	for i := range qinstSamplers {
		if s := &qinstSamplers[i]; s.asked > 0 {
			ns += uint64(s.tellingNS())
		}
	}
	return ns
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

// qinstTells takes the signal by which a sampler asks where its thread is. It reports whether that is
// all that the signal is for.
// Context: hook.
//
//go:nowritebarrierrec
func qinstTells(c *sigctxt, gp *g) bool {
	mp := getg().m
	const fromTimer = -2
	if mp == nil || mp.qinst == nil || atomic.Load(&mp.qinst.look.state) != qinstLookAsked || qinstTimers != 0 && int32(c.sigcode()) != fromTimer {
		return false
	}
	b, from := mp.qinst, qinstNow()
	l := &b.look
	l.ticks, l.code, l.path = from, 0, 0
	if cur := mp.curg; cur != nil && cur.goid == b.g && readgstatus(cur)&^_Gscan != _Gsyscall && !mp.incgo && *cgo_yield == nil { // C's race detector may call the handler late, when the stack is another one
		mp.mallocing++ // a fault instead of a corrupt heap, should the unwinder ever allocate
		l.code = qinstCodeOf(c, gp, mp)
		mp.mallocing--
		if l.code != 0 {
			l.path = qinstWholePath(cur)
		}
	}
	l.took += qinstNow() - from
	atomic.Store(&l.state, qinstLookDone)
	return mp.signalPending.Load() == 0 // otherwise it is a preemption, too
}

// qinstCodeOf is where the thread was when the signal came.
// Context: hook.
//
//go:nowritebarrierrec
func qinstCodeOf(c *sigctxt, gp *g, mp *m) uint32 {
	var u unwinder
	if mp.vdsoSP != 0 {
		u.initAt(mp.vdsoPC, mp.vdsoSP, 0, gp, unwindSilentErrors|unwindJumpStack)
	} else {
		u.initAt(c.sigpc(), c.sigsp(), c.siglr(), gp, unwindSilentErrors|unwindTrap|unwindJumpStack)
	}
	var pcs [qinstCodeDepth]uintptr
	n := 0
	for ; n < len(pcs) && u.valid(); u.next() {
		pcs[n] = u.symPC() + 1 // as a return address
		n++
	}
	return qinstCodeFor(&pcs, n, u.valid())
}

// qinstCodeFor is the code of the innermost n pcs of a stack; cut shows that there are more. If there is no room
// for the calls, it is that of the pc alone: what ran matters most.
// Context: hook, sampler.
func qinstCodeFor(pcs *[qinstCodeDepth]uintptr, n int, cut bool) uint32 {
	if n == 0 {
		return 0
	}
	from := uint32(0)
	if cut {
		from = qinstCodeInto(0, 1)
	}
	var seen [16]uint64 // a filter: of most frames it shows that they were not there before
	for i := n - 1; i >= 0; i-- {
		h := pcs[i] * 0x9E3779B97F4A7C15 >> 54
		if i > 0 && seen[h/64]>>(h%64)&1 != 0 && qinstIsAmong(pcs[i+1:n], pcs[i]) {
			continue
		}
		seen[h/64] |= 1 << (h % 64)
		if from = qinstCodeInto(from, pcs[i]); from == 0 {
			atomic.Xadd64(&qinstLostCodes, 1)
			return qinstCodeInto(qinstCodeInto(0, 1), pcs[0])
		}
	}
	return from
}

// codeOfCall is where a goroutine is that was in a system call when the thread's last event was
// written; 0 if it is not any more. Its stack does not change in the call, and is followed by its frame
// pointers. If the call ends meanwhile, what is read is of no use, but harmless: stacks are never unmapped.
// Context: sampler.
func (b *qinstRecorder) codeOfCall(gp *g) uint32 {
	last := atomic.Load64(&b.last)
	pc, fp, lo, hi := gp.syscallpc, gp.syscallbp, gp.stack.lo, gp.stack.hi
	var pcs [qinstCodeDepth]uintptr
	n := 0
	for more := pc != 0; more && n < len(pcs); n++ {
		pcs[n] = pc
		if more = fp > lo && fp < hi-2*goarch.PtrSize && fp%goarch.PtrSize == 0; more {
			pc, lo, fp = atomic.Loaduintptr((*uintptr)(unsafe.Pointer(fp+goarch.PtrSize))), fp, atomic.Loaduintptr((*uintptr)(unsafe.Pointer(fp)))
		}
	}
	if atomic.Load64(&b.last) != last || readgstatus(gp)&^_Gscan != _Gsyscall || uintptr(unsafe.Pointer(gp)) != atomic.Loaduintptr(&b.gp) {
		return 0
	}
	return qinstCodeFor(&pcs, n, n == len(pcs))
}

// qinstIsAmong reports whether a list has a pc.
// Context: hook, sampler.
func qinstIsAmong(list []uintptr, pc uintptr) bool {
	for _, x := range list {
		if x == pc {
			return true
		}
	}
	return false
}

// qinstCodeInto is the code that leads from another one, 0 for none, to a pc; 0 if there is no room.
// Context: hook, sampler.
//
//go:nosplit
func qinstCodeInto(from uint32, pc uintptr) uint32 {
	mine := uint32(0)
	for i := (uint64(from)*0x9E3779B97F4A7C15 ^ uint64(pc)) * 0xff51afd7ed558ccd >> (63 - qinstCodeBits); ; i++ {
		slot := (*uint32)(unsafe.Pointer(qinstCodeTable + uintptr(i%qinstCodeSlots)*4))
		got := atomic.Load(slot)
		if got == 0 {
			if mine == 0 {
				if mine = qinstNewCode(from, pc); mine == 0 {
					return 0
				}
			}
			if atomic.Cas(slot, 0, mine) {
				return mine
			}
			got = atomic.Load(slot) // another thread's
		}
		if at := qinstCodeAt(got); at.from == uint64(from) && at.pc == pc {
			return got
		}
	}
}

// qinstNewCode stores a code; 0 if there is no room. Some numbers are kept for pcs behind calls that are not
// known, which code 1 stands for. Threads that race may take some of these.
// Context: hook, sampler.
//
//go:nosplit
func qinstNewCode(from uint32, pc uintptr) uint32 {
	now := qinstNCodes.Load()
	if from > 1 && now >= qinstMostCodes-qinstCodeSpare || !qinstCodes.upTo(uintptr(min(now+64, qinstMostCodes))*unsafe.Sizeof(qinstCode{})) {
		return 0
	}
	n := qinstNCodes.Add(1)
	if n > qinstMostCodes {
		qinstNCodes.Add(-1)
		return 0
	}
	c := qinstCodeAt(n)
	c.from = uint64(from)
	atomic.Storeuintptr(&c.pc, pc)
	return n
}

// qinstCodeAt is code n.
// Context: hook, writer, sampler.
//
//go:nosplit
func qinstCodeAt(n uint32) *qinstCode {
	return (*qinstCode)(unsafe.Pointer(qinstCodes.base + uintptr(n-1)*unsafe.Sizeof(qinstCode{})))
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
			qinstPut3(max(l.ticks, getg().m.qinst.last), 0, qinstEvLook<<24|uint64(b.num), uint64(l.path)|weight|first<<63, uint64(l.code))
			first = 0
		}
	}
}

// qinstWeight is the time between looks, in its place in a sample.
// Context: sampler.
func qinstWeight(gap int64) uint64 { return uint64(min(gap/1000, 1<<31-1)) << 32 }

// qinstWriteCodes writes the codes that came since the last call.
// Context: writer.
func qinstWriteCodes() {
	for first := qinstCodesOut; ; first = qinstCodesOut {
		n := uint32(0)
		for limit := min(qinstNCodes.Load(), qinstMostCodes); first+n < limit && n < 512 && atomic.Loaduintptr(&qinstCodeAt(first+n+1).pc) != 0; {
			n++
		}
		if n == 0 {
			return
		}
		qinstRecordCode(first+1, n, uint64(n)*16)
		for i := range n {
			c := qinstCodeAt(first + i + 1)
			entry, line := qinstLineOf(c.pc)
			qinstWord(c.from | uint64(line)<<32)
			qinstWord(uint64(entry))
		}
		qinstSeal()
		qinstCodesOut += n
	}
}

// qinstLineOf returns the entry of the function that a return address is in, and the line in that
// function's own text: that of the call, where another one is inlined. A record tells the function's name.
// Context: writer.
func qinstLineOf(pc uintptr) (entry uintptr, line int) {
	f := findfunc(pc - 1)
	if !f.valid() {
		return 0, 0
	}
	entry = f.entry()
	qinstNotePC(entry)
	u, uf := newInlineUnwinder(f, pc-1)
	for ; uf.valid(); uf = u.next(uf) {
		_, line = u.fileLine(uf)
	}
	return entry, line
}
