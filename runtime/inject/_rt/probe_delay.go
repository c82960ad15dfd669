package runtime

// qinstAroundOf is what a delay of so many ticks takes beside what it measures. In between the
// processor predicts where some end.
// Context: probe, goroutine.
//
//go:nosplit
func qinstAroundOf(ticks uint64) uint64 {
	short, long := qinstGuessedTicks[0], qinstGuessedTicks[1]
	switch {
	case ticks <= short:
		return qinstAround[0]
	case ticks >= long:
		return qinstAround[1]
	}
	return qinstAround[0] + (qinstAround[1]-qinstAround[0])*(ticks-short)/(long-short)
}

// qinstDelayEntry is the entry of a procedure or loop that takes longer: below is its frame's
// distance from the top of the stack.
// Context: probe.
//
//go:nosplit
func qinstDelayEntry(point, late, below uint32) (uint64, *qinstStack) {
	if o := qinstRulingOf(point); o.within == 0 {
		if o.rule != 0 && qinstRules[o.rule-1].meets {
			qinstArriveIn(point, below)
		} else {
			qinstDelay(point, 1)
		}
		if qinstSampling == 0 {
			return 0, nil
		}
		return qinstOpen(getg(), point|late, below)
	}
	token, s := qinstOpen(getg(), point|late, below)
	if s == nil {
		return 0, nil // its iterations are not delayed, as they are not recorded
	}
	s.frame(uint32(token) - 1).trips = 0
	return (token-1)<<32 | qinstDelayedToken | uint64(point), nil
}

// qinstDelayTrips is the exit of a loop that takes longer. Those iterations that were not delayed
// on their own are so together.
// Context: probe.
//
//go:nosplit
func qinstDelayTrips(token, trips uint64) {
	s, d := getg().qinstStack, qinstDepthOf(token)
	if d < s.size {
		if turned := s.frame(d).trips; trips > turned {
			trips -= turned
		} else {
			trips = 0
		}
	}
	qinstDelay(uint32(token&(qinstMaxPoints-1)), trips)
	qinstClose(token)
}

// qinstDelay lets the goroutine that has hit a point n times take longer.
// Context: probe.
//
//go:nosplit
func qinstDelay(point uint32, n uint64) {
	o := qinstRulingOf(point)
	if o.rule == 0 {
		return
	}
	if getg().m.qinst == qinstNone() { // it came to this thread in a loop, which counts nowhere else
		qinstRecorderFor(point)
	}
	if gp := getg(); qinstSet.virtual {
		if s := qinstStackFor(gp, gp.m.qinst); s != nil {
			s.owed += int64(n * qinstRules[o.rule-1].ns)
		}
		return
	}
	qinstSpend(n * qinstRules[o.rule-1].ticks)
}

// qinstSpend lets the goroutine use so much time of its processor.
// Context: probe, goroutine.
//
//go:nosplit
func qinstSpend(ticks uint64) {
	ticks -= min(ticks, qinstAroundOf(ticks))
	if b := getg().m.qinst; b.num != 0 {
		pays := min(b.owed, ticks/qinstOwedPay)
		b.owed -= pays
		ticks -= pays
	}
	spent := qinstDelayFor(ticks)
	if b := getg().m.qinst; b.num != 0 { // it may be another thread's
		b.owed += spent - ticks
	}
}
