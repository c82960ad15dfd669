package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// Bursts, after Arnold and Ryder (2001) and Hirzel and Chilimbi (2001). Procedures whose probes
// are too dear for the budget are held at a cheaper level: they run as they were written, and
// count their entries in line. In bursts, which are short and come at random times, all of them
// run with their probes. So entries are exact, and calls and loops in these procedures are known
// by their ratio to the activations that had probes.
//
// Nothing is ever scaled by time: programs are slower in bursts, so that all such numbers would
// be too low. What the activations of one burst find is alike, so that readers take each burst as
// one observation. For that, squares and products are summed up here, burst by burst.
//
// What is held is a unit: a procedure, whose activations may run without probes, or a loop whose
// body stands twice, whose iterations may (writer_turns.go, where small procedures are, too).
//
// A procedure with one body is held at spec.ProcCounted: all its counts stay exact. So is one with
// operations on synchronization objects, which are to be seen, unless all of these are too frequent
// to be traced but in bursts: then their numbers are estimated as those of calls are.
//
// Operations and records that are too frequent even for what they tell are traced in bursts, too.
// So what a hold takes is known from all parts of the run.
//
// Where threads do not show what text runs (sampler_look.go), samplers look in bursts alone while
// procedures are held. Otherwise they would take the time of held procedures, which are on no
// profile stack then, for that of their callers.

const (
	qinstBurstNS     = 1e6  // activations are much shorter, and a thread needs a tenth of that to wake
	qinstBurstLeast  = 25e6 // mean time between bursts, at least
	qinstBurstMost   = 400  // and at most, in lengths of one
	qinstBurstLookNS = 40e3 // mean time between looks of a sampler in a burst
	qinstBurstSumsNS = 1e9  // between two records of what bursts found
	qinstBurstEvents = 512  // of a thread at a point that is traced in bursts alone

	qinstBursting   = 1<<31 - 4 // quota of a counter; see the table at the head of doc.go
	qinstBurstHits  = 1 << 15   // so many by probes in what is held, and a thread ends the burst
	qinstBurstAgain = 1 << 10   // hits after which one that could not end it tries again

	// Parts of the budget: probes of procedures that are not held, and bursts.
	qinstPartProbes = 0.5
	qinstPartBursts = 0.2

	// Stubs may take a part of the budget. The hottest of what is held has none.
	qinstStubNS   = 2.5
	qinstPartStub = 0.1

	qinstHeldCalm   = 20   // windows after which a procedure that got cheap is held no more
	qinstHeldAgain  = 0.5  // so cheap, as a part of what one may cost
	qinstHeldNobody = 1e-3 // of the budget: what costs less is not worth it
	qinstUnitsEach  = 32   // windows between two looks at what an activation costs
)

// The writer's own, but for the atomic words.
var (
	qinstHeld    uint32 // units that are held now; samplers read it
	qinstLooking uint32 // a burst is on, for samplers

	qinstBurstOver uint32 // a thread has ended it

	qinstBurst qinstBurstState

	qinstBurstUnits uintptr // of uint32
	qinstBurstSums  uintptr // of qinstBurstSum, one a point
)

type qinstBurstState struct {
	on      bool
	n       uint64  // bursts so far
	gap     int64   // ns, mean time between them
	next    int64   // when
	lasts   float64 // ns that one lasts, on average: the writer may sleep for longer than it wants to
	costs   float64 // ns that probes of what is held took in one, on average; 0: there was none
	took    float64 // ns of the writer for one, on average
	stopped int64   // ns that the last one stopped the world
	dear    float64 // ns that probes of what is held would cost, in the last window
	dearest float64 // ns that events would cost of what is traced in bursts alone
	telling uint32  // listed points that tell more than they cost and are only counted now
	units   uint32  // that are or were held, in qinstBurstUnits
	sumsAt  int64
	written uint64 // bursts of which a record tells
	untold  bool   // no record tells yet that a loop has run without probes, and the ring cannot
	windows uint32
}

// qinstBurstSum is what bursts found at a point: its hits, or the activations or iterations with
// probes of a unit.
type qinstBurstSum struct {
	last     uint64 // hits when the last burst ended
	hits     uint64
	squares  uint64
	products uint64 // with the unit's; of a unit: bursts that found it, or something in it
}

// qinstBurstSumOf returns a point's sums.
// Context: writer.
func qinstBurstSumOf(point uint32) *qinstBurstSum {
	return (*qinstBurstSum)(unsafe.Pointer(qinstBurstSums + uintptr(point)*unsafe.Sizeof(qinstBurstSum{})))
}

// qinstPrepareBursts makes room for what bursts find. Without it nothing is held, nor with the race
// detector, where nothing is counted in line.
// Context: writer.
func qinstPrepareBursts() {
	qinstBurst.lasts, qinstBurst.gap = qinstBurstNS, qinstBurstLeast
	qinstBurstUnits = qinstPointArray(4)
	if qinstBurstSums = qinstPointArray(unsafe.Sizeof(qinstBurstSum{})); qinstBurstUnits == 0 || raceenabled {
		qinstBurstSums = 0
	}
}

// qinstBurstUnit is the i-th unit that is or was held.
// Context: start, probe, goroutine, writer.
func qinstBurstUnit(i uint32) *uint32 {
	return (*uint32)(unsafe.Pointer(qinstBurstUnits + uintptr(i)*4))
}

// qinstEachWithin calls f with each point of a unit, without its own.
// Context: probe, writer.
func qinstEachWithin(unit uint32, f func(point uint32, o *qinstRuling)) {
	t, loop := qinstTableOf(unit), qinstRulingOf(unit).within != 0
	for k := unit + 1; k < t.base+t.probes; k++ {
		o := qinstRulingOf(k)
		if o.within == 0 {
			return
		}
		if !loop || qinstInLoop(k, unit) {
			f(k, o)
		}
	}
}

// qinstInUnit calls f with each unit that a point is in, the innermost first, and the procedure
// last, until f returns true. It reports whether f did.
// Context: goroutine, writer.
func qinstInUnit(point uint32, f func(c *qinstControl, o *qinstRuling) bool) bool {
	proc := point - qinstRulingOf(point).within
	for at := point; ; {
		o := qinstRulingOf(at)
		if o.loop == 0 {
			break
		}
		if at -= o.loop; f(qinstControlOf(at), qinstRulingOf(at)) {
			return true
		}
	}
	return f(qinstControlOf(proc), qinstRulingOf(proc))
}

// qinstIsHeld reports whether a unit is held that a point is in; plainly, whether it runs without
// probes.
// Context: writer.
func qinstIsHeld(point uint32, plainly bool) bool {
	return qinstHeld != 0 && qinstInUnit(point, func(c *qinstControl, _ *qinstRuling) bool {
		return c.held == qinstProcEntered || c.held != 0 && !plainly
	})
}

// qinstRanPlain reports whether a unit has run without its probes, and so without what reaches this
// point. Entries of procedures are exact.
// Context: goroutine, writer.
func qinstRanPlain(point uint32) bool {
	if !qinstControlled || qinstKindOf(point) == 0 || qinstRulingOf(point).within == 0 {
		return false
	}
	return qinstInUnit(point, func(c *qinstControl, _ *qinstRuling) bool { return c.plain })
}

// qinstPriceUnits notes what an activation of a procedure costs, with probes and held, in hits
// that a probe counts. It goes by all activations so far. It reports false if there is none, or if
// a rule is about one of its points: what the user asked for is not changed.
// Context: writer.
func qinstPriceUnits(proc uint32, c *qinstControl) bool {
	_, n := qinstInSlots(proc)
	n += qinstProbed(proc)
	loops, calls := uint64(0), uint64(0)
	qinstEachWithin(proc, func(point uint32, o *qinstRuling) {
		switch hits, _ := qinstHitsOf(point); {
		case o.kind == qinstCalls:
			calls += hits
		case o.kind == qinstPair, o.kind == qinstOnce && qinstRulingOf(proc).hold == qinstProcEntered:
			loops += hits
		}
	})
	if n == 0 || qinstIsRuled(proc) {
		return false
	}
	inner := float64(loops) / float64(n)
	inLine := float64(calls+qinstNamingIn(proc)) / float64(n) / qinstInLineParts
	c.unit, c.rest = float32(1+inner+inLine), 1./qinstInLineParts
	if qinstRulingOf(proc).hold == qinstProcCounted {
		c.rest = float32((1+inner)/qinstInLineParts + inLine)
	}
	return true
}

// qinstIsRuled reports whether a rule is about a procedure, or about a point in it.
// Context: writer.
func qinstIsRuled(proc uint32) bool {
	ruled := qinstRulingOf(proc).rule != 0
	qinstEachWithin(proc, func(_ uint32, o *qinstRuling) { ruled = ruled || o.rule != 0 })
	return ruled
}

// qinstProbed returns how many hits of a point were counted by probes; of a loop that is a unit,
// how many iterations had them.
// Context: writer, jumper.
func qinstProbed(point uint32) (n uint64) {
	if u := qinstTurningOf(point); u != nil {
		n, _ = u.iterations()
		return n
	}
	n = qinstSharedCounter(point).hits
	qinstEachCounter(point, func(c *qinstCounter) { n += c.hits })
	return n
}

// qinstPlain returns how many activations of a procedure ran without probes, if its text stands
// twice.
// Context: writer, jumper.
func qinstPlain(proc uint32) uint64 {
	plain, _ := qinstInSlots(proc)
	return plain
}

// qinstInSlots returns what the slots of a procedure have counted: activations without probes, and
// others in line.
// Context: writer, jumper.
func qinstInSlots(proc uint32) (plain, inLine uint64) {
	n, c, o := qinstEntered(proc), qinstControlOf(proc), qinstRulingOf(proc)
	switch {
	case o.role != qinstOperates && o.hold == qinstProcCounted, o.role == qinstOperates && !c.plain:
		return 0, n
	case o.role != qinstOperates:
		return n, 0
	}
	inLine = c.inLine
	if t := qinstTableOf(proc); *t.levelOf(uintptr(proc - t.base)) == qinstProcCounted {
		inLine += n
	}
	return n - inLine, inLine
}

// qinstEntered adds up the slots of a procedure.
// Context: start, probe, goroutine, writer, jumper.
func qinstEntered(proc uint32) (n uint64) {
	qinstEachLedger(func(at uintptr) { n += *qinstLedgerSlot(at, proc) })
	return n
}

// qinstHoldDear holds the procedures whose probes are too dear, and lets others go. budget is what
// recording may cost in a window of so many ns, and fixed what the tool's own threads did, in ns
// of processor time. It returns what the listed points cost by being counted.
// Context: writer.
func qinstHoldDear(budget, fixed, ns float64) (counting float64) {
	b := &qinstBurst
	b.windows++
	list := (*[qinstMaxPoints]uint32)(unsafe.Pointer(qinstTracked))
	listed := qinstListed
	least := qinstPriceTurns(ns) // what all cost if as many as possible are held
	prices := unsafe.Slice((*float64)(unsafe.Pointer(qinstPrices)), int(min(listed+qinstNTurns, qinstMaxPoints)))
	qinstSumLoops(list[:listed], budget)
	for i := range prices {
		prices[i] = 0
		if uint32(i) >= listed {
			prices[i] = qinstTurn(uint32(i) - listed).saves
			continue
		}
		c, o := qinstControlOf(list[i]), qinstRulingOf(list[i])
		if o.kind != qinstPair || o.within != 0 && qinstControlOf(list[i]-o.within).listed {
			continue // a loop's cost is in its procedure's
		}
		if o.role == qinstStarts && o.hold != 0 && qinstHasStarted(list[i]) {
			if o.hold = 0; c.held != 0 {
				qinstLetGo(list[i], c)
			}
		}
		if o.role == qinstOperates && qinstSet.bursts == 0 {
			qinstChooseHold(list[i], c, o)
		}
		if o.hold != 0 && (c.n > 0 || c.inner > 0) && (c.unit == 0 || b.windows%qinstUnitsEach == 0) &&
			!qinstPriceUnits(list[i], c) {
			c.unit = 0
		}
		if !c.isUnit(o) {
			least += c.n * qinstCountNS
			continue
		}
		least += (c.n*float64(c.rest) + float64(c.inner)/qinstInLineParts) * qinstCountNS
		prices[i] = c.saves()
	}
	most := qinstRateShare(prices, max(0, qinstPartProbes*(budget-fixed-least)))
	b.dear, b.dearest, counting = 0, 0, least
	for i := range listed {
		c := qinstControlOf(list[i])
		switch {
		case c.isUnit(qinstRulingOf(list[i])):
			counting += qinstHoldOne(list[i], c, c.saves(), most, budget*qinstHeldNobody)
		case c.held == qinstProcEntered && qinstRulingOf(list[i]).within == 0 && c.turning():
			qinstLetGo(list[i], c) // for its loops
		}
	}
	for i := range qinstNTurns {
		if u := qinstTurn(i); u.n != 0 || u.held() {
			counting += qinstHoldOne(u.point, qinstControlOf(u.point), u.saves, most, budget*qinstHeldNobody)
		}
	}
	qinstMakeHottestBare(list[:listed], qinstPartStub*budget, 0)
	qinstMakeHottestBare(list[:listed], qinstPartProbes*budget, qinstOperates)
	if qinstYards.fresh {
		qinstMeasureBare()
	}
	was := b.telling
	b.telling = 0
	for i := range listed {
		if c := qinstControlOf(list[i]); qinstIsTraced(list[i], c) {
			b.telling++
			most := qinstBurstEvents * float64(gomaxprocs) * ns / b.lasts
			b.dearest += min(qinstReached(list[i], c), most) * qinstOncePrice()
		}
	}
	if was == 0 && b.telling != 0 && qinstHeld == 0 {
		qinstNextBurst(1)
	}
	// Bursts have their part of the budget. What they cost beyond probes is the writer's time. On a
	// busy machine they last longer, and are the rarer for it.
	costs := b.costs
	if costs == 0 {
		costs = b.dear / ns * qinstBurstNS
	}
	gap := (costs*ns + b.dearest*b.lasts) / max(1, qinstPartBursts*budget)
	gap = max(gap, 2*b.took*ns/max(1, qinstPartBursts*budget))
	b.gap = int64(min(max(gap, qinstBurstLeast), qinstBurstMost*max(b.lasts, qinstBurstNS)))
	return counting
}

// qinstReached is how often an operation was reached in the last window, about: what its procedure
// did without probes goes by what bursts found.
// Context: writer.
func qinstReached(point uint32, c *qinstControl) float64 {
	proc := point - qinstRulingOf(point).within
	p := qinstControlOf(proc)
	if p.held != qinstProcEntered {
		return c.n
	}
	each := 1.
	if n := qinstBurstSumOf(proc).hits; n != 0 {
		each = float64(qinstBurstSumOf(point).hits) / float64(n)
	}
	return max(c.n, p.n*each)
}

// qinstHasStarted reports whether a go statement of a procedure was reached. As long as none was
// the procedure may be held. Of what is started until the next look it is not known that it did so.
// Context: writer.
func qinstHasStarted(proc uint32) (started bool) {
	qinstEachWithin(proc, func(point uint32, o *qinstRuling) {
		if o.role == qinstStarts && !started {
			hits, _ := qinstHitsOf(point)
			started = hits != 0
		}
	})
	return started
}

// qinstChooseHold lets a procedure with operations be held as one without: if all of them are too
// frequent to be traced but in bursts.
// Context: writer.
func qinstChooseHold(proc uint32, c *qinstControl, o *qinstRuling) {
	frequent := !c.turning()
	qinstEachWithin(proc, func(point uint32, o *qinstRuling) {
		if o.kind == qinstOnce {
			frequent = frequent && qinstIsTraced(point, qinstControlOf(point))
		}
	})
	hold := uint8(qinstProcCounted)
	if frequent {
		hold = qinstProcEntered
	}
	if hold == o.hold {
		return
	}
	if c.held != 0 {
		qinstLetGo(proc, c)
	}
	o.hold, c.unit = hold, 0
}

// qinstSumLoops adds up the hits of loops for their procedures. An activation that never ends has
// no entry in a window, but its loops may cost all the more. So the procedures of such loops are
// put on the list.
// Context: writer.
func qinstSumLoops(list []uint32, budget float64) {
	for _, point := range list {
		qinstControlOf(point).inner = 0
	}
	for _, point := range list {
		c, o := qinstControlOf(point), qinstRulingOf(point)
		if o.kind != qinstPair || o.within == 0 {
			continue
		}
		proc := point - o.within
		if qinstInTurn(point) {
			continue // it is priced with the loop around it
		}
		if p := qinstControlOf(proc); p.listed {
			p.inner += float32(c.n)
		} else if c.n*qinstCountNS > budget*qinstHeldNobody {
			qinstEnlist(proc)
		}
	}
}

// isUnit reports whether a listed point is a procedure that may be held. One whose loops are units
// may not run as it was written.
// Context: writer.
func (c *qinstControl) isUnit(o *qinstRuling) bool {
	return o.hold != 0 && o.within == 0 && c.unit != 0 && !(c.turning() && o.hold == qinstProcEntered)
}

// turning reports whether loops of a procedure are units, or are priced as such in this window.
// Context: writer.
func (c *qinstControl) turning() bool { return c.turns || c.turned == qinstBurst.windows }

// saves returns what holding a procedure saves in a window, in ns. While it is held, loops of
// activations that go on are counted in line.
// Context: writer.
func (c *qinstControl) saves() float64 {
	return max(c.n*float64(c.unit-c.rest), float64(c.inner)*(1-1./qinstInLineParts)) * qinstCountNS
}

// qinstHoldOne holds a unit, or lets it go, if it is time to. most is what its probes may cost. It
// returns what they do.
// Context: writer.
func qinstHoldOne(unit uint32, c *qinstControl, saves, most, least float64) float64 {
	switch {
	case c.held == 0:
		if saves > most && saves > least && qinstBurstSums != 0 {
			if qinstHold(unit, c); c.held == qinstProcEntered && qinstJumpOf(unit)&qinstJumpBare != 0 {
				qinstMakeBare(unit, c)
			}
		}
	case c.bare || qinstSet.bursts != 0 || saves > most*qinstHeldAgain && saves > least*qinstHeldAgain:
		c.calm = 0
	case c.calm < qinstHeldCalm:
		c.calm++
	default:
		qinstLetGo(unit, c)
	}
	if c.held == 0 {
		return saves
	}
	qinstBurst.dear += saves
	return 0
}

// qinstMakeBare lets entries of a held procedure be counted in bursts alone. A record tells of it
// before a program can be killed that has run so for long.
// Context: writer.
func qinstMakeBare(unit uint32, c *qinstControl) {
	c.bare = true
	qinstYards.fresh, qinstBurst.untold = true, true
	qinstSetUnit(unit)
}

// qinstJumpOf is the byte of a procedure with a twin, 0 for others.
// Context: writer.
func qinstJumpOf(unit uint32) byte {
	t := qinstTableOf(unit)
	return t.jumps(uintptr(unit - t.base))
}

// qinstMakeHottestBare lets the hottest procedures that are held have no stubs, until those of the
// others take no more than they may. Those with operations, which are a role of their own, may take
// more: how often something was locked tells more than how often a procedure was called.
// Context: writer.
func qinstMakeHottestBare(list []uint32, may float64, role uint8) {
	for {
		sum, most, hottest := 0., 0., uint32(0)
		note := func(point uint32, n float64) {
			c := qinstControlOf(point)
			if c.held != qinstProcEntered || c.bare || qinstJumpOf(point)&qinstJumpSwitches == 0 ||
				qinstRulingOf(point).role != role {
				return
			}
			cost := n * qinstStubNS
			if sum += cost; cost > most {
				most, hottest = cost, point
			}
		}
		for _, point := range list {
			note(point, qinstControlOf(point).n)
		}
		for i := range qinstNTurns {
			u := qinstTurn(i)
			note(u.point, u.n)
		}
		if sum <= may {
			return
		}
		qinstMakeBare(hottest, qinstControlOf(hottest))
	}
}

// qinstHold holds a unit. No event of it is written after this, in bursts neither: its
// loops go on the list, so that rate control keeps all of them counted. Without room there it is
// not held.
// Context: writer.
func qinstHold(unit uint32, c *qinstControl) {
	b := &qinstBurst
	room := true
	qinstEachWithin(unit, func(point uint32, o *qinstRuling) {
		if o.kind == qinstPair {
			if d := qinstControlOf(point); !d.listed {
				qinstEnlist(point)
				room = room && d.listed
			}
		}
	})
	if !room {
		return
	}
	if !c.met {
		c.met = true
		qinstTouch(unsafe.Pointer(qinstBurstSumOf(unit)))
		qinstEachWithin(unit, func(point uint32, _ *qinstRuling) { qinstTouch(unsafe.Pointer(qinstBurstSumOf(point))) })
		*qinstBurstUnit(b.units) = unit
		b.units++
		if qinstTurningOf(unit) != nil && qinstRulingOf(unit).within != 0 {
			qinstKeepTurns(unit)
		}
	}
	if c.held, c.calm = qinstRulingOf(unit).hold, 0; c.held == qinstProcEntered {
		if !c.plain && qinstRulingOf(unit).role == qinstOperates {
			_, c.inLine = qinstInSlots(unit)
			if t := qinstTableOf(unit); *t.levelOf(uintptr(unit - t.base)) == qinstProcCounted {
				c.inLine = 0 // up to the stop that changes that
			}
			b.untold = true // for files of killed programs, in which slots do not tell it
		}
		c.plain, c.noted = true, false
	}
	if atomic.Xadd(&qinstHeld, 1) == 1 {
		qinstNextBurst(1)
	}
	qinstSetUnit(unit)
}

// qinstHeldFirst are the units that an earlier run held, by identity, 16 digits each, in
// ascending order. The linker puts them here (-prune).
var qinstHeldFirst string

var qinstFirstTables, qinstFirstFound int // registered tables that were looked at; procedures found

// qinstHoldFirst holds these procedures as soon as their packages are registered. What turns out to
// be cheap is let go, as everything that is held.
// Context: writer.
func qinstHoldFirst() {
	if qinstHeldFirst == "" && qinstSet.bursts == 0 || !qinstBudgetOn || qinstBurstSums == 0 {
		return
	}
	qinstTakeTurns()
	for ; qinstFirstTables < qinstNTables; qinstFirstTables++ {
		t := &qinstTables[qinstFirstTables]
		if t.probes == 0 {
			continue
		}
		ids := qinstIdentities(t.text())
		for i := range uint32(ids.array()) {
			point, id := t.base+i, ids.number()
			kind, o, c := qinstKindOf(point), qinstRulingOf(point), qinstControlOf(point)
			if o.hold == 0 && (kind != qinstPair || o.within != 0) || !qinstIsFirst(id) {
				continue
			}
			qinstFirstFound++
			if o.hold != 0 && c.held == 0 && !qinstIsRuled(point-o.within) &&
				(o.within == 0 || qinstSet.bursts == 0 && qinstTurningOf(point) != nil) {
				if kind == qinstPair {
					qinstEnlist(point)
				}
				if qinstSet.bursts != 0 && o.role == qinstOperates {
					o.hold = qinstProcEntered
				}
				qinstHold(point, c)
			}
		}
	}
}

// qinstIsFirst reports whether an identity is one of qinstHeldFirst, or all are to be held.
// Context: writer.
func qinstIsFirst(id uint64) bool {
	if qinstSet.bursts != 0 {
		return true
	}
	from, to := 0, len(qinstHeldFirst)/16
	for from < to {
		at, n := (from+to)/2, uint64(0)
		for i := range 16 {
			d := qinstHeldFirst[at*16+i]
			n = n<<4 | uint64(d&15) + uint64(d>>6)*9 // a hexadecimal digit
		}
		switch {
		case n == id:
			return true
		case n < id:
			from = at + 1
		default:
			to = at
		}
	}
	return false
}

// qinstLetGo holds a unit no more.
// Context: start, goroutine, writer.
func qinstLetGo(unit uint32, c *qinstControl) {
	c.held = 0
	atomic.Xadd(&qinstHeld, -1)
	qinstSetUnit(unit)
}

// qinstLetAllGo does so with every unit of a procedure.
// Context: start, goroutine, writer.
func qinstLetAllGo(proc uint32) {
	for i := range qinstBurst.units {
		unit := *qinstBurstUnit(i)
		if c := qinstControlOf(unit); c.held != 0 && unit-qinstRulingOf(unit).within == proc {
			qinstLetGo(unit, c)
		}
	}
}

// qinstSetUnit gives a unit its level.
// Context: start, probe, goroutine, writer.
func qinstSetUnit(unit uint32) {
	t, o := qinstTableOf(unit), qinstRulingOf(unit)
	i := uintptr(unit - t.base)
	if o.within == 0 {
		t.setLevel(i)
		return
	}
	level := qinstUsual
	if proc := i - uintptr(o.within); qinstControlOf(unit).held != 0 && !qinstBurst.on &&
		t.levelNow(proc, proc) == qinstProcProbed {
		level = qinstProcEntered
	}
	*t.levelOf(i) = level
}

// qinstNextBurst draws the time of the next burst. Times between bursts are exponential, for a
// rhythm of the program could be the bursts'. After one that cost more than others the time is
// longer, too, and after one that stopped the world for long. The first ones come sooner, so that a
// run of a second has enough of them.
// Context: writer.
func qinstNextBurst(longer float64) {
	b, rest := &qinstBurst, int64(qinstBurstShare)
	if b.n < qinstBurstFirst {
		rest /= 4
	}
	if qinstSet.bursts != 0 {
		b.next = nanotime() + qinstSet.bursts/2
		return
	}
	b.next = nanotime() + rest*b.stopped + int64(longer*float64(b.gap)*float64(fastexprand(1<<20))/(1<<20))
}

// qinstBurstDue makes a burst if it is time to. The writer does nothing else meanwhile, which
// takes no longer than it sleeps while buffers come in.
// Context: writer.
func qinstBurstDue() {
	b := &qinstBurst
	if !b.wanted() || nanotime() < b.when() || qinstJumps.begun && !qinstMayStop() {
		return
	}
	cpu, began, stopped := qinstThreadCPU(), nanotime(), qinstJumps.all
	qinstNoteHeld()
	qinstYards.began, qinstYards.ended = false, false
	atomic.Store(&qinstBurstOver, 0)
	qinstFlip(true)
	whole := qinstStopForJumps()
	b.n++
	if qinstHeld != 0 {
		atomic.Store(&qinstLooking, 1)
		qinstWakeSamplers()
	}
	lasts := int64(qinstBurstNS)
	switch {
	case qinstSet.bursts != 0:
		lasts = min(qinstSet.bursts/2, 10*lasts) // threads may need buffers
	case qinstJumps.begun:
		lasts /= 4 // until the world is stopped again it goes on
	}
	if atomic.Load(&qinstBurstOver) == 0 {
		futexsleep(&qinstBurstOver, 0, lasts)
	}
	atomic.Store(&qinstLooking, 0)
	qinstFlip(false)
	if qinstStopForJumps() && whole {
		qinstNoteRatios()
	}
	b.stopped = qinstJumps.all - stopped
	costs, longer := 0., 1.
	for i := range b.units {
		if unit := *qinstBurstUnit(i); qinstControlOf(unit).held == qinstProcEntered {
			costs += qinstNoteBurst(unit, true)
		}
	}
	b.lasts += (float64(nanotime()-began) - b.lasts) / 8
	if costs != 0 { // of operations no more are traced in a longer one
		if b.costs == 0 {
			b.costs = costs
		}
		longer = max(1, costs/b.costs)
		b.costs += (costs - b.costs) / 8
	}
	qinstNextBurst(longer)
	b.took += (float64(qinstThreadCPU()-cpu) - b.took) / 8
}

// qinstNoteHeld takes note of what was counted up to now in units of which no burst has told yet.
// Procedures with twins kept their probes up to the last stop.
// Context: writer.
func qinstNoteHeld() {
	for i := range qinstBurst.units {
		unit := *qinstBurstUnit(i)
		if c := qinstControlOf(unit); c.held == qinstProcEntered && !c.noted {
			c.noted = true
			qinstNoteBurst(unit, false)
		}
	}
}

// qinstFlip lets what is held run with probes, or not. It is done under the lock, since rules may
// switch points off at the same time.
// Context: writer.
func qinstFlip(on bool) {
	qinstLockMemory()
	if on {
		for i := uint32(1); i < qinstNRecorders; i++ {
			(*qinstRecorder)(unsafe.Pointer(qinstRecorders[i])).inBursts = qinstBurstHits
		}
	}
	if on || qinstBurst.on {
		qinstFlipUnits(on)
	}
	list := (*[qinstMaxPoints]uint32)(unsafe.Pointer(qinstTracked))
	for i := range qinstListed {
		if point := list[i]; qinstIsTraced(point, qinstControlOf(point)) {
			qinstTraceBurst(point, on)
		}
	}
	qinstUnlockMemory()
}

// qinstFlipUnits lets units run with probes, or not, under the lock. Threads count what probes of
// them see meanwhile.
// Context: probe, writer.
func qinstFlipUnits(on bool) {
	qinstBurst.on = on
	for i := range qinstBurst.units {
		unit := *qinstBurstUnit(i)
		if c := qinstControlOf(unit); c.held != 0 {
			qinstSetUnit(unit)
			if c.held == qinstProcEntered {
				qinstBoundHits(unit, on)
				qinstEachWithin(unit, func(point uint32, _ *qinstRuling) { qinstBoundHits(point, on) })
			}
		}
	}
}

// qinstBoundHits makes each thread count the hits of a point in a burst, or no more. It concerns
// counters that only count: others write no more events than their quota has.
// Context: probe, writer.
func qinstBoundHits(point uint32, on bool) {
	if qinstRulingOf(point).kind != qinstPair {
		return
	}
	only := qinstSet.threshold
	qinstEachCounter(point, func(c *qinstCounter) {
		switch {
		case on && c.quota == only:
			c.quota = qinstBursting
		case !on && (c.quota == qinstBursting || c.quota == qinstBursting-1): // a last event may have taken one
			c.quota = only
		}
	})
}

// qinstTraceBurst lets the operations at a point be traced, or not. Readers have to know when that
// ends, because a hold that ended after a burst would last until the next one for them. The record
// that begins a burst stands before its first event, the one that ends it after the last.
// Context: writer.
func qinstTraceBurst(point uint32, on bool) {
	level, quota := qinstRateTrace-qinstRateLevel(qinstControlOf(point).below), qinstSet.threshold
	tells := !qinstFlight.on || qinstFlight.writes
	if on {
		quota += qinstBurstEvents
		if tells {
			qinstRecordLevel(qinstNow(), point, uint8(level), uint8(qinstRateTrace), 0, qinstBurstReason)
		}
	}
	qinstSetInLine(point, !on)
	qinstEachCounter(point, func(c *qinstCounter) { c.quota = quota })
	if !on && tells {
		qinstRecordLevel(qinstNow(), point, uint8(qinstRateTrace), uint8(level), 0, qinstBurstReason)
	}
}

// qinstBurstReason is why a point's level changed for a burst.
const qinstBurstReason = "burst"

// qinstIsTraced reports whether a listed point is traced in bursts alone: it tells more than it
// costs, and still is too frequent for the budget. One that a rule is about is as the rule says.
// Context: writer.
func qinstIsTraced(point uint32, c *qinstControl) bool {
	return c.kind == qinstOnce && c.below != 0 && !c.off && qinstRulingOf(point).rule == 0
}

// wanted reports whether there is anything to see in bursts.
// Context: writer.
func (b *qinstBurstState) wanted() bool { return qinstHeld != 0 || b.telling != 0 }

// when is the time of the next burst: jumps may not be written earlier.
// Context: writer.
func (b *qinstBurstState) when() int64 {
	if qinstJumps.begun {
		return max(b.next, qinstNextStop())
	}
	return b.next
}

// qinstNoteBurst takes in what was counted in a unit since the burst before ended, which is what
// this burst found: activations that began in it may have gone on for a while. Without adding, it
// takes note of where the next burst begins. It returns what the probes of the unit took, in ns.
// Context: writer.
func qinstNoteBurst(unit uint32, adding bool) float64 {
	a := qinstBurstSumOf(unit)
	n := a.since(qinstProbed(unit))
	found := n // a burst may find what an activation reached that began before, and none that began in it
	probed, inLine := n, uint64(0)
	if qinstTurningOf(unit) != nil {
		probed, inLine = 0, n
	}
	qinstEachWithin(unit, func(point uint32, o *qinstRuling) {
		hits, _ := qinstHitsOf(point)
		x := qinstBurstSumOf(point)
		k := x.since(hits)
		if o.kind == qinstPair {
			probed += k
		} else {
			inLine += k
		}
		if adding {
			x.hits += k
			x.squares += k * k
			x.products += k * n
			found |= k
		}
	})
	if adding && found != 0 {
		a.hits += n
		a.squares += n * n
		a.products++
	}
	return (float64(probed) + float64(inLine)/qinstInLineParts) * qinstCountNS
}

// since returns the hits since it was last asked.
// Context: writer.
func (s *qinstBurstSum) since(hits uint64) uint64 {
	n := hits - s.last
	s.last = hits
	return n
}

// qinstBurstSumsDue writes what bursts found, if it is time to.
// Context: writer.
func qinstBurstSumsDue(now int64) {
	if b := &qinstBurst; b.untold || b.n != b.written && now-b.sumsAt >= qinstBurstSumsNS {
		qinstWriteBursts()
	}
}

// qinstWriteBursts writes what bursts found so far.
// The first pass counts, since the record's length stands before its data. Sums change in this
// thread alone.
// Context: writer.
func qinstWriteBursts() {
	b := &qinstBurst
	if b.units == 0 {
		return
	}
	b.sumsAt, b.written = nanotime(), b.n
	b.untold = false
	for i := range qinstNTurns {
		u := qinstTurn(i)
		_, u.plain = u.iterations() // once, because both passes must agree on who is a unit
		if qinstControlOf(u.point).plain && u.open() {
			u.plain |= qinstUncounted
		}
	}
	found := uint64(0)
	qinstEachFound(func(uint32, uint64, *qinstBurstSum) { found++ })
	qinstRecordBursts(qinstNow(), b.n, found*40)
	qinstEachFound(func(point uint32, plain uint64, s *qinstBurstSum) {
		for _, v := range [...]uint64{uint64(point), plain, s.hits, s.squares, s.products} {
			qinstWord(v)
		}
	})
	qinstSeal()
	qinstWriteRatios()
}

// qinstEachFound calls f with each unit that ran without probes, with the number of such
// activations or iterations, and with each point in it that bursts found.
// Context: writer.
func qinstEachFound(f func(point uint32, plain uint64, s *qinstBurstSum)) {
	for i := range qinstBurst.units {
		unit := *qinstBurstUnit(i)
		if !qinstControlOf(unit).plain {
			continue
		}
		plain := uint64(0)
		if u := qinstTurningOf(unit); u != nil {
			if plain = u.plain; plain == 0 && !qinstControlOf(unit).bare {
				continue // by this readers know that the loop is a unit
			}
		} else {
			plain = qinstPlain(unit)
		}
		if qinstControlOf(unit).bare {
			plain |= qinstUncounted
		}
		f(unit, plain, qinstBurstSumOf(unit))
		qinstEachWithin(unit, func(point uint32, _ *qinstRuling) {
			if s := qinstBurstSumOf(point); s.hits != 0 {
				f(point, 0, s)
			}
		})
	}
}
