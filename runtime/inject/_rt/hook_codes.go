package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// qinstTells takes the signal by which a sampler asks where its thread is. It reports whether that
// is all that the signal is for.
// Context: hook.
//
//go:nowritebarrierrec
func qinstTells(c *sigctxt, gp *g) bool {
	mp := getg().m
	const fromTimer = -2
	if mp == nil || mp.qinst == nil || atomic.Load(&mp.qinst.look.state) != qinstLookAsked || qinstTimers != 0 &&
		int32(c.sigcode()) != fromTimer {
		return false
	}
	b, from := mp.qinst, qinstNow()
	l := &b.look
	l.ticks, l.code, l.path = from, 0, 0
	if cur := mp.curg; cur != nil && cur.goid == b.g && readgstatus(cur)&^_Gscan != _Gsyscall && !mp.incgo &&
		*cgo_yield == nil {
		// C's race detector may call the handler late, when the stack is another one
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
		if n == 0 && u.frame.fn.valid() && qinstEndsAtomic(u.frame.pc, u.frame.fn.entry()) {
			// The signal came when that had ended, after all the time that it took: it is where the
			// thread was.
			pcs[n] = u.frame.pc
		}
		n++
	}
	return qinstCodeFor(&pcs, n, u.valid())
}

// qinstCodeFor is the code of the innermost n pcs of a stack; cut shows that there are more. If
// there is no room for the calls, it is that of the pc alone: what ran matters most.
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

// qinstCodeInto is the code that leads from another one, 0 for none, to a pc; 0 if there is no
// room.
// Context: hook, sampler.
//
//go:nosplit
func qinstCodeInto(from uint32, pc uintptr) uint32 {
	mine := uint32(0)
	h := (uint64(from)*0x9E3779B97F4A7C15 ^ uint64(pc)) * 0xff51afd7ed558ccd
	for i := uintptr(0); ; i++ {
		slot := (*uint32)(unsafe.Pointer(qinstCodeTable + qinstPlace(h, i, qinstCodeBits+1)*4))
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

// qinstNewCode stores a code; 0 if there is no room. Some numbers are kept for pcs behind calls
// that are not known, which code 1 stands for. Threads that race may take some of these.
// Context: hook, sampler.
//
//go:nosplit
func qinstNewCode(from uint32, pc uintptr) uint32 {
	now := qinstNCodes.Load()
	if from > 1 && now >= qinstMostCodes-qinstCodeSpare ||
		!qinstCodes.upTo(uintptr(min(now+64, qinstMostCodes))*unsafe.Sizeof(qinstCode{})) {
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

// qinstPathOf is the path of the running goroutine, for one that it starts; 0 if events
// tell all of it.
// Context: hook.
//
//go:nosplit
func qinstPathOf(gp *g) (path uint32) {
	// Without samples nothing below trace is on profile stacks, so that events show all
	// there is.
	if qinstSampling == 0 || gp == nil || gp.qinstStack == nil {
		return 0
	}
	s := gp.qinstStack
	d, i := min(s.depth, s.size), uint32(0)
	for i < d && s.frame(i).point&qinstUntraced == 0 {
		i++
	}
	if i == d {
		return 0
	}
	for i, last := uint32(0), ^uint32(0); i < d; i++ {
		if p := s.frame(i).point &^ qinstLate; p != last {
			path, last = qinstPathInto(path, p), p
		}
	}
	return path
}

// qinstIsIn reports whether the innermost entry of a profile stack is a procedure's, or that of a
// loop in it.
// Context: hook.
func qinstIsIn(gp *g, proc uint32) bool {
	s := gp.qinstStack
	if s == nil || s.depth == 0 || s.depth > s.size {
		return false
	}
	p := s.frame(s.depth-1).point & (qinstMaxPoints - 1)
	return p-qinstRulingOf(p).within == proc
}

// qinstWholePath is where the running goroutine is, traced or not: the outer and the inner part of
// a very deep profile stack.
// Context: hook.
func qinstWholePath(gp *g) (path uint32) {
	s := gp.qinstStack
	if s == nil {
		return 0
	}
	d, last := min(s.depth, s.size), ^uint32(0)
	for i := uint32(0); i < d; i++ {
		if i == qinstSampleDepth/2 && d > qinstSampleDepth {
			i = d - qinstSampleDepth/2
		}
		if p := s.frame(i).point &^ qinstLate; p != last {
			path, last = qinstPathInto(path, p), p
		}
	}
	return path
}
