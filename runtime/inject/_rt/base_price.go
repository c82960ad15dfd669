package runtime

// What an event costs depends on what the program does to caches. So about one in a thousand times
// itself, where it is paid: it reads the clock once more, when it is done. These are the ones whose
// time has some bits that are all 0, which costs the others a test.
const (
	qinstTimesItself = 0x3ff << 6
	qinstMostItself  = 1 << 16 // ticks: longer ones were interrupted
	// likewise, but ticks of the system, which every run has, are a part of what an event takes
	// longer
	qinstMostExtra = 1 << 18
)

// Kinds of events with a price.
const (
	qinstPriceCall = iota
	qinstPriceOperation
	qinstPriceScheduling
	qinstPriceOther
	qinstPriceExtra // how much longer an event took because of QINST=extra=
	qinstPriceKinds
)

// qinstSelfTimed is what events of one kind took that timed themselves, in ticks.
type qinstSelfTimed struct{ n, sum, squares uint64 }

// add adds one that took d ticks.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func (t *qinstSelfTimed) add(d uint64) {
	t.n++
	t.sum += d
	t.squares += d * d
}

// Events whose time has none of these bits time themselves; 0: all are seen here, because all are
// to take longer.
var (
	qinstItself     uint64 = qinstTimesItself
	qinstExtraTicks uint64
	qinstExtraPS    int64 // how much longer that is, as measured
)

// qinstTakeLonger lets an event that is done take longer.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstTakeLonger(done uint64) (took uint64) {
	for took < qinstExtraTicks {
		took = qinstNow() - done
	}
	return took
}

// took adds an event that is done, and whose time was taken at now.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func (b *qinstRecorder) took(kind, now uint64) {
	done := qinstNow()
	if d := done - now; d < qinstMostItself && now&qinstTimesItself == 0 {
		b.price[kind].add(d)
	}
	if qinstExtraTicks != 0 {
		if d := qinstTakeLonger(done); d < qinstExtraTicks+qinstMostExtra {
			b.price[qinstPriceExtra].add(d)
		}
	}
}

// qinstPriceOf is the kind of an event, by its head.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstPriceOf(head uint64) uint64 {
	if kind := head >> 24 & 0xff; kind < qinstEvSTWBegin || kind == qinstEvGoWait || kind == qinstEvGoUnparkBy {
		if kind < qinstEvGoCreate {
			return qinstPriceCall
		}
		return qinstPriceScheduling
	}
	return qinstPriceOther
}
