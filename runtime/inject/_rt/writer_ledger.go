package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// qinstMapPieces maps the slots of ledgers to come. It reports false if they are not to be had.
// Context: writer.
func qinstMapPieces() bool {
	for qinstRinged && qinstRing >= 0 && qinstNPieces < uint32(len(qinstPieces)) &&
		atomic.Load(&qinstNLedgers)+qinstPieceLedgers/2 > qinstNPieces*qinstPieceLedgers {
		from, size := qinstLedgerAt(qinstNPieces*qinstPieceLedgers), qinstPieceLedgers*qinstLedgerStride()
		if from+size > qinstRingAt.end {
			return true
		}
		p := qinstMapAt(from, size)
		if p == 0 {
			return false
		}
		atomic.Storeuintptr(&qinstPieces[qinstNPieces], p)
		qinstNPieces++
	}
	return true
}

// qinstStartLedgers makes the first ledger, before any package is registered.
// Context: writer.
func qinstStartLedgers() bool {
	qinstFreeLedgers.base, qinstFreeLedgers.stride = uintptr(unsafe.Pointer(&qinstLedgerNext[1])), 4
	qinstNLedgers, qinstLedgerExtent = qinstFirstLedger, qinstPage
	return qinstMapPieces() && qinstNewLedger(qinstMaxLedgers, true) == qinstFirstLedger
}

// qinstEachLedger calls f with every ledger. Their owners count meanwhile: a sum is that of
// some moment of each.
// Context: start, probe, end, goroutine, writer, jumper, reducer.
func qinstEachLedger(f func(at uintptr)) {
	for i := uint32(qinstFirstLedger); i < atomic.Load(&qinstNLedgers); i++ {
		f(qinstLedgers[i])
	}
}

// wordOf is what the k/4-th word of a table's points in ledgers is of.
// Context: writer.
func (t *qinstTable) wordOf(k int) uint32 {
	w := t.words.string()[k:]
	return uint32(w[0]) | uint32(w[1])<<8 | uint32(w[2])<<16 | uint32(w[3])<<24
}

// qinstLedgerCallees adds the callees that ledgers counted to a table, and writes those that
// find no room there.
// Context: writer.
func qinstLedgerCallees(b *qinstRecorder) {
	for i := range qinstNTables {
		t := &qinstTables[i]
		for k := 0; k+4 <= t.words.n; k += 4 {
			offset := t.wordOf(k)
			if offset&qinstUnitWord != 0 {
				break // of loops are the last
			}
			point := t.base + offset
			word := qinstLedgerPoints + uintptr(t.base)*8 + uintptr(k)*2
			qinstEachLedger(func(at uintptr) {
				t := qinstMostAt(at, word, point)
				callee, n := uintptr(*t.callee), t.hits()
				if callee == 0 || n == 0 {
					return
				}
				if e := b.callee(point, callee); e != nil {
					e.n += n
				} else {
					qinstWriteCallee(point, callee, n)
				}
			})
		}
	}
}

// What the name of a callee costs, in counts in line: to compare it with the word's, and to count
// it elsewhere if it is another.
const (
	qinstNamedSteps = 2
	qinstToldSteps  = 5
)

// qinstNamingIn returns what the names of callees have cost that calls in a unit noted, in counts
// in line.
// Context: writer.
func qinstNamingIn(unit uint32) (steps uint64) {
	t, within := qinstTableOf(unit), qinstRulingOf(unit).within
	for k := 0; k+4 <= t.words.n && t.wordOf(k)&qinstUnitWord == 0; k += 4 {
		point := t.base + t.wordOf(k)
		elsewhere := point < unit || point-qinstRulingOf(point).within != unit-within
		if elsewhere || within != 0 && !qinstInLoop(point, unit) {
			continue
		}
		word := qinstLedgerPoints + uintptr(t.base)*8 + uintptr(k)*2
		qinstEachLedger(func(at uintptr) {
			t := qinstMostAt(at, word, point)
			steps += qinstNamedSteps*(*t.slot) + qinstToldSteps*(*t.others)
		})
	}
	return steps
}

// qinstEarlyHits is how many hits were counted in line before their package was registered.
// Context: writer.
func qinstEarlyHits() (n uint64) {
	qinstEachLedger(func(at uintptr) {
		for k := range uintptr(qinstMostEarly) {
			n += *(*uint64)(unsafe.Pointer(at + k*8))
		}
	})
	return n
}
