package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// Why not subtract two clock readings in memory of the activation: there is none. The
// probe's token is the only thing that an entry hands to its exit, so the time itself is
// the token; it has 43 bits, an hour and more at any clock's speed, and an activation
// that takes longer is summed up modulo that.

// Level time: how often and how long, without an event. An entry hands its time to its
// exit in the token. Sums are a thread's own, and so is a part of the
// histograms: a slot for each point that comes often enough to find one.

// qinstTimed is the quota of a counter whose point is at level time; qinstTimedSlow where
// the processor's clock is not to be read.
const (
	qinstTimed     = 1<<31 - 1
	qinstTimedSlow = 1<<31 - 2
)

// The least significant bits of a time say nothing about its kind, so a bucket is a power
// of two. A slot is found by the point's lowest byte: points of one procedure are
// neighbours and seldom want the same one.
const (
	qinstHistBuckets = 64  // powers of two ticks
	qinstHistSlots   = 256 // of a thread; the assembly knows it
	qinstHistShift   = 9   // bytes of a slot, as a power of two
	qinstSumShift    = 5

	// The token of a timed entry: the time's lower half; 11 bits of its upper, which is
	// an hour with it; a mark that the token of a traced one does not have; the point.
	qinstTimedToken = 1 << 20
	qinstTimeShift  = 21
)

// qinstSum holds a thread's times of a timed point: their sum, the least of them, and the
// difference between the largest and the least. It is zero before the first time. The
// histograms have the number of times.
type qinstSum struct {
	// span is relative to least so that one comparison in the assembly finds that a time
	// is neither the least nor the largest so far; zero memory then stands for "nothing
	// seen".
	sum         uint64
	least, span uint64
	seen        uint64
}

// qinstHist is a histogram of a point's times on a thread.
type qinstHist struct {
	// The point is stored with 1 added, since memory begins as zero.
	point uint32 // and 1; 0: free
	_     [3]uint32
	n     [qinstHistBuckets]uint32
	_     [240]byte
}

// qinstSpill is the memory of histograms for all threads together: those of points
// that found no slot.
var qinstSpill uintptr // a row of qinstHistBuckets counters for each point

const (
	qinstHistSize = qinstHistSlots << qinstHistShift
	qinstSpillRow = qinstHistBuckets * 4
)

// qinstTimeEnter makes the token of a timed entry.
// Context: probe.
//
//go:nosplit
func qinstTimeEnter(point uint32) (uint64, *qinstStack) {
	now := qinstNow()
	return now<<32 | now>>32<<qinstTimeShift&(1<<32-1) | qinstTimedToken | uint64(point), nil
}

// qinstTimeExitSlow adds the activation of a token up.
// Context: probe.
//
//go:nosplit
func qinstTimeExitSlow(token uint64) {
	if qinstSampling != 0 {
		qinstPopTimed(uint32(token & (qinstMaxPoints - 1)))
	}
	qinstTimeExitAgain(token)
}

// qinstTimeExitAgain is the rest of it.
// Context: probe.
//
//go:nosplit
func qinstTimeExitAgain(token uint64) {
	start := token>>32 | token<<32>>(32+qinstTimeShift)<<32
	took := (qinstNow() - start) << qinstTimeShift >> 1
	qinstTimeExit(took&^(qinstMaxPoints-1) | token&(qinstMaxPoints-1))
}

// qinstTimeExit adds an activation up: how long it took, above the point.
// An activation may have begun before the thread had memory for sums. It is not added up
// then, and counts as one that is not timed.
// Context: probe.
//
//go:nosplit
func qinstTimeExit(v uint64) {
	b := getg().m.qinst
	if b.sums == 0 {
		return
	}
	point, took := uint32(v&(qinstMaxPoints-1)), v/qinstMaxPoints
	s := b.sum(point)
	s.sum += took
	switch {
	case s.seen == 0:
		s.least, s.seen = took, 1
	case took < s.least:
		s.span += s.least - took
		s.least = took
	case took-s.least > s.span:
		s.span = took - s.least
	}
	bucket := uint32(sys.Len64(took)) % qinstHistBuckets
	// The slot belongs to the point that first finds it free, for good. Others count in
	// shared memory, atomically, which is slower and seldom.
	h := b.hist(point)
	if h.point == 0 {
		h.point = point + 1
	}
	switch {
	case h.point == point+1:
		h.n[bucket]++
	case qinstSpill != 0:
		n := (*uint32)(unsafe.Pointer(qinstSpill + uintptr(point)*qinstSpillRow + uintptr(bucket)*4))
		atomic.Xadd(n, 1)
	}
}

// sum returns the thread's sum of a timed point. The memory exists for every point and is
// touched for few.
// Context: probe, goroutine, writer.
//
//go:nosplit
func (b *qinstRecorder) sum(point uint32) *qinstSum {
	return (*qinstSum)(unsafe.Pointer(b.sums + uintptr(point)<<qinstSumShift))
}

// hist is the slot that a point's histogram may have. Two points may want the same one;
// the second goes to the memory that all threads share.
// Context: probe, goroutine, writer.
//
//go:nosplit
func (b *qinstRecorder) hist(point uint32) *qinstHist {
	return (*qinstHist)(unsafe.Pointer(b.hists + uintptr(point%qinstHistSlots)<<qinstHistShift))
}

// qinstMapTimes gives a recorder memory for sums. The writer does it: for all recorders
// once a point is timed, and then for each new one.
// sums is stored last and tested by the probe, so that a probe that sees it finds the
// histograms too.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstMapTimes(b *qinstRecorder) {
	if b.sums != 0 {
		return
	}
	hists := qinstAnonymous(qinstHistSize)
	sums := qinstAddresses(uintptr(qinstMostPoints) << qinstSumShift)
	if hists != 0 && sums != 0 && qinstUse(sums, uintptr(qinstExtent)<<qinstSumShift) {
		b.hists = hists
		atomic.Storeuintptr(&b.sums, sums)
	}
}

// qinstTimes holds the times of a timed point in all threads.
type qinstTimes struct {
	n, sum, least, most uint64
	hist                [qinstHistBuckets]uint64
}

var qinstTimesScratch qinstTimes
