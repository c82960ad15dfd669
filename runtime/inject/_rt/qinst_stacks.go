package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// A profile stack makes exits cheap and panics harmless: an exit sets the depth to that of
// its entry, so that one store also closes all entries that were left open above it.

// Profile stacks. A goroutine has none until it enters a procedure that is traced,
// then a small one, then one that is twice as large, and so on; they go back when
// it ends. All of them together have a limit. At the limit new goroutines run without
// one, and their entries are counted. Other goroutines keep their stacks, and entries
// beyond the size are traced but not stored.

// qinstStackSizes are how many entries of 16 bytes the memory of a class has. The first
// one's is that of the stack itself, too; in the others the first 16 bytes are the list's.
var qinstStackSizes = [...]uint32{6, 15, 31, 63, 127, 255, 511, 1023, 2047, 4095, 8191, 16383}

// qinstStackStride is the size of a class's memory.
// Context: writer.
//
//go:nosplit
func qinstStackStride(class uint32) uintptr { return 128 << class }

// Each class has addresses for all the memory that stacks may use together. Only memory that
// was handed out is touched.
var (
	qinstStacks     [len(qinstStackSizes)]qinstPool
	qinstStackRooms [len(qinstStackSizes)]qinstRoom
	qinstStackBytes atomic.Int64 // of all that were ever handed out
	qinstStackless  uint64       // entries of goroutines that got none
)

// qinstMapStacks makes room for as many stacks as there may be.
// Context: writer.
func qinstMapStacks() bool {
	for class := range qinstStacks {
		l, r := &qinstStacks[class], &qinstStackRooms[class]
		l.stride = qinstStackStride(uint32(class))
		if !r.reserve(uintptr(qinstSet.mostStacks), max(1<<16, l.stride)) {
			return false
		}
		l.base = r.base
	}
	return true
}

// qinstStackMemory returns memory of a class, 0 if there is no room.
// Fresh memory is counted before it is taken: all classes together have one bound.
// Context: probe.
//
//go:nosplit
func qinstStackMemory(class uint32) uintptr {
	l := &qinstStacks[class]
	i := l.pop()
	if i == 0 {
		if qinstStackBytes.Add(int64(l.stride)) > int64(qinstSet.mostStacks) {
			qinstStackBytes.Add(-int64(l.stride))
			return 0
		}
		if i = l.fresh.Add(1); !qinstStackRooms[class].upTo(uintptr(i) * l.stride) {
			qinstStackBytes.Add(-int64(l.stride))
			return 0
		}
	}
	return l.base + uintptr(i-1)*l.stride
}

// qinstDropMemory puts memory of a class on its list, where the next stack of that size
// finds it.
// Context: probe, hook.
//
//go:nosplit
func qinstDropMemory(class uint32, p uintptr) {
	l := &qinstStacks[class]
	l.push(uint32((p-l.base)/l.stride) + 1)
}

// qinstNewStack returns a small stack, nil if there is no room.
// Context: probe.
//
//go:nosplit
func qinstNewStack() *qinstStack {
	p := qinstStackMemory(0)
	s := (*qinstStack)(unsafe.Pointer(p))
	if s != nil {
		s.depth, s.size, s.class, s.owed = 0, qinstStackSizes[0], 0, 0
		atomic.Storeuintptr(&s.entries, p+unsafe.Sizeof(*s))
	}
	return s
}

// dropEntries puts the memory of a stack's entries back, unless it is the stack's.
// Context: probe, hook.
//
//go:nosplit
func (s *qinstStack) dropEntries() {
	if s.class != 0 {
		qinstDropMemory(s.class, s.entries-16)
	}
}

// qinstStackFor returns a stack with room for one more entry on gp's profile
// stack. A stack that cannot grow is returned as it is: entries beyond it are
// counted and not stored. It returns nil on a system stack (timer functions and
// pool cleanups of an instrumented package run there: they are counted only).
// The stack's address stays when its entries move, because instrumented code holds it
// across calls.
// Context: probe.
//
//go:nosplit
func qinstStackFor(gp *g, b *qinstRecorder) *qinstStack {
	// A system stack belongs to the thread and not to a goroutine. Its procedures leave
	// no frames that could be unwound here.
	if gp != gp.m.curg {
		return nil
	}
	s := gp.qinstStack
	if s == nil {
		if s = qinstNewStack(); s == nil {
			atomic.Xadd64(&qinstStackless, 1)
		}
		gp.qinstStack = s
		return s
	}
	// Twice as large each time, so that a recursion of depth n copies at most 2n entries
	// in all.
	if class := s.class + 1; s.depth == s.size && class < uint32(len(qinstStackSizes)) {
		if p := qinstStackMemory(class); p != 0 {
			memmove(unsafe.Pointer(p+16), unsafe.Pointer(s.entries), uintptr(s.size)*16)
			s.dropEntries()
			atomic.Storeuintptr(&s.entries, p+16)
			s.size, s.class = qinstStackSizes[class], class
			return s
		}
	}
	b.overflow++
	return s
}

// qinstFreeStack takes the profile stack of a goroutine that ended, and a ledger that it kept.
// It stands in gdestroy, after the goroutine's last event, since the g is another
// goroutine's right after.
// Context: hook.
//
//go:nosplit
func qinstFreeStack(gp *g) {
	qinstStopped(gp)
	if s := gp.qinstStack; s != nil {
		gp.qinstStack = nil
		s.dropEntries()
		qinstDropMemory(0, uintptr(unsafe.Pointer(s)))
	}
}
