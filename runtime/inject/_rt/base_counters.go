package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// Counters are the tool's largest use of memory. Their number is that of points times
// threads, of which most pairs never meet, so that pages made on the first hit need a
// hundredth of what a table would.

// Counters come in pages that are touched when a thread first reaches one of their points,
// because a thread seldom reaches many points: all counters of a program with 350,000 points
// would need 6 MB for each thread. If no page is left, threads count together in the
// counters of the shared recorder, and trace nothing there.
//
// A recorder that its thread gave back keeps its pages for the next thread. If other threads
// need the pages, the recorder's counts go to a recorder that no thread has.

// 64 points a page: procedures of one package that are called together share one, and a
// thread that reaches a single point pays 1 KiB for it.
const (
	qinstPageShift = 6 // points of a page, as a power of two
	qinstPageSize  = 16 << qinstPageShift
	qinstPageTable = qinstIndexes >> qinstPageShift * 8 // bytes, of a recorder

	qinstMostPages = 1 << 18
	qinstPageGrow  = 256 // pages made at a time
	qinstFewPages  = 96  // when so few are left the writer is woken

	qinstSharedPage = qinstRingSharedPage // in the directory: of the shared recorder
)

// qinstRuling holds the rule and the level of a point, which are known before the point is
// reached. Most points are never reached and have nothing else.
type qinstRuling struct {
	quota int32 // of the counters of pages to come; 0: as they are
	rule  uint8 // and 1; 0: none
	kind  uint8 // as qinstControl has it
	hold  uint8 // of a procedure or loop, once kind is known: the level at which it may be held, 0: none
	role  uint8 // of an operation on a WaitGroup with a rule about a barrier, of a go statement, or of a procedure
	// The point of its procedure is so many before it; only known if kind is, too.
	within uint32
	loop   uint32 // the innermost loop around it whose body stands twice is so many before it, 0: none; likewise
}

// A page is known in three places: its recorder has its address, the directory has its number,
// for readers of the ring, and qinstPaged shows that some thread has it.
var (
	qinstPages qinstPool

	qinstPaged     [qinstMaxPoints >> qinstPageShift]bool // a thread has the page; set before that is in the directory
	qinstPagesBack uint32                                 // a page is another's than when rate control saw it
	qinstPagesSeen uint32                                 // by rate control
	qinstRulings   uintptr                                // of qinstRuling, one a point
	qinstGrowing   uint32                                 // spin lock: there will be more pages or buffers
	qinstPaging    [qinstMaxRecorders]uint32              // recorders that have pages
	qinstNPaging   atomic.Uint32                          // of them; the last may be 0 still
	qinstRetired   uint32                                 // recorder with the counts of threads that ended
	qinstNoCounter qinstCounter                           // of a point that does not exist
)

// qinstRulingOf returns the ruling of a point. Callers loop over registered points, so that
// the index needs no test. It is masked, because a wrong index must not reach memory that
// does not exist.
// Context: start, probe, hook, end, goroutine, writer, jumper, reducer.
//
//go:nosplit
func qinstRulingOf(point uint32) *qinstRuling {
	return (*qinstRuling)(unsafe.Pointer(qinstRulings + uintptr(point&(qinstMaxPoints-1))*unsafe.Sizeof(qinstRuling{})))
}

// qinstAnyPage returns a page that is zero, 0 if there is none left.
// Context: start, probe, hook.
func qinstAnyPage() uintptr {
	p := qinstPages.get(0)
	for p == 0 && qinstGrowPages() { // probes stand where a thread may wait a little
		p = qinstPages.get(0)
	}
	if qinstPagesLow() {
		qinstWake() // to make more
	}
	if p != 0 {
		*(*uint64)(unsafe.Pointer(p)) = 0 // where it was on the list
	}
	return p
}

// qinstNewPage gives a recorder the page of counters with this number. shared is the mark of a
// shared page in the directory, or 0. The address is stored after everything but the
// directory, so that every reader of it finds counters that are zero or have a quota.
// Context: start, probe, hook.
func qinstNewPage(b *qinstRecorder, number, shared uint32) bool {
	p := qinstAnyPage()
	if p == 0 {
		return false
	}
	first := number << qinstPageShift
	b.joinPaging()
	// From here on the writer sees the page. Its decisions are in the counters, or take
	// effect below.
	atomic.Storeuintptr(b.page(number), p-uintptr(first)*16)
	if qinstControlled {
		for point := first; point < first+1<<qinstPageShift; point++ {
			if quota := qinstRulingOf(point).quota; quota != 0 {
				b.counter(point).quota = quota
			}
		}
	}
	if shared == 0 {
		qinstPaged[number] = true
	}
	i := (p - qinstPages.base) / qinstPageSize
	atomic.Store((*uint32)(unsafe.Pointer(qinstDirectory+i*4)), (number+1)|shared)
	// Rate control walks the directory once. A page that comes back for other points is
	// after it, so it starts again.
	if i < uintptr(atomic.Load(&qinstPagesSeen)) {
		atomic.Store(&qinstPagesBack, 1)
	}
	return true
}

// joinPaging puts a recorder among those that have pages, before it has the first. Most recorders
// have none, and functions that sum counters need not look at them.
// The number is stored after the count, so that readers of the list must take 0 for "not
// yet".
// Context: start, probe, hook, writer.
func (b *qinstRecorder) joinPaging() {
	if !b.paging {
		b.paging = true
		atomic.Store(&qinstPaging[qinstNPaging.Add(1)-1], b.num)
	}
}

// qinstPagesLow reports whether more pages are to be made.
// Context: start, probe, hook, writer.
//
//go:nosplit
func qinstPagesLow() bool {
	limit := qinstPages.limit.Load()
	return limit < qinstSet.mostPages && uint32(qinstPages.used.Load())+qinstFewPages > limit
}

// qinstGrowPages makes more pages if there are few. It reports false at the limit, or if
// there is no room in the ring.
// Context: start, probe, hook, writer.
func qinstGrowPages() (ok bool) {
	for !atomic.Cas(&qinstGrowing, 0, 1) {
		usleep(20)
	}
	ok = !qinstPagesLow() && qinstPages.limit.Load() < qinstSet.mostPages || qinstMorePages()
	atomic.Store(&qinstGrowing, 0)
	return ok
}

// qinstMorePages makes pages, under qinstGrowing. If memory or the ring have no room, the
// number of existing pages becomes the limit. Otherwise every first hit would try again.
// Context: start, probe, hook, writer.
func qinstMorePages() bool {
	n := qinstPages.limit.Load()
	grow := min(qinstPageGrow, qinstSet.mostPages-n)
	pages, list := uintptr(n)*qinstPageSize, uintptr(n)*4&^(qinstPage-1)
	if !qinstMayUse(uint64(grow)*qinstPageSize) ||
		!qinstUseRing(qinstPages.base+pages, uintptr(grow)*qinstPageSize, qinstRingAt.pages+pages) ||
		!qinstUseRing(qinstDirectory+list, qinstRound(uintptr(n+grow)*4, qinstPage)-list, qinstRingAt.directory+list) {
		qinstSet.mostPages = n // existing pages stay in use
	}
	if n == qinstSet.mostPages {
		return false
	}
	qinstPages.limit.Store(n + grow)
	qinstHead[qinstRingWordPages] = uint64(n + grow)
	return true
}

// qinstEachCounter calls f for a point's counter in each thread's recorder.
// Threads count meanwhile. A value that f reads may be a moment old, and an increment of
// quota may undo a store of f at the same time. Callers allow for both.
// Context: start, probe, end, goroutine, writer, jumper, reducer.
func qinstEachCounter(point uint32, f func(*qinstCounter)) {
	if !qinstPaged[point>>qinstPageShift] {
		return
	}
	for i := range qinstNPaging.Load() {
		num := atomic.Load(&qinstPaging[i])
		if num == 0 {
			continue // the shared recorder; or it has no page yet
		}
		if c := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[num])).counter(point); c != nil {
			f(c)
		}
	}
}

// qinstSharedCounter is the point's counter in the shared recorder.
// Context: start, end, goroutine, writer, jumper, reducer.
func qinstSharedCounter(point uint32) *qinstCounter {
	if point < qinstMaxPoints {
		if c := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[0])).counter(point); c != nil {
			return c
		}
	}
	return &qinstNoCounter
}

// qinstHitsOf sums a point's counters up.
// Context: start, end, goroutine, writer, jumper, reducer.
func qinstHitsOf(point uint32) (hits, traced uint64) {
	hits = qinstSharedCounter(point).hits // its field traced has another meaning
	qinstEachCounter(point, func(c *qinstCounter) {
		hits += c.hits
		traced += uint64(c.traced)
	})
	qinstEachLedger(func(at uintptr) { hits += *qinstLedgerSlot(at, point) })
	return hits, traced
}

// qinstPageSums are the hits of a page's points, how many of them were traced, and how
// many are in ledgers.
type qinstPageSums [1 << qinstPageShift][3]uint64

// Scratch of the writer.
var qinstSums qinstPageSums
