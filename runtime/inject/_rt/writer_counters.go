package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// qinstFoldAll takes the pages of threads that have ended, once there are no others.
// Only recorders that no thread has may be folded, because a thread's own increments are not
// atomic.
// Context: writer.
func qinstFoldAll() {
	limit := qinstPages.limit.Load()
	if limit < qinstSet.mostPages || uint32(qinstPages.used.Load())+qinstFewPages <= limit ||
		qinstFewRecorders() {
		return
	}
	qinstLockMemory()
	// The retired recorder is one that no thread gets again. It is counted like any other,
	// so that totals stay right.
	if qinstRetired == 0 {
		if qinstRetired = qinstReady.pop(); qinstRetired != 0 {
			qinstSpares.Add(-1)
		}
	}
	var done uint32 // list of recorders
	for qinstRetired != 0 && !qinstFewRecorders() {
		i := qinstReady.pop()
		if i == 0 {
			break
		}
		qinstSpares.Add(-1)
		b := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[i]))
		qinstFold(b)
		b.next, done = done, i
	}
	for done != 0 {
		i := done
		done = (*qinstRecorder)(unsafe.Pointer(qinstRecorders[i])).next
		qinstReady.push(i)
		qinstSpares.Add(1)
	}
	qinstUnlockMemory()
}

// qinstFold adds a recorder's counts to those of the retired one.
// A counter that moves is set to zero only after it was added, so that a reader between the
// two would count some hits twice: the caller holds the memory's lock, as other threads
// that sum up do.
// Context: writer.
func qinstFold(b *qinstRecorder) {
	to := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[qinstRetired]))
	for number := uint32(0); number <= qinstNext>>qinstPageShift; number++ {
		p := *b.page(number)
		if p == 0 {
			continue
		}
		*b.page(number) = 0
		first := number << qinstPageShift
		at := p + uintptr(first)*16
		if *to.page(number) == 0 {
			to.joinPaging()
			*to.page(number) = p
			continue
		}
		for k := range uint32(1) << qinstPageShift {
			from, c := (*qinstCounter)(unsafe.Pointer(at+uintptr(k)*16)), to.counter(first+k)
			c.hits += from.hits
			c.traced += from.traced
			*from = qinstCounter{}
		}
		*(*uint32)(unsafe.Pointer(qinstDirectory + (at-qinstPages.base)/qinstPageSize*4)) = 0
		qinstPages.put(at)
	}
}

// qinstSumPage sums the counters of a page's points up, recorder by recorder, as they lie in
// memory: all points are summed up so.
// Going by recorders instead of points reads memory in order, which makes a scan of 350,000
// points affordable twice a second.
// Context: writer.
func qinstSumPage(number uint32, sums *qinstPageSums) {
	first := number << qinstPageShift
	for k := range sums {
		sums[k] = [3]uint64{qinstSharedCounter(first + uint32(k)).hits}
	}
	qinstEachLedger(func(at uintptr) {
		for k := range sums {
			n := *qinstLedgerSlot(at, first+uint32(k))
			sums[k][0] += n
			sums[k][2] += n
		}
	})
	if !qinstPaged[number] {
		return
	}
	for i := range qinstNPaging.Load() {
		num := atomic.Load(&qinstPaging[i])
		if num == 0 {
			continue
		}
		b := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[num]))
		if *b.page(number) == 0 {
			continue
		}
		for k := range sums {
			c := b.counter(first + uint32(k))
			sums[k][0] += c.hits
			sums[k][1] += uint64(c.traced)
		}
	}
}
