package runtime

import (
	"internal/runtime/atomic"
	_ "unsafe" // for linkname
)

// These are called by ordinary goroutines through go:linkname. Each first tests that
// recording has begun, because the same program may run with QINST=mode=off, or with
// settings that were not understood.

// Questions that a running program may ask about itself; see package qinst.dev/extensions/debug.

// qinstTableAt returns the encoded table of package i, in the order of registration.
// Context: goroutine.
//
//go:linkname qinstTableAt qinst_table
func qinstTableAt(i int) (text string, base uint32, ok bool) {
	if qinstStarted == 0 || i < 0 || i >= qinstNTables {
		return "", 0, false
	}
	t := &qinstTables[i]
	return t.text(), t.base, true
}

// qinstCheckRate returns what was expected in place of a rule that makes no sense, and the word
// that was probably meant; "" of a rule that makes sense.
// Context: goroutine.
//
//go:linkname qinstCheckRate qinst_check_rate
func qinstCheckRate(points, limit string) (expected, nearest string) {
	_, _, ok := qinstLimitOf(points, limit)
	return qinstSettingRuleExpected(points, limit, ok)
}

// qinstMatches reports whether a pattern, as rules have it, selects a name.
// Context: goroutine.
//
//go:linkname qinstMatches qinst_matches
func qinstMatches(pattern, name string) bool { return qinstRateMatches(pattern, name) }

// qinstLeast is added to a point's level if more hits may have been than were counted: its
// procedure ran without probes at times. Package debug knows the number, too.
const qinstLeast = 4

// qinstPointState returns a point's current counts, level and rate. It holds the memory's
// lock on the system stack. A goroutine could be preempted with this spin lock, and the
// writer would then spin until the goroutine runs again.
// Context: goroutine, writer.
//
//go:linkname qinstPointState qinst_point
func qinstPointState(point uint32) (hits, traced, timed uint64, level uint8, rate float64) {
	if qinstStarted == 0 || point >= qinstNext {
		return
	}
	level = uint8(qinstRateTrace)
	least := false
	systemstack(func() {
		qinstLockMemory()
		least = qinstRanPlain(point)
		hits, traced = qinstHitsOf(point)
		if c := qinstControlOf(point); c != nil {
			level -= c.below
			if c.clocked {
				timed = qinstTimesOf(point).n
			}
			if o := qinstRulingOf(point); o.rule != 0 {
				if l := &qinstRules[o.rule-1].limit; l.Rate < qinstRateAny {
					rate = l.Rate
				}
			}
		}
		qinstUnlockMemory()
	})
	if qinstSet.mode == "count" {
		level = uint8(qinstRateCount)
	}
	if least {
		level += qinstLeast
	}
	return
}

// qinstFlushed makes the writer write everything recorded so far and returns the name of
// the file, "" if there is no file to read.
// Only a regular file of our own can be read by its name. A flight recorder's file is
// still empty.
// Context: goroutine.
//
//go:linkname qinstFlushed qinst_flush
func qinstFlushed() (path string) {
	if qinstStarted == 0 || !qinstOut.regular || qinstOut.fd < 0 || qinstFlight.on {
		return ""
	}
	qinstReduceAll(false)
	n := atomic.Xadd(&qinstAsked, 1)
	for int32(atomic.Load(&qinstAnswered)-n) < 0 && atomic.Load(&qinstEnding) == 0 && atomic.Load(&qinstOut.full) == 0 {
		qinstWake()
		usleep(100)
	}
	return qinstOwn(&qinstOutFile.path)
}

var qinstAsked, qinstAnswered uint32

// qinstSnapshot asks for a file and waits for it.
// The reducer cannot wait for itself, so there the answer is "" and the file comes later.
// Context: goroutine.
//
//go:linkname qinstSnapshot qinst_snapshot
func qinstSnapshot() (path string) {
	f := &qinstFlight
	if qinstStarted == 0 || !f.on {
		return ""
	}
	// A request gets a file that was begun after it, because a file that is already being
	// written would lack the latest events.
	n := atomic.Xadd(&f.asked, 1)
	qinstWake()
	if getg() == qinstReduce.gp.ptr() {
		return "" // it is waited for
	}
	for int32(atomic.Load(&f.done)-n) < 0 && atomic.Load(&qinstEnding) == 0 {
		qinstWake()
		Gosched()
		usleep(100)
	}
	return qinstOwn(&f.path)
}

// qinstSetRate changes the limits of points while the program runs. Package debug makes
// several changes together, or none: names are then lines such as main.f=count, and the
// last line lacks its limit.
// Context: goroutine.
//
//go:linkname qinstSetRate qinst_set_rate
func qinstSetRate(names, last string) (nearest string, ok bool) {
	if qinstStarted == 0 {
		return "", true
	}
	systemstack(func() { ok = qinstChangeRates(names, last) })
	qinstEachChange(names, last, func(name, value string) bool {
		nearest = qinstNearestOf(name, value)
		return nearest == ""
	})
	return nearest, ok
}
