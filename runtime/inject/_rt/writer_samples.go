package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// qinstPrepareSamples prepares for samples if there are to be any.
// Without memory there are no samples, and the report tells so. The trace is complete
// otherwise.
// Context: writer.
func qinstPrepareSamples() {
	s := &qinstSet
	if s.mode != "sample" && s.mode != "trace" && s.mode != "flight" || s.sampleGap == 0 {
		return
	}
	qinstPathTable = qinstAnonymous(qinstPathSlots * 8)
	if qinstPathTable == 0 || !qinstPaths.reserve(qinstMostPaths*8+8, 1<<16) {
		return
	}
	qinstPrepareLooks()
	qinstSampling = 1
	qinstCountNS *= 1.3 // a call's counter, which half of all hits are, is what it was
}

// qinstWakeSamplers is called when a point goes below trace, and none was before.
// Context: writer.
func qinstWakeSamplers() {
	for i := range qinstNSamplers.Load() {
		if s := &qinstSamplers[i%qinstMostSamplers]; atomic.Cas(&s.asleep, 1, 0) {
			futexwakeup(&s.asleep, 1)
		}
	}
}

// qinstSamplersCPU is the processor time that the samplers have used, in ns.
// Context: writer.
func qinstSamplersCPU() (ns uint64) {
	for i := range qinstSamplers {
		ns += atomic.Load64(&qinstSamplers[i].cpu)
	}
	return ns
}

// qinstWritePaths writes the paths that came since the last call.
// Context: writer.
func qinstWritePaths() {
	for first := qinstPathsOut; ; first = qinstPathsOut {
		n := uint32(0)
		for limit := min(qinstNPaths.Load(), qinstMostPaths); first+n < limit && n < 512 &&
			qinstPathWord(first+n) != 0; {
			n++
		}
		if n == 0 {
			return
		}
		qinstRecordPath(first+1, n, uint64(n)*8)
		for i := range n {
			key := qinstPathWord(first+i) - 1
			qinstWord(key>>22 | key&(qinstMaxPoints-1)<<32 | key&qinstUntraced<<(63-21))
		}
		qinstSeal()
		qinstPathsOut += n
	}
}

// qinstPathWord returns the word of path i+1, 0 if it is not stored yet.
// Context: writer.
func qinstPathWord(i uint32) uint64 {
	return atomic.Load64((*uint64)(unsafe.Pointer(qinstPaths.base + uintptr(i)*8)))
}

// qinstStackStride is the size of a class's memory.
// Context: writer.
//
//go:nosplit
func qinstStackStride(class uint32) uintptr { return 128 << class }

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
