package runtime

import "internal/runtime/atomic"

// qinstPrepareExtra finds how many ticks events are to take longer.
// Context: start.
func qinstPrepareExtra() {
	if qinstSet.extra == 0 {
		return
	}
	qinstExtraTicks = max(1, qinstTicksOf(float64(qinstSet.extra)))
	const most = 10e6 // ns of the start
	tries := int64(min(1000, 1+most/qinstSet.extra))
	start := nanotime()
	for range tries {
		qinstTakeLonger(qinstNow())
	}
	qinstExtraPS = (nanotime() - start) * 1000 / tries
	qinstItself = 0
}

// qinstPriceBuffer measures the cost of the events of one buffer. In a loop of nothing else
// an event takes little more than its clock reading. In programs, measured from outside
// (zstd's and bbolt's benchmarks, docs/RESULTS.md), it takes three to five times that,
// because the processor does nothing else meanwhile, and events displace data in its caches.
// A budget is a promise, so it is five here. A hit that is only counted takes a sixth to a
// fourth of a clock reading in such a loop, and in zstd's benchmarks, of whose hits a profile
// of the processor's counts finds 1.6 % of the time, 0.35.
// Context: start.
func qinstPriceBuffer() {
	for range qinstPriceTries {
		qinstReadClocks()
	}
	qinstSet.bufferCost = 1 + 5*uint64(qinstReadsNS)*(qinstBufferSize/8)/qinstPriceReads
	qinstCountNS = 0.35 * float64(qinstReadsNS) / qinstPriceReads
	qinstPriceAtomic()
}

// qinstPriceAtomic measures the cost of a locked instruction, because every operation on a
// synchronization object has a few.
// Context: start.
func qinstPriceAtomic() {
	const times = 32
	word, ns := uint64(0), int64(1<<62)
	for range qinstPriceTries {
		start := nanotime()
		for range times {
			atomic.Cas64(&word, word, word+1)
		}
		ns = min(ns, nanotime()-start)
	}
	qinstAtomicPS = ns * 1000 / times
}
