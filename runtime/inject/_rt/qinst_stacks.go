package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// Profile stacks. A goroutine has none until it enters a procedure that is traced,
// then a small one, then one that is twice as large, and so on; they go back when
// it ends. All of them together have a limit. At the limit new goroutines run
// without one, and what they enter is counted; others keep theirs, and entries beyond
// its size are traced but not stored.

// qinstStackSizes are the stacks' sizes in entries of 16 bytes; the head is one.
var qinstStackSizes = [...]uint32{7, 15, 31, 63, 127, 255, 511, 1023, 2047, 4095, 8191, 16383}

var (
	qinstStacks     [len(qinstStackSizes)]qinstPool
	qinstStackBytes atomic.Int64 // of all that were ever handed out
	qinstStackless  uint64       // entries of goroutines that got none
)

// qinstMapStacks makes room for as many stacks as there may be.
func qinstMapStacks() bool {
	size := uintptr(qinstSet.mostStacks) + uintptr(qinstStackSizes[len(qinstStackSizes)-1]+1)*16
	base := qinstAnonymous(size * uintptr(len(qinstStackSizes)))
	for class, entries := range qinstStackSizes {
		l := &qinstStacks[class]
		l.base, l.stride = base+uintptr(class)*size, uintptr(entries+1)*16
	}
	return base != 0
}

// qinstNewStack returns a stack of a class, nil if there is no room.
//
//go:nosplit
func qinstNewStack(class uint32) *qinstStack {
	l := &qinstStacks[class]
	i := l.pop()
	if i == 0 {
		if qinstStackBytes.Add(int64(l.stride)) > int64(qinstSet.mostStacks) {
			qinstStackBytes.Add(-int64(l.stride))
			return nil
		}
		i = l.fresh.Add(1)
	}
	s := (*qinstStack)(unsafe.Pointer(l.base + uintptr(i-1)*l.stride))
	s.depth, s.size, s.class = 0, qinstStackSizes[class], class
	return s
}

// qinstDropStack puts a stack back.
//
//go:nosplit
func qinstDropStack(s *qinstStack) {
	l := &qinstStacks[s.class]
	l.push(uint32((uintptr(unsafe.Pointer(s))-l.base)/l.stride) + 1)
}

// qinstStackFor returns a stack with room for one more entry on gp's profile
// stack. A stack that cannot grow is returned as it is: entries beyond it are
// counted and not stored. It returns nil on a system stack (timer functions and
// pool cleanups of an instrumented package run there: they are counted only).
//
//go:nosplit
func qinstStackFor(gp *g, b *qinstBlock) *qinstStack {
	if gp != gp.m.curg {
		return nil
	}
	old := gp.qinstStack
	if old == nil {
		s := qinstNewStack(0)
		if s == nil {
			atomic.Xadd64(&qinstStackless, 1)
		}
		gp.qinstStack = s
		return s
	}
	if next := old.class + 1; old.depth == old.size && next < uint32(len(qinstStackSizes)) {
		if s := qinstNewStack(next); s != nil {
			s.depth = old.depth
			for i := range old.size {
				*s.frame(i) = *old.frame(i)
			}
			gp.qinstStack = s
			qinstDropStack(old)
			return s
		}
	}
	b.overflow++
	return old
}

// qinstFreeStack takes the profile stack of a goroutine that ended, and its tallies.
//
//go:nosplit
func qinstFreeStack(gp *g) {
	qinstTalliesLeft(gp, 0)
	if s := gp.qinstStack; s != nil {
		gp.qinstStack = nil
		qinstDropStack(s)
	}
}
