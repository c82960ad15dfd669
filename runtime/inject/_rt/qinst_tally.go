package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// The price of a tally is its two ends: an activation takes one at its entry and gives it
// back at its exit. So only procedures that call in loops, or often, have one
// (instrument/points decides); a single call has a probe.

// Tallies: the memory in which an activation of a procedure counts its calls, so that
// counting a call in a loop costs an increment and not a call.
//
// A tally belongs to one activation at a time, so that only its goroutine writes to it, on
// any thread. It belongs to the same procedure for good and is never set to zero: the hits
// of a call point are the sum over all tallies of its procedure, in use or waiting for the
// next activation. A panic therefore loses nothing, and summing needs no cooperation. Every
// way out of a procedure gives its tally back: the exit probe, the exit of a procedure
// further out, a recovered panic, the goroutine's end.
//
// Free tallies are on a list of the thread, whose head is in the procedure's first call
// point's counter, for calls are no events; those that another thread took along are on one
// of all threads.
//
// A call whose callee is known at run time only has a second word: the code of the first
// callee that the tally saw. Calls of others are counted by probes.
//
// A g has four bytes that nothing else uses: g.stackLock is the innermost tally.
// A g that is larger by one word is larger by 32 bytes.

const (
	qinstTallyHead = qinstRingTallyHead // the assembly knows it by this name

	qinstTallyBit = qinstRingTally // in a reference, so that it can be told from a number of events
	qinstCode     = qinstRingCode  // in a slab's map: the word is the code of the callees that the one before it counts
)

// qinstTally is followed by its words. References to it are qinstTallyBit and its number
// on the lists.
type qinstTally struct {
	_     sys.NotInHeap
	up    uint32 // the goroutine's next one further out; on a list: the next one
	self  uint32
	below uint32  // as a frame of the profile stack has it
	first uint32  // point
	home  uintptr // recorder on whose list it was
}

// qinstSlab is the head of a page of tallies. The map of their words follows it: for each
// word the distance of its point from the first one, and qinstCode.
type qinstSlab struct {
	_     sys.NotInHeap
	next  uint32 // of those whose first point is in the same page of points, and 1
	first uint32 // point
	n     uint32 // words of a tally
	size  uint32 // of a tally, in bytes
}

// To sum up, readers walk the slabs of a page of points. A slab with counts of these points
// may begin up to qinstReach pages further back.
var (
	qinstSlabs   [qinstMaxPoints >> qinstPageShift]uint32 // the newest one, and 1
	qinstReach   uint32                                   // pages between a slab's first point and its last, at most
	qinstTallies uintptr                                  // of qinstList, one a point: tallies that no thread has
	qinstNSlabs  atomic.Uint32
)

// word returns the meaning of word k of the slab's tallies.
// Context: probe, goroutine, writer.
//
//go:nosplit
func (s *qinstSlab) word(k uint32) *uint16 {
	return (*uint16)(unsafe.Pointer(uintptr(unsafe.Pointer(s)) + qinstRingSlabHead + uintptr(k)*2))
}

// tallies is where the first one is.
// Context: probe, goroutine, writer.
//
//go:nosplit
func (s *qinstSlab) tallies() uintptr {
	return uintptr(unsafe.Pointer(s)) + qinstRingSlabHead + uintptr(s.n+3)&^3*2
}

// qinstMapTallies makes room for the lists of tallies that no thread has.
// Context: start.
func qinstMapTallies() bool {
	qinstTallies = qinstAnonymous(qinstMaxPoints * unsafe.Sizeof(qinstList{}))
	return qinstTallies != 0
}

// qinstTalliesOf is the list of free tallies of the procedure whose calls begin at point
// first.
// Context: probe, hook, writer.
//
//go:nosplit
func qinstTalliesOf(first uint32) *qinstList {
	return (*qinstList)(unsafe.Pointer(qinstTallies + uintptr(first)*unsafe.Sizeof(qinstList{})))
}

// qinstTallyAt is the tally of a reference, which is its distance from the pages in words
// of 8 bytes: 31 bits are enough for all memory that pages can be in.
// Context: probe, hook, writer.
//
//go:nosplit
func qinstTallyAt(ref uint32) *qinstTally {
	return (*qinstTally)(unsafe.Pointer(qinstPages.base + uintptr(ref&^qinstTallyBit-1)*8))
}

// words is the address that instrumented code increments at.
// Context: probe.
//
//go:nosplit
func (t *qinstTally) words() uintptr { return uintptr(unsafe.Pointer(t)) + qinstTallyHead }

// qinstTallySlow is qinst_tally, which gives an activation memory for the counts of its
// calls, where the thread has no free tally: words is what the tally is to hold, as a
// slab's map has it, and first the point that it begins at. It returns 0 if there is no
// memory, or the package is not registered; then the calls are counted by probes.
// A 0 makes the procedure count its calls by probes, so that nothing is lost for want of
// memory.
// Context: probe.
//
//go:nosplit
func qinstTallySlow(first uint32, words *string) uintptr {
	if first >= qinstMaxPoints {
		return 0
	}
	b := qinstRecorderFor(first)
	if b == nil {
		return 0
	}
	c := b.counter(first)
	if c.traced == 0 {
		l := qinstTalliesOf(first)
		if uint32(l.head.Load()) == 0 && !qinstMayHaveSlab() {
			return 0
		}
		systemstack(func() { qinstMoreTallies(b, l, first, *words) })
		if c.traced == 0 {
			return 0
		}
	}
	gp, t := getg(), qinstTallyAt(c.traced)
	c.traced = t.up
	t.up, gp.stackLock = gp.stackLock, t.self
	t.below = uint32(gp.stack.hi - sys.GetCallerSP())
	return t.words()
}

// qinstMayHaveSlab tells whether there may be one more slab: they have half of the pages
// at most, so that threads find pages for their counters. It takes no lock: at the bound
// every activation asks.
// Context: probe.
//
//go:nosplit
func qinstMayHaveSlab() bool { return qinstNSlabs.Load() < qinstSet.mostPages/2 && !qinstOutOfPages() }

// qinstMoreTallies puts a tally on the thread's list, if there is one. All threads may take
// the other tallies of a new slab, because most threads need one at a time.
// Context: probe.
func qinstMoreTallies(b *qinstRecorder, l *qinstList, first uint32, words string) {
	i := l.pop()
	for i == 0 {
		if !qinstMayHaveSlab() || !qinstNewSlab(l, first, words) {
			return
		}
		i = l.pop()
	}
	t := qinstTallyAt(i)
	t.up, t.home = 0, uintptr(unsafe.Pointer(b))
	b.counter(first).traced = t.self
}

// qinstNewSlab makes a page of tallies for the calls of one procedure. It is in the
// directory and on the list of slabs before any of its tallies can be taken, because a
// count that is not summed up would be lost.
// Context: probe.
func qinstNewSlab(l *qinstList, first uint32, words string) bool {
	p := qinstAnyPage()
	if p == 0 {
		return false
	}
	qinstNSlabs.Add(1)
	l.base, l.stride = qinstPages.base, 8
	s := (*qinstSlab)(unsafe.Pointer(p))
	s.first, s.n = first, uint32(len(words)/2)
	s.size = qinstTallyHead + 8*s.n
	// The map comes from the instrumented code: two bytes a word, so that all activations
	// of a procedure agree on what their words count.
	last := uint32(0)
	for k := range s.n {
		*s.word(k) = uint16(words[2*k]) | uint16(words[2*k+1])<<8
		last = max(last, uint32(*s.word(k)&^qinstCode))
	}
	// Raised before the slab can be found, because a sum over a page must look as far back.
	for reach := (first+last)>>qinstPageShift - first>>qinstPageShift; ; {
		if old := atomic.Load(&qinstReach); old >= reach || atomic.Cas(&qinstReach, old, reach) {
			break
		}
	}
	i := uint32((p - qinstPages.base) / qinstPageSize)
	for newest := &qinstSlabs[first>>qinstPageShift]; ; {
		if s.next = atomic.Load(newest); atomic.Cas(newest, s.next, i+1) {
			break
		}
	}
	atomic.Store((*uint32)(unsafe.Pointer(qinstDirectory+uintptr(i)*4)), qinstRingSlabPage)
	// The slab is now part of every sum and may be used.
	for at := s.tallies(); at+uintptr(s.size) <= p+qinstPageSize; at += uintptr(s.size) {
		t := (*qinstTally)(unsafe.Pointer(at))
		t.first, t.self = first, qinstTallyBit|uint32((at-qinstPages.base)/8+1)
		l.push(t.self &^ qinstTallyBit)
	}
	return true
}

// qinstTalliedSlow is qinst_tallied, which gives the tally with these words back.
// Tallies that activations inside of it left behind (by a panic, or by Goexit) are given
// back on the way: they lie above it on the goroutine's list.
// Context: probe.
//
//go:nosplit
func qinstTalliedSlow(words uintptr) {
	gp := getg()
	t := (*qinstTally)(unsafe.Pointer(words - qinstTallyHead))
	// The goroutine's tallies are a stack. Those above this one belong to activations
	// that ended without giving theirs back.
	for gp.stackLock != t.self { // something in it was left with it
		if gp.stackLock == 0 {
			return
		}
		qinstDropTally(gp)
	}
	b := gp.m.qinst
	// A tally goes back to the list that it came from, or to that of all threads.
	// Otherwise, in a program whose goroutines move always in one direction, one thread
	// would collect all tallies and another make new ones.
	if uintptr(unsafe.Pointer(b)) != t.home || !b.has(t.first) {
		qinstDropTally(gp)
		return
	}
	gp.stackLock = t.up
	c := b.counter(t.first)
	t.up = c.traced
	c.traced = t.self
}

// qinstDropTally gives a goroutine's innermost tally to all threads.
// Context: probe, hook.
//
//go:nosplit
func qinstDropTally(gp *g) {
	t := qinstTallyAt(gp.stackLock)
	gp.stackLock = t.up
	qinstTalliesOf(t.first).push(t.self &^ qinstTallyBit)
}

// qinstTalliesLeft gives back the tallies of procedures whose frames lie at the given
// distance from the stack's top, or further.
// Context: hook.
//
//go:nosplit
func qinstTalliesLeft(gp *g, below uint32) {
	for gp.stackLock != 0 && qinstTallyAt(gp.stackLock).below >= below {
		qinstDropTally(gp)
	}
}

// events is how many events the counter's thread wrote.
// Context: goroutine, writer.
//
//go:nosplit
func (c *qinstCounter) events() uint32 {
	if c.traced >= qinstTallyBit {
		return 0
	}
	return c.traced
}

// dropTallies gives the free tallies of a counter whose thread ended to all threads.
// Context: writer.
func (c *qinstCounter) dropTallies() {
	for c.traced >= qinstTallyBit {
		t := qinstTallyAt(c.traced)
		c.traced = t.up
		qinstTalliesOf(t.first).push(t.self &^ qinstTallyBit)
	}
}

// qinstTellCallee is qinst_told, the probe at a call whose callee begins at pc where the
// tally has not counted it: words is 0, or word k counts calls of another, or none so far.
// Context: probe.
//
//go:nosplit
func qinstTellCallee(words, k uintptr, point uint32, pc uintptr) uint32 {
	if words != 0 {
		w := (*[2]uintptr)(unsafe.Pointer(words + k*8))
		if w[0] == 0 && w[1] == 0 {
			w[0], w[1] = 1, pc
			return 0
		}
	}
	return qinstCalled(point, pc)
}

// qinstEachSlab calls f for the slabs that may have counts of n points from the first
// given on.
// Context: goroutine, writer.
func qinstEachSlab(from, n uint32, f func(s *qinstSlab)) {
	if n == 0 {
		return
	}
	number := from >> qinstPageShift
	number -= min(number, atomic.Load(&qinstReach))
	for ; number <= (from+n-1)>>qinstPageShift; number++ {
		for i := atomic.Load(&qinstSlabs[number]); i != 0; {
			s := (*qinstSlab)(unsafe.Pointer(qinstPages.base + uintptr(i-1)*qinstPageSize))
			f(s)
			i = s.next
		}
	}
}

// total returns the sum of a word over the slab's tallies.
// Tallies are counted in while they are summed up. A word is read at once, so that the
// sum is that of some moment.
// Context: goroutine, writer.
func (s *qinstSlab) total(k uint32) (n uint64) {
	end := uintptr(unsafe.Pointer(s)) + qinstPageSize
	for at := s.tallies(); at+uintptr(s.size) <= end; at += uintptr(s.size) {
		n += *(*uint64)(unsafe.Pointer(at + qinstTallyHead + uintptr(k)*8))
	}
	return n
}

// qinstEachTally calls f with the points that slabs have counts of, and their sums there.
// Context: goroutine, writer.
func qinstEachTally(from, n uint32, f func(point uint32, count uint64)) {
	qinstEachSlab(from, n, func(s *qinstSlab) {
		for k := range s.n {
			if w := uint32(*s.word(k)); w < qinstCode && s.first+w >= from && s.first+w < from+n {
				f(s.first+w, s.total(k))
			}
		}
	})
}

// qinstTallyCallees adds the callees that tallies counted to a table, and writes those
// that find no room there.
// Context: writer.
func qinstTallyCallees(b *qinstRecorder) {
	qinstEachSlab(0, qinstNext, func(s *qinstSlab) {
		end := uintptr(unsafe.Pointer(s)) + qinstPageSize
		for k := uint32(1); k < s.n; k++ {
			if *s.word(k) < qinstCode {
				continue
			}
			point := s.first + uint32(*s.word(k)&^qinstCode)
			for at := s.tallies(); at+uintptr(s.size) <= end; at += uintptr(s.size) {
				w := (*[2]uintptr)(unsafe.Pointer(at + qinstTallyHead + uintptr(k-1)*8))
				n, pc := uint64(w[0]), w[1]
				if pc == 0 || n == 0 {
					continue
				}
				if e := b.callee(point, pc); e != nil {
					e.n += n
				} else {
					qinstWriteCallee(point, pc, n)
				}
			}
		}
		qinstBeat++
	})
}
