package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
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

// Each class has addresses for all the memory that stacks may use together. Only memory that
// was handed out is touched.
var (
	qinstStacks     [len(qinstStackSizes)]qinstPool
	qinstStackRooms [len(qinstStackSizes)]qinstRoom
	qinstStackBytes atomic.Int64 // of all that were ever handed out
	qinstStackless  uint64       // entries of goroutines that got none
)

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

// qinstOpenSlow is where qinst_enter goes with a hit that is not traced and finds no
// room on the profile stack.
// Context: probe.
//
//go:nosplit
func qinstOpenSlow(point uint32) (uint64, *qinstStack) {
	gp := getg()
	return qinstOpen(gp, point, uint32(gp.stack.hi-sys.GetCallerSP()))
}

// qinstOpen puts a point on the profile stack and returns its exit's token.
// The depth is stored with release: a sampler that sees it must see the frame, too.
// Context: probe.
//
//go:nosplit
func qinstOpen(gp *g, point, below uint32) (uint64, *qinstStack) {
	s := gp.qinstStack
	if s == nil || s.depth >= s.size {
		if s = qinstStackFor(gp, gp.m.qinst); s == nil || s.depth >= s.size {
			return 0, nil
		}
	}
	d := s.depth
	f := s.frame(d)
	f.point, f.below = point|qinstUntraced, below // trips are those of traced loops
	atomic.StoreRel(&s.depth, d+1)
	return uint64(d + 1), s
}

// qinstClose is the exit of an entry that is not traced. Should traced ones lie above it,
// a recovered panic left them with it.
// An event closes traced entries above. The others need none, because they had no event.
// Context: probe.
//
//go:nosplit
func qinstClose(token uint64) {
	gp := getg()
	s, d := gp.qinstStack, qinstDepthOf(token)
	if s == nil {
		return
	}
	if told := s.traced(d); s.depth > s.size || s.depth > d && s.traced(s.depth) != told {
		qinstPut(qinstNow(), gp.goid, qinstEvUnwind<<24|uint64(told))
	}
	s.depth = min(d, s.depth)
}

// qinstPopTimed takes a timed activation from the profile stack. Its token has no room
// for the depth.
// It looks at 64 entries at most, since an exit must not take longer the deeper the
// program is. One that is not found there stays until its caller's exit sets the depth.
// Context: probe.
//
//go:nosplit
func qinstPopTimed(point uint32) {
	gp := getg()
	s := gp.qinstStack
	if s == nil {
		return
	}
	d := min(s.depth, s.size)
	for i := d; i > 0 && i+64 > d; i-- {
		if s.frame(i-1).point&^qinstLate == point|qinstUntraced {
			qinstLoopsLeft(gp, s, i)
			qinstClose(uint64(i))
			return
		}
	}
}
