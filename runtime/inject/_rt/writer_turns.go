package runtime

import "unsafe"

// Loops of activations that last. An activation keeps the text that it began with, so that a
// level of its procedure never reaches one that does not return. The body of such a loop stands
// twice, and each iteration chooses by the loop's level. What the loop calls is then known by its
// ratio to the iterations with probes, as it is by activations for procedures (writer_burst.go).
//
// Small procedures whose text stands twice are such units, too, for they have no probe that would
// tell how often they are called. Their slot in a ledger has all activations, the word those with
// probes.
//
// A point belongs to one unit only, because its hits in bursts are compared with that unit's. So a
// procedure is held, or its loops; and of loops within each other one. Which it is, the first time
// decides: an outer loop, if its iterations are short, and a procedure, if its activations are.

// qinstTurning is such a loop or small procedure, in the writer's memory.
type qinstTurning struct {
	point uint32
	word  uintptr // where its word is, after a ledger's address
	last  uint64  // iterations or activations at the end of the last window
	n     float64 // of them in it
	saves float64 // ns that holding it would save in it
	plain uint64  // of them without probes, when a record was last written; with qinstUncounted
	late  uint32  // windows since some were last seen

	at      int64  // since then the procedure was entered less than once in qinstLastsNS
	entered uint64 // its entries at that time
}

const (
	qinstMostTurns = 1 << 14 // loops beyond run with probes
	qinstFewTurns  = 512     // so many are looked at in every window
	qinstSeldom    = 16      // of more, those that were not entered in one of so many
	qinstLastsNS   = 10e6    // activations of a procedure that is entered more rarely last
	qinstTurnNS    = 1e6     // an iteration that is not much shorter than a burst tells nothing
	qinstTurnLate  = 64      // windows without a count after which a held loop is let go
)

// The writer's own.
var (
	qinstTurns      uintptr // of qinstTurning, in the order of their points
	qinstNTurns     uint32
	qinstTurnTables int // registered tables that were looked at
)

// qinstTurn is the i-th of these loops.
// Context: writer, jumper.
func qinstTurn(i uint32) *qinstTurning {
	return (*qinstTurning)(unsafe.Pointer(qinstTurns + uintptr(i)*unsafe.Sizeof(qinstTurning{})))
}

// qinstTakeTurns finds the loops and small procedures of packages that were registered since it
// last looked.
// Context: writer.
func qinstTakeTurns() {
	for ; qinstTurnTables < qinstNTables; qinstTurnTables++ {
		t := &qinstTables[qinstTurnTables]
		from := t.words.n
		for from >= 4 && t.wordOf(from-4)&qinstUnitWord != 0 {
			from -= 4
		}
		if from < t.words.n && qinstTurns == 0 {
			if qinstTurns = qinstAnonymous(qinstMostTurns * unsafe.Sizeof(qinstTurning{})); qinstTurns == 0 {
				return
			}
		}
		for k := from; k < t.words.n && qinstNTurns < qinstMostTurns; k += 4 {
			at := qinstLedgerWords + uintptr(t.base)*8 + uintptr(k)*2
			*qinstTurn(qinstNTurns) = qinstTurning{point: t.base + t.wordOf(k)&^qinstUnitWord, word: at}
			qinstNTurns++
		}
	}
}

// qinstTurningOf is the loop or small procedure that a point is, nil if it is none.
// Context: writer, jumper.
func qinstTurningOf(point uint32) *qinstTurning {
	lo, hi := uint32(0), qinstNTurns
	for lo < hi {
		if mid := (lo + hi) / 2; qinstTurn(mid).point < point {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < qinstNTurns && qinstTurn(lo).point == point {
		return qinstTurn(lo)
	}
	return nil
}

// iterations returns how many there were with probes, and without, as far as they were added to a
// ledger.
// Context: writer, jumper.
func (u *qinstTurning) iterations() (with, plain uint64) {
	if qinstIsSmall(u.point) {
		with = qinstWordSum(u.word)
		return with, max(with, qinstPlain(u.point)) - with // with was read first
	}
	return qinstWordSum(u.word), qinstWordSum(u.word+qinstLedgerBytes) & (qinstLoopEnd - 1)
}

// open reports whether an activation of a loop goes on, or was left by a panic. It then may have
// had more iterations without probes.
// Context: start, end, goroutine, writer, jumper, reducer.
func (u *qinstTurning) open() bool {
	if qinstIsSmall(u.point) {
		return false
	}
	const ends = 1<<64/qinstLoopEnd - 1
	left := qinstWordSum(u.word+qinstLedgerBytes) / qinstLoopEnd // first, since all that are left were entered
	hits, _ := qinstHitsOf(u.point)
	return (hits-left)&ends != 0
}

// qinstWordSum adds up a word of all ledgers.
// Context: start, end, goroutine, writer, jumper, reducer.
func qinstWordSum(word uintptr) (n uint64) {
	qinstEachLedger(func(at uintptr) { n += *(*uint64)(unsafe.Pointer(at + word)) })
	return n
}

// qinstIsSmall reports whether a point is a procedure that is only counted.
// Context: start, end, goroutine, writer, jumper, reducer.
func qinstIsSmall(point uint32) bool {
	return qinstKindOf(point) == qinstCalls && qinstRulingOf(point).within == 0
}

// held reports whether the loop is held.
// Context: writer.
func (u *qinstTurning) held() bool { return qinstControlOf(u.point).held != 0 }

// qinstInLoop reports whether a point is in a loop.
// Context: probe, writer.
func qinstInLoop(point, loop uint32) bool {
	for point > loop {
		o := qinstRulingOf(point)
		if o.loop == 0 {
			return false
		}
		point -= o.loop
	}
	return point == loop
}

// qinstPriceTurns prices the loops for a window of so many ns. It returns their cost if all of them
// are held.
// Context: writer.
func qinstPriceTurns(ns float64) (least float64) {
	qinstTakeTurns()
	for i := range qinstNTurns {
		u := qinstTurn(i)
		if u.last == 0 && qinstNTurns > qinstFewTurns && (i+qinstBurst.windows)%qinstSeldom != 0 {
			u.n, u.saves = 0, 0
			continue // to look at many loops in many ledgers takes long, and most are never entered
		}
		with, plain := u.iterations()
		c := qinstControlOf(u.point)
		qinstBurst.untold = qinstBurst.untold || u.plain == 0 && c.met && (plain > 0 || u.open())
		if u.late++; with+plain == u.last && c.held != 0 && u.late < qinstTurnLate && u.open() {
			least += u.n * float64(c.rest) * qinstCountNS
			continue // their number comes when a burst begins
		}
		u.n, u.saves, u.last, u.late = float64(with+plain-u.last)/float64(u.late), 0, with+plain, 0
		if u.n == 0 || !u.mayTurn(c, u.n*qinstTurnNS >= ns, ns) {
			continue
		}
		if c.unit == 0 || qinstBurst.windows%qinstUnitsEach == 0 {
			u.price(c, with)
		}
		if c.unit > c.rest {
			u.saves = u.n * float64(c.unit-c.rest) * qinstCountNS
			least += u.n * float64(c.rest) * qinstCountNS
			c.turned = qinstBurst.windows
			qinstControlOf(u.point - qinstRulingOf(u.point).within).turned = c.turned
		}
	}
	return least
}

// mayTurn reports whether a loop may be held, or is. often reports whether its iterations are
// short.
// Context: writer.
func (u *qinstTurning) mayTurn(c *qinstControl, often bool, ns float64) bool {
	if c.held != 0 {
		return true
	}
	if !often && !c.met || c.turns || qinstKindOf(u.point) == 0 {
		return false
	}
	proc := u.point - qinstRulingOf(u.point).within
	if c.met {
		return !qinstIsRuled(proc)
	}
	if !qinstIsSmall(u.point) && !u.lasts(proc) {
		return false
	}
	t := qinstTableOf(proc)
	taken := qinstInUnit(u.point, func(c *qinstControl, o *qinstRuling) bool {
		return c.plain &&
			(o.within != 0 || qinstPlain(proc) != 0)
	})
	return !taken && !qinstIsRuled(proc) && t.levelNow(uintptr(proc-t.base), uintptr(proc-t.base)) == qinstProcProbed
}

// lasts reports whether activations of the loop's procedure are known to last. Else the procedure
// is the unit: without probes it costs less than its loops.
// Context: writer.
func (u *qinstTurning) lasts(proc uint32) bool {
	now := qinstWindow.at
	hits, _ := qinstHitsOf(proc)
	if u.at == 0 || float64(hits-u.entered)*qinstLastsNS > float64(now-u.at) {
		u.at, u.entered = now, hits
	}
	return now-u.at >= qinstLastsNS
}

// price notes what an iteration or activation costs, with probes and held. It goes by all so far.
// Context: writer.
func (u *qinstTurning) price(c *qinstControl, with uint64) {
	loops, calls := uint64(0), uint64(0)
	qinstEachWithin(u.point, func(point uint32, o *qinstRuling) {
		switch hits, _ := qinstHitsOf(point); o.kind {
		case qinstPair:
			loops += hits
		case qinstCalls:
			calls += hits
		}
	})
	if with == 0 {
		return
	}
	steps, rest := calls+qinstNamingIn(u.point)+with, 1. // the iteration is counted
	if qinstIsSmall(u.point) {
		steps += with
	}
	c.unit, c.rest = float32((float64(loops)+float64(steps)/qinstInLineParts)/float64(with)),
		float32(rest/qinstInLineParts)
	if qinstJumpOf(u.point) != 0 {
		c.unit += float32(qinstStubNS / qinstCountNS) // the way to a twin takes as long as one to a stub
	}
}

// qinstInTurn reports whether a point is in a loop that is a unit, or is priced as one in this
// window.
// Context: writer.
func qinstInTurn(point uint32) bool {
	return qinstInUnit(point, func(c *qinstControl, o *qinstRuling) bool {
		return o.within != 0 && (c.met || c.turned == qinstBurst.windows)
	})
}

// qinstKeepTurns makes a loop that is held for the first time the only unit around it: its
// procedure is none after this, nor are the loops that it stands in. The procedure may have been
// held since no activation of it began.
// Context: writer.
func qinstKeepTurns(loop uint32) {
	qinstInUnit(loop, func(c *qinstControl, o *qinstRuling) bool {
		if c.turns = true; c.held == qinstProcEntered && o.within == 0 {
			qinstLetGo(loop-qinstRulingOf(loop).within, c)
		}
		return false
	})
}
