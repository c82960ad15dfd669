package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// Rate control. Package ratecontrol decides; this file carries the decisions out.
//
// A new counter may trace qinstFree events. When half of them are used up, its thread
// notes the point for the writer (qinstWant), which puts the point on a list. In every
// window the writer passes the hits of a listed point to the policy, and the number of
// events that the policy allows becomes the quota of the point's counters. A point far
// below its limits leaves the list, with qinstFree events in each of its counters. A rare
// point therefore costs nothing, and a frequent one is stopped by its counter, without
// waiting for the writer.

// A window must be long enough that chance does not decide (50 ms of a point at 1e4/s are
// 500 hits) and short enough that a burst does little harm before it ends.
const (
	qinstFree     = 256
	qinstLow      = qinstFree / 2
	qinstWindowNS = 50e6
	qinstHurryNS  = 3e6 // of a window that a counter without quota ends
	qinstWants    = 256 // of a thread
	// Between two sums of all hits, at most, and for each page, but no less than a window; and hits
	// of a point that is not listed after which it is. A point that is first reached while its
	// thread has no buffer takes from no quota, so that nothing else would notice it.
	qinstScanNS     = 500e6
	qinstScanPageNS = 1e6
	qinstUnseen     = 1 << 14
	qinstQuiet      = 20 // windows far below its limits after which a point leaves the list

	// An idle program has the budget that this share of a processor would give.
	qinstIdleShare = 0.1

	// Operations on synchronization objects, the program's records and activations of handlers show
	// more than they cost: without them no hold is known, a record that is not written is lost, and
	// handlers are what users ask about. So this part of the budget is theirs, whatever counting
	// the hot procedures takes, on average over a while. In programs whose phases have other points
	// each time, the hits at once of all of them would else be several times as many.
	qinstPartTelling    = 0.3
	qinstTellingMost    = 4e3   // hits at once of a point, as long as all of them have no more than
	qinstTellingAll     = 0.05  // of a second's budget
	qinstTellingSettles = 0.5e9 // ns in which what was too much is made up for
	qinstTellingFree    = 512   // events of their counters before the writer has seen them

	qinstOnce  = 1 // kinds of points: an event, or two, or none
	qinstPair  = 2
	qinstCalls = 3
)

// qinstControl is the writer's state of a point. It is zero for a point that the writer has
// not seen.
type qinstControl struct {
	rates, costs qinstRatePoint // above the rule's rate; too dear for the budget
	hits, traced uint64         // at the end of the last window
	inLine       uint64         // of a procedure with operations that has run plain: entries counted in line
	n            float64        // hits in it
	told, news   uint64         // counted hits (those that are not traced) that sums records have told of; at this one
	until        uint64         // likewise when the point came back to trace, which none has told of yet
	timed, took  uint64         // the same
	kind         uint8          // 0: qinstPair as far as is known
	held         uint8          // of a unit: its level outside of bursts, 0: the usual one
	calm         uint8          // windows in which it need not be held
	met          bool           // it has been held
	plain        bool           // and has run as it was written
	noted        bool           // and what it counted before is known
	turns        bool           // of a procedure or loop: a loop in it has been held, so that it is not
	bare         bool           // of a procedure with a twin that is held: its entries are not counted
	yard         bool           // its entries are compared with those of such
	measured     bool           // and its own are
	below        uint8          // levels below trace
	listed       bool
	seen         bool // its level has changed
	clocked      bool // it has been timed
	off          bool // it has been off
	fresh        bool // the next sums record tells of it
	quiet        uint8
	unit, rest   float32 // of a unit: cost of an activation or iteration, in counted hits; while it is held
	inner        float32 // of a procedure: hits of its listed loops in the last window
	turned       uint32  // the last window in which it, or a loop in it, might have been held as a loop
}

// The writer's own, but for qinstUrgent: probes set that when a counter has used up its
// quota.
var (
	qinstUrgent        uint32  // a counter has no quota left
	qinstControlled    bool    // there are rules or a budget
	qinstControls      uintptr // of qinstControl, one a point; those of the list are used
	qinstTracked       uintptr // of uint32: points that the writer looks at
	qinstListed        uint32
	qinstBudgeting     qinstRateBudget
	qinstBudgetOn      bool
	qinstEventNS       float64 // cost of an event
	qinstOperationNS   float64 // of one of an operation, as measured; 0: not yet
	qinstCountNS       float64 // of a hit that is only counted
	qinstPrices        uintptr // of float64: room for qinstRateShare
	qinstTellingTables int     // registered tables whose points have their free events

	qinstWindow struct {
		at          int64   // ns
		cpu, writer uint64  // ns so far
		bytes       uint64  // of events so far
		scanned     uint32  // pages of the scan at hand
		sum         float64 // of hits in it, as many as would cost as much
		listed      float64 // ns that hits of listed points cost since the last scan
		unlisted    float64 // ns a second that others cost
		told        float64 // ns that events of points that tell cost in the last window
		credit      float64 // ns that they may cost at once
		scanAt      int64   // when the last scan ended
		scanGap     int64   // ns until the next, at least: short at first
	}
)

// qinstStartControl prepares rate control if there are rules or a budget.
// Context: writer.
func qinstStartControl() {
	s := &qinstSet
	if qinstNRules == 0 && s.budget == 0 {
		return
	}
	if qinstPrepareControl(); !qinstControlled {
		return
	}
	qinstEventNS = float64(s.bufferCost) / (qinstBufferSize / 8)
	qinstBudgetOn = s.budget != 0
	qinstBudgeting.Target = float64(s.budget) / 1000
	if s.threshold != qinstCountOnly {
		s.threshold = -qinstFree
	}
	qinstWindow.cpu = qinstProcessCPU()
	qinstWindow.credit = qinstTellingAll * 1e9 * qinstBudgeting.Target
	if qinstBudgetOn {
		qinstPrepareBursts()
	}
}

// qinstPrepareControl makes room for the state of each point.
// Context: goroutine, writer.
func qinstPrepareControl() {
	if qinstControlled {
		return
	}
	qinstControls = qinstPointArray(unsafe.Sizeof(qinstControl{}))
	qinstTracked = qinstPointArray(4)
	qinstPrices = qinstPointArray(8)
	qinstRulings = qinstPointArray(unsafe.Sizeof(qinstRuling{}))
	if qinstControls == 0 || qinstTracked == 0 || qinstPrices == 0 || qinstRulings == 0 {
		qinstControls = 0
		return
	}
	qinstWindow.at = nanotime()
	for i := range qinstNRecorders {
		(*qinstRecorder)(unsafe.Pointer(qinstRecorders[i])).low = qinstSet.threshold + qinstLow
	}
	qinstControlled = true
}

// qinstControlOf returns the state of a point, nil without rate control.
// Context: start, probe, goroutine, writer, jumper.
func qinstControlOf(point uint32) *qinstControl {
	if qinstControls == 0 || point >= qinstExtent {
		return nil
	}
	return (*qinstControl)(unsafe.Pointer(qinstControls + uintptr(point)*unsafe.Sizeof(qinstControl{})))
}

// qinstControlWindow is one round of rate control; it does nothing before its time.
// The lock is held for the whole round, because rules may change from other threads, and
// a point must not be decided by half of one rule and half of another.
// Context: writer.
func qinstControlWindow() {
	w := &qinstWindow
	now := nanotime()
	ns := float64(now - w.at)
	if !qinstControlled || now-w.at < qinstHurryGap() || now-w.at < qinstWindowGap() && atomic.Load(&qinstUrgent) == 0 {
		return
	}
	atomic.Store(&qinstUrgent, 0)
	w.at = now
	qinstLockMemory()
	qinstTakePages()
	qinstTakeTelling()
	qinstHoldFirst()
	for i := uint32(1); i < qinstNRecorders; i++ {
		qinstTakeWants((*qinstRecorder)(unsafe.Pointer(qinstRecorders[i])))
	}
	list := (*[qinstMaxPoints]uint32)(unsafe.Pointer(qinstTracked))
	w.told = 0
	for i := range qinstListed {
		c := qinstControlOf(list[i])
		hits, traced := c.hits, c.traced
		c.hits, c.traced = qinstHitsOf(list[i])
		c.n = float64(c.hits - hits)
		if qinstRulingOf(list[i]).tells() {
			w.told += max(0, float64(int64(c.traced-traced))) * c.price() // counters have 32 bits
		}
	}
	afford := qinstAfford(now, ns)
	for i := uint32(0); i < qinstListed; {
		point := list[i]
		if qinstDecide(point, ns, &afford) {
			i++
			continue
		}
		qinstListed--
		list[i] = list[qinstListed]
	}
	qinstUnlockMemory()
}

// qinstTakeWants puts the points that a thread has noted on the list.
// wantOut moves after the read: the thread then may use the slot again.
// Context: writer.
func qinstTakeWants(b *qinstRecorder) {
	for ; b.wantOut != atomic.Load(&b.wantIn); atomic.Store(&b.wantOut, b.wantOut+1) {
		qinstEnlist(b.want[b.wantOut%qinstWants])
	}
	if b.wantAll {
		b.wantAll = false
		for k := uint32(0); k < qinstNext; k++ {
			if c := b.counter(k); c != nil && c.quota <= qinstSet.threshold+qinstLow {
				qinstEnlist(k)
			}
		}
	}
}

// qinstTakePages puts the points that have a rule on the list, once a thread has counters
// for them.
// Otherwise a point under a rule that is seldom hit would never come to the list, because
// it does not use up half of its quota.
// Context: writer.
func qinstTakePages() {
	if atomic.Xchg(&qinstPagesBack, 0) != 0 {
		qinstPagesSeen = 0
	}
	for ; qinstPagesSeen < qinstPages.fresh.Load(); qinstPagesSeen++ {
		page := atomic.Load((*uint32)(unsafe.Pointer(qinstDirectory + uintptr(qinstPagesSeen)*4)))
		if page == 0 {
			return // next time
		}
		if page&(qinstSharedPage) != 0 || qinstNRules == 0 {
			continue
		}
		first := (page - 1) << qinstPageShift
		for point := first; point < first+1<<qinstPageShift; point++ {
			if qinstRulingOf(point).rule != 0 {
				qinstAppend(point)
			}
		}
	}
}

// qinstTakeTelling gives the points that tell more than they cost more free events, once their
// package is registered.
// Context: writer.
func qinstTakeTelling() {
	const more = qinstTellingFree - qinstFree
	for ; qinstBudgetOn && qinstTellingTables < qinstNTables; qinstTellingTables++ {
		t := &qinstTables[qinstTellingTables]
		qinstKindOf(t.base) // now all rulings of the table have the kind
		for point := t.base; point < t.base+t.probes; point++ {
			o := qinstRulingOf(point)
			if !o.tells() || o.quota != 0 {
				continue
			}
			o.quota = more
			if qinstPaged[point>>qinstPageShift] {
				qinstEachCounter(point, func(c *qinstCounter) { c.quota += more })
			}
		}
	}
}

// tells reports whether a point tells more than it costs: see qinstPartTelling.
// Context: writer.
func (o *qinstRuling) tells() bool { return o.kind == qinstOnce || o.role == qinstServes }

// qinstEnlist puts a point on the list that was reached before.
// Context: writer.
func qinstEnlist(point uint32) {
	if c := qinstAppend(point); c != nil {
		c.hits, c.traced = qinstHitsOf(point)
		c.n = 0
	}
}

// qinstAppend puts a point on the list. It returns nil if it is there, or there is no room.
// The list has a bound, as all memory has. A point without a place there keeps its free
// events and then only counts.
// Context: start, goroutine, writer.
func qinstAppend(point uint32) *qinstControl {
	c := qinstControlOf(point)
	qinstTouch(unsafe.Pointer(c))
	if c.listed {
		return nil
	}
	// A point that is off must be told of, or its hits would read as exact.
	o := qinstRulingOf(point)
	if off := o.rule != 0 && qinstRules[o.rule-1].most == qinstRateOff; !off && qinstListed >= qinstSet.mostListed {
		qinstUnlisted++
		return nil
	}
	c.listed, c.quiet = true, 0
	if c.kind == 0 {
		if c.kind = o.kind; c.kind == 0 {
			c.kind = qinstKindOf(point)
		}
		if c.kind == qinstCalls {
			c.below = uint8(qinstRateTrace - qinstRateCount)
		}
	}
	(*[qinstMaxPoints]uint32)(unsafe.Pointer(qinstTracked))[qinstListed] = point
	qinstListed++
	return c
}

// qinstRuled puts the rule of a point into effect.
// Counters of threads that never reached the point do not exist yet; they get their quota
// from the ruling when they are made.
// Context: start, goroutine, writer.
func qinstRuled(point uint32) {
	o := qinstRulingOf(point)
	r := &qinstRules[o.rule-1]
	switch o.quota = qinstSet.threshold; {
	case o.delayed():
		o.quota = qinstDelayed
	case r.most == qinstRateTime && o.kind == qinstPair:
		o.quota = qinstTimedQuota()
		qinstTimeAll()
	case r.most == qinstRateTrace:
		o.quota += int32(min(r.limit.Burst+r.limit.Rate*qinstWindowNS/1e9, 1<<28))
	}
	switch t := qinstTableOf(point); {
	case r.most == qinstRateOff:
		qinstSetOff(point, 1)
	case qinstUsual != qinstProcProbed && t != nil && point-t.base < t.probes:
		t.setLevel(uintptr(point - t.base))
	}
	if qinstKindOf(point) == qinstOnce {
		qinstSetInLine(point, r.most == qinstRateCount && !o.delayed())
	}
	proc := point - o.within
	if p := qinstControlOf(proc); p.held != 0 || p.turns {
		qinstLetAllGo(proc) // what rules are about is as they say
		p.unit = 0
	}
	if c := qinstControlOf(point); r.most == qinstRateOff || c.off || qinstPaged[point>>qinstPageShift] {
		qinstAppend(point)
		c.seen = false
		if c.off && r.most != qinstRateOff {
			qinstSetOff(point, 0)
		}
	}
	qinstEachCounter(point, func(c *qinstCounter) { c.quota = o.quota })
}

// qinstControlRecorder prepares a new recorder that no thread has yet. The recorder is already
// among all recorders, so that it misses no change that the writer makes to them meanwhile.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstControlRecorder(b *qinstRecorder) {
	if !qinstControlled {
		return
	}
	b.low = qinstSet.threshold + qinstLow
	if qinstSpill != 0 {
		qinstMapTimes(b)
	}
}

// price returns the cost of a traced hit in ns.
// Context: writer.
func (c *qinstControl) price() float64 {
	if c.kind == qinstCalls {
		return 0
	}
	if c.kind == qinstOnce {
		return qinstOncePrice()
	}
	return 2 * qinstEventNS
}

// qinstOncePrice is the price of a point with one event: what operations took that timed
// themselves, within bounds, because some of these were interrupted.
// Context: writer.
func qinstOncePrice() float64 {
	return min(max(qinstOperationNS, qinstOnceLeast*qinstEventNS), qinstOnceMost*qinstEventNS)
}

// qinstPriceOperations takes the mean of what operations took so far, once there are enough.
// Context: writer.
func qinstPriceOperations() {
	n, sum := uint64(0), uint64(0)
	for i := uint32(1); i < qinstNRecorders; i++ {
		t := &(*qinstRecorder)(unsafe.Pointer(qinstRecorders[i])).price[qinstPriceOperation]
		n, sum = n+t.n, sum+t.sum
	}
	if n >= qinstOnceEnough { // they do not time their own first reading of the clock
		each := float64(sum)/float64(n) + float64(qinstReadsTicks)/qinstPriceReads
		qinstOperationNS = each * float64(qinstReadsNS) / float64(qinstReadsTicks)
	}
}

// Prices of an operation, in those of an event, and how many of them are a mean.
const (
	qinstOnceLeast  = 1.3
	qinstOnceMost   = 3
	qinstOnceEnough = 32
)

// qinstAffords is what points may cost in a window: those that tell more than they cost, and the
// others.
type qinstAffords struct {
	telling, other qinstAllowance
	burst          float64 // hits at once of one that tells
}

// qinstAllowance is what a point may cost, in ns.
type qinstAllowance struct {
	each float64
	more float64 // one that costs more: all of them have what the others leave
}

// qinstAllow allots so many ns to points with prices, as many of them as possible.
// Context: writer.
func qinstAllow(prices []float64, ns float64) qinstAllowance {
	a, n := qinstAllowance{each: qinstRateShare(prices, ns)}, 0.
	for _, price := range prices {
		if price <= a.each {
			ns -= price
		} else {
			n++
		}
	}
	a.more = max(0, ns) / max(1, n)
	return a
}

// of is what a point with a price may cost.
// Context: writer.
func (a qinstAllowance) of(price float64) float64 {
	if price <= a.each {
		return a.each
	}
	return a.more
}

// qinstAfford returns the cost that a point may have in a window.
// The tool's own time counts against the budget first, because a budget promises a bound
// on the whole cost of recording.
// Context: writer.
func qinstAfford(now int64, ns float64) qinstAffords {
	if !qinstBudgetOn {
		free := qinstAllowance{each: qinstRateAny}
		return qinstAffords{telling: free, other: free}
	}
	w := &qinstWindow
	qinstScanHits(now)
	qinstPriceOperations()
	cpu, writer, bytes := qinstProcessCPU(), qinstThreadCPU()+qinstSamplersCPU()+qinstLooksCPU(), qinstEventBytes()
	// A program that waits uses no processor time, and any share of none is nothing. Its
	// budget is therefore at least that of a tenth of a processor.
	used := max(float64(cpu-w.cpu), ns*qinstIdleShare)
	reduced := qinstReduce.ns
	tool := float64(writer-w.writer) + float64(reduced-qinstReduce.seen)
	qinstReduce.seen = reduced
	// The cost of counting is estimated: hits times the cost of a hit in a loop. Those of points
	// that are not listed are known since the last scan.
	counting := qinstHoldDear(qinstBudgeting.Target*used, tool, ns)
	w.listed += counting
	tool += counting + w.unlisted*ns/1e9
	spent := tool + float64(bytes-w.bytes)/8*qinstEventNS
	w.cpu, w.writer, w.bytes = cpu, writer, bytes
	allowed := qinstBudgeting.Step(used, spent, ns)
	allowed = max(0, allowed-tool)
	// The points on the list share the rest of the budget, the cheap ones first. The few
	// that cost most are then only counted, and the many cheap ones are recorded fully.
	whole := qinstBudgeting.Target * used
	prices := qinstPricesOf(true)
	part := qinstPartTelling * whole
	w.credit = min(w.credit+part-w.told, qinstTellingAll*1e9*qinstBudgeting.Target)
	part = max(0, part+min(0, w.credit)*ns/qinstTellingSettles)
	a := qinstAffords{telling: qinstAllow(prices, max(allowed, part))}
	a.burst = min(qinstTellingMost, max(0, w.credit)/qinstOncePrice()/float64(max(len(prices), 1)))
	for _, price := range prices {
		if price <= a.telling.each {
			allowed -= price
		}
	}
	a.other = qinstAllow(qinstPricesOf(false), max(0, allowed))
	return a
}

// qinstPricesOf returns what the listed points would cost if they were traced as often as in the
// last window, in ns: those that tell more than they cost, or the others.
// Context: writer.
func qinstPricesOf(telling bool) []float64 {
	list := (*[qinstMaxPoints]uint32)(unsafe.Pointer(qinstTracked))
	prices, n := unsafe.Slice((*float64)(unsafe.Pointer(qinstPrices)), int(qinstListed)), 0
	for i := range qinstListed {
		if c := qinstControlOf(list[i]); qinstRulingOf(list[i]).tells() == telling {
			prices[n] = c.n * c.price()
			n++
		}
	}
	return prices[:n]
}

// qinstEventBytes returns the number of bytes of events so far.
// Context: writer.
func qinstEventBytes() (n uint64) {
	for i := uint32(1); i < qinstNRecorders; i++ {
		b := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[i]))
		n += b.seq * qinstBufferSize
		if p, c := atomic.Loaduintptr(&b.p), atomic.Loaduintptr(&b.buffer); c != 0 && p > c && p <= c+qinstBufferSize {
			n += uint64(p - c)
		}
	}
	return n
}

// qinstScanHits sums the hits of a part of the points, so that all hits are known once or
// twice a second. The cost of counting is estimated from them.
// Context: writer.
func qinstScanHits(now int64) {
	w := &qinstWindow
	if qinstNext == 0 {
		return
	}
	pages := (qinstNext-1)>>qinstPageShift + 1
	if w.scanned == 0 && now-w.scanAt < w.scanGap {
		return
	}
	least := qinstHeldNobody * qinstBudgeting.Target * float64(w.cpu) // of the whole run, that is worth a look
	for part := max(16, pages/40); part > 0 && w.scanned < pages; part-- {
		qinstSumPage(w.scanned, &qinstSums)
		for k, s := range qinstSums {
			point, probed := w.scanned<<qinstPageShift+uint32(k), s[0]-s[2]
			w.sum += float64(probed + s[2]/qinstInLineParts) // as many would cost as much
			if probed > qinstUnseen {
				qinstEnlist(point)
			}
			if s[2] > qinstUnseen && float64(s[2]/qinstInLineParts)*qinstCountNS > least {
				qinstEnlistUnit(point)
			}
		}
		w.scanned++
	}
	if w.scanned >= pages {
		if w.scanAt != 0 && now > w.scanAt {
			w.unlisted = max(0, ((w.sum-qinstLastSum)*qinstCountNS-w.listed)*1e9/float64(now-w.scanAt))
		}
		qinstLastSum = w.sum
		w.sum, w.listed, w.scanned, w.scanAt = 0, 0, 0, now
		w.scanGap = min(2*w.scanGap+qinstHurryNS, qinstScanNS, max(qinstWindowNS, qinstScanPageNS*int64(pages)))
	}
}

// qinstEnlistUnit puts the procedure of a point on the list that is counted in line: it may cost
// much in each of a few activations, which take little of its own quota.
// Context: writer.
func qinstEnlistUnit(point uint32) {
	if o := qinstRulingOf(point); o.kind != 0 || qinstKindOf(point) != 0 {
		proc := point - o.within
		if qinstRulingOf(proc).hold != 0 && qinstControlOf(proc).held == 0 {
			qinstEnlist(proc)
		}
	}
}

var (
	qinstLastSum float64

	qinstClocked  uint32 // points that were timed
	qinstUnlisted uint64 // times that a point found no room on the list
)

// qinstDecide passes a point's hits in a window to the policy and carries out the decision.
// It reports whether the point stays on the list.
// Context: writer.
func qinstDecide(point uint32, ns float64, affords *qinstAffords) bool {
	c := qinstControlOf(point)
	hits, traced, n := c.hits, c.traced, c.n
	rule := &qinstNoRule
	if o := qinstRulingOf(point); o.rule != 0 {
		rule = &qinstRules[o.rule-1]
	}
	level, quota := rule.most, float64(1<<28)
	// The rule decides first, then the budget. Both see every window, also where the
	// other has put the point below trace: otherwise a point would come back with a
	// bucket that is full.
	free, quotaFree := c.rates.Step(rule.limit, ns, n)
	why := "rate"
	if !free {
		level = min(level, rule.limit.Below)
	}
	afford, most, burst := qinstRateLimit{Rate: qinstRateAny}, affords.other.of(n*c.price()), 0.
	if qinstRulingOf(point).tells() {
		most, burst = affords.telling.of(n*c.price()), affords.burst
	}
	if rule != &qinstNoRule && rule.limit.Rate >= qinstRateAny {
		most = qinstRateAny // the user asked for it
	}
	if most < qinstRateAny {
		afford.Rate = most / c.price() * 1e9 / ns
		afford.Burst = max(afford.Rate/20, burst)
	}
	cheap, quotaCheap := c.costs.Step(afford, ns, n)
	if !cheap && level > qinstRateCount {
		level, why = qinstRateCount, "budget"
	}
	// Operations and records have no end that could be timed, and calls have no event at
	// all. Their counters must never hold qinstTimed, because their probes take one from
	// quota without a test.
	if level == qinstRateTime && c.kind == qinstOnce || level > qinstRateCount && c.kind == qinstCalls {
		level = qinstRateCount
	}
	if level > qinstRateCount && qinstIsHeld(point, c.kind == qinstOnce) {
		level, why = qinstRateCount, "budget"
	}
	// Sums of a timed point need memory in every thread. Beyond the bound a point is only
	// counted.
	if level == qinstRateTime && !c.clocked &&
		qinstClocked >= qinstSet.mostClocked/uint32(max(int32(qinstNRecorders)-qinstSpares.Load(), 1)) {
		level, why = qinstRateCount, "memory"
	}
	// A change is recorded before counters change, so that a reader knows from which time on
	// hits are missing. until keeps the hits that were counted before the point came back to
	// trace, because the next sums record tells of them.
	if below := uint8(qinstRateTrace - level); below != c.below {
		if free && why == "rate" {
			why = "rule"
			if c.seen {
				why = "below its limits"
			}
		}
		qinstWriteLevel(point, qinstRateTrace-qinstRateLevel(c.below), level, n*1e9/ns, why)
		c.until = 0
		if level == qinstRateTrace {
			c.until = hits - min(hits, traced)
		}
		qinstNoteBelow(c.below, below)
		c.below, c.seen = below, true
		if c.kind == qinstOnce {
			qinstSetInLine(point, level == qinstRateCount && !qinstRulingOf(point).delayed())
		}
		if c.off = c.off || level == qinstRateOff; c.off {
			v := byte(0)
			if level == qinstRateOff {
				v = 1
			}
			qinstSetOff(point, v)
		}
		if level == qinstRateTime && !c.clocked {
			c.clocked = true
			qinstClocked++
			qinstTimeAll()
		}
	}
	quota = min(quota, quotaFree, quotaCheap)
	// A point far below its limits for a second leaves the list. Its counters get free
	// events, so that it costs nothing until it uses half of them up.
	if level == qinstRateTrace && n < quota/4 && n < qinstFree/4 || rule.limit.Rate >= qinstRateAny && !qinstBudgetOn {
		c.quiet++
	} else {
		c.quiet = 0
	}
	stays := c.quiet < qinstQuiet || c.below != 0 || c.until != 0 || c.clocked // activations may end later
	if !stays {
		quota = max(quota, qinstFree)
		if level == qinstRateTrace && rule.limit.Rate >= qinstRateAny && !qinstBudgetOn {
			quota = 1 << 28
		}
	}
	// Its probe is not reached any more, so nothing about it can change.
	if level == qinstRateOff && hits-min(hits, traced) == c.told && !qinstFlight.on {
		stays = false // it is told of, and will not be hit
	}
	settled := qinstSetQuota(point, c, level, quota)
	c.listed = stays || !settled
	return c.listed
}

// qinstNoteBelow counts the points below trace, for the samplers.
// Context: writer.
func qinstNoteBelow(was, is uint8) {
	switch {
	case was == 0:
		if atomic.Xadd(&qinstBelow, 1) == 1 {
			qinstWakeSamplers()
		}
	case is == 0:
		atomic.Xadd(&qinstBelow, -1)
	}
}

var qinstNoRule = qinstRule{limit: qinstRateLimit{Rate: qinstRateAny}, most: qinstRateTrace}

// qinstSetQuota sets the quota in a point's counters. A thread gets twice its share so far
// of the allowed events, because its share may change. A thread that counts an event at
// this moment may undo the change. The result tells so, and the next window repeats it.
// Only a settled point may leave the list. Otherwise an increment that raced would leave
// a counter tracing for ever.
// Context: writer.
func qinstSetQuota(point uint32, c *qinstControl, level qinstRateLevel, quota float64) (settled bool) {
	settled = true
	// Twice the share, because other threads may reach the point in the next window. If the
	// sum of the counters exceeds the limit, the next window corrects it.
	share := 2 * quota / (float64(c.traced) + float64(qinstNRecorders))
	o := qinstRulingOf(point)
	qinstEachCounter(point, func(counter *qinstCounter) {
		want := qinstLevelQuota(level, share*(float64(counter.traced)+1)+1, quota)
		if o.delayed() {
			want = qinstDelayed
		}
		if d := counter.quota - want; d > qinstLow/2 || d < -qinstLow/2 || level != qinstRateTrace && d != 0 {
			settled = false
		}
		counter.quota = want
	})
	if o.quota = qinstLevelQuota(level, share+1, quota); o.delayed() {
		o.quota = qinstDelayed
	}
	return settled
}

// qinstLevelQuota is the quota of a counter at a level: share events, quota at most.
// Context: writer.
func qinstLevelQuota(level qinstRateLevel, share, quota float64) int32 {
	switch level {
	case qinstRateTrace:
		return qinstSet.threshold + int32(min(share, quota+1, 1<<28))
	case qinstRateTime:
		return qinstTimedQuota()
	}
	return qinstSet.threshold
}

// qinstTimedQuota returns the quota of counters at level time. There are two such values,
// which tell the assembly whether it may read the processor's clock itself.
// Context: start, goroutine, writer.
func qinstTimedQuota() int32 {
	if qinstSlowClock {
		return qinstTimedSlow
	}
	return qinstTimed
}

// qinstTimeAll gives every recorder memory for sums before any counter says "time": a probe
// that finds none drops its time.
// Context: start, goroutine, writer.
func qinstTimeAll() {
	qinstLockMaking()
	if qinstSpill == 0 {
		if p := qinstAddresses(uintptr(qinstMostPoints) * qinstSpillRow); p != 0 &&
			qinstUse(p, uintptr(qinstExtent)*qinstSpillRow) {
			qinstSpill = p
		}
	}
	for i := uint32(1); i < qinstNRecorders; i++ {
		qinstMapTimes((*qinstRecorder)(unsafe.Pointer(qinstRecorders[i])))
	}
	qinstUnlockMaking()
}

// qinstWriteLevel records that a point's level changes.
// Reports need the time from which on hits have no events.
// Context: writer.
func qinstWriteLevel(point uint32, from, to qinstRateLevel, rate float64, why string) {
	qinstLevelsChanged = true
	if qinstFlight.on && !qinstFlight.writes {
		return
	}
	qinstRecordLevel(qinstNow(), point, uint8(from), uint8(to), rate, why)
}

// When sums are written but at the end: never, or where levels change.
const (
	qinstSumsOnce   = -1
	qinstSumsChange = -2
)

// qinstSumsDue writes sums if it is time to.
// Context: writer.
func qinstSumsDue(now int64) {
	if period := qinstSet.sums; period >= 0 && now-qinstSumsLast >= period || period == qinstSumsChange &&
		qinstLevelsChanged {
		qinstSumsLast, qinstLevelsChanged = now, false
		qinstWriteSums()
	}
}

var (
	qinstSumsLast      int64
	qinstLevelsChanged bool
)

// qinstWriteSums records the hits of the points below trace since the last time.
// found is counted first, since the record's length stands before its data; fresh keeps
// the second pass to the same points.
// Context: writer.
func qinstWriteSums() {
	found := uint64(0)
	list := (*[qinstMaxPoints]uint32)(unsafe.Pointer(qinstTracked))
	for i := range qinstListed {
		c := qinstControlOf(list[i])
		c.news = c.told
		if c.below != 0 {
			hits, traced := qinstHitsOf(list[i])
			c.news = max(c.told, hits-min(hits, traced)) // an entry that is being traced is no hit less
		} else if c.until != 0 {
			c.news, c.until = max(c.told, c.until), 0
		}
		if c.fresh = c.news != c.told || c.clocked && qinstTimesOf(list[i]).n != c.timed; c.fresh {
			found++
		}
	}
	if found == 0 {
		return
	}
	now := qinstNow()
	qinstRecordSums(qinstSumsAt, now, found*32)
	qinstSumsAt = now
	for i := range qinstListed {
		c := qinstControlOf(list[i])
		if !c.fresh {
			continue
		}
		t := qinstTimesOf(list[i])
		qinstWord(uint64(list[i]) | uint64(qinstRateTrace-qinstRateLevel(c.below))<<32)
		qinstWord(c.news - c.told)
		qinstWord(t.n - c.timed)
		qinstWord(t.sum - c.took)
		c.told, c.timed, c.took = c.news, t.n, t.sum
	}
	qinstSeal()
}

var qinstSumsAt uint64

// qinstWriteTimes writes the totals of the timed points, and their histograms.
// Threads may time more meanwhile, so the second pass writes at most what the first one
// counted, and zeros where it finds less.
// Context: writer.
func qinstWriteTimes() {
	if qinstSpill == 0 {
		return
	}
	found := uint64(0)
	for k := range qinstNext {
		if qinstTimesOf(k).n != 0 {
			found++
		}
	}
	now := qinstNow()
	qinstRecordTimes(now, found*40)
	for k := uint32(0); found > 0 && k < qinstNext; k++ {
		if t := qinstTimesOf(k); t.n != 0 {
			for _, v := range [...]uint64{uint64(k), t.n, t.sum, t.least, t.most} {
				qinstWord(v)
			}
			found--
		}
	}
	for ; found > 0; found-- { // fill up with zeros
		for range 5 {
			qinstWord(0)
		}
	}
	qinstSeal()
	qinstWriteHistograms(now)
}

// qinstWriteHistograms writes one record for each timed point. The beat is raised for
// each, because there may be many and a thread that ends the program waits only while
// there is progress.
// Context: writer.
func qinstWriteHistograms(now uint64) {
	for k := range qinstNext {
		t := qinstTimesOf(k)
		if t.n == 0 {
			continue
		}
		found := uint64(0)
		for _, n := range t.hist {
			if n != 0 {
				found++
			}
		}
		qinstRecordHistogram(now, k, found*16)
		for bucket, n := range t.hist {
			if n != 0 {
				qinstWord(uint64(bucket))
				qinstWord(n)
			}
		}
		qinstSeal()
	}
}

// qinstTimesOf sums up. The result is valid until the next call.
// There is one result for all callers, since it is large and nothing here allocates; the
// lock or the writer's being alone keeps them apart.
// Context: goroutine, writer.
func qinstTimesOf(point uint32) *qinstTimes {
	t := &qinstTimesScratch
	*t = qinstTimes{}
	seen := false
	for i := uint32(1); i < qinstNRecorders; i++ {
		b := (*qinstRecorder)(unsafe.Pointer(qinstRecorders[i]))
		if b.sums == 0 {
			continue
		}
		if s := b.sum(point); s.seen != 0 {
			if t.sum += s.sum; !seen || s.least < t.least {
				t.least = s.least
			}
			seen = true
			t.most = max(t.most, s.least+s.span)
		}
		if h := b.hist(point); h.point == point+1 {
			for k, n := range h.n {
				t.hist[k] += uint64(n)
			}
		}
	}
	if qinstSpill != 0 {
		row := (*[qinstHistBuckets]uint32)(unsafe.Pointer(qinstSpill + uintptr(point)*qinstSpillRow))
		for k, n := range row {
			t.hist[k] += uint64(n)
		}
	}
	// How many there were is the histogram's sum, so that number and shape agree whenever
	// they are read.
	for _, n := range t.hist {
		t.n += n
	}
	return t
}
