package runtime

// Delays: a hit of a point takes longer, by a time that its rule names (QINST=main.f=+5us). Such a
// point is only counted. Whatever the length, its hits come here, so that runs with different
// delays differ in these alone.
//
// A delay is time of a processor, as work is. So it is not over before the thread has had it: what
// the system took the thread away for does not count, and the goroutine gives its processor away
// where the scheduler or the collector wants it. Of a switch to another process the thread has a
// part, some 90 us, and there it asks for its processor time. Interrupts do count, because work has
// them too. They, and the last reading of the clock, make a delay longer than it was to be, and the
// thread's next ones are shorter by that, so that delays are right on average.

const (
	qinstDelayed      = 1<<31 - 3 // quota of a counter; see the table at the head of doc.go
	qinstDelayedToken = 1 << 30   // of a loop's entry: at its exit the iterations count

	qinstAwayNS  = 100e3 // in a longer gap the system had taken the thread away
	qinstOldNS   = 50e3  // a reading of a thread's processor time is old
	qinstOwedPay = 8     // one part of a delay in so many pays for what earlier ones took too long
)

// The processor predicts where delays end that are as short as the first of qinstGuessedNS, and not
// where those end that are as long as the second. qinstTrialNS are delays that tell what one of
// either kind takes beside.
var (
	qinstGuessedNS = [2]float64{200, 600}
	qinstTrialNS   = [2]float64{200, 1000}
)

var (
	qinstTickRate     float64 // ticks in a ns; 0: not yet known
	qinstAwayTicks    uint64
	qinstOldTicks     uint64
	qinstGuessedTicks [2]uint64
	qinstAround       [2]uint64 // ticks that trials take beside the time that they measure
)

// delayed reports whether hits of a point take longer.
// Context: start, probe, hook, goroutine, writer.
func (o *qinstRuling) delayed() bool { return o.rule != 0 && qinstRules[o.rule-1].limit.Delays }

// qinstTicksOf is a time in ticks of the clock that probes read.
// Context: start, goroutine, writer.
func qinstTicksOf(ns float64) uint64 {
	if qinstTickRate == 0 {
		const long = 2e6 // ns, of which readings are off by some ten
		from, began := qinstReadBoth()
		for nanotime()-began < long {
		}
		to, ended := qinstReadBoth()
		qinstTickRate = float64(to-from) / float64(ended-began)
		qinstAwayTicks = uint64(qinstAwayNS * qinstTickRate)
		qinstOldTicks = uint64(qinstOldNS * qinstTickRate)
		// Behind a delay whose end was not predicted all waits for that end, if it is alone; the
		// next one of a row waits less. What a program does is in between: delays of 0.5 to 2 us
		// were 0 to 21 ns too long by a row on AMD and -7 to +17 on Intel, and by one that is alone
		// -10 to +5, and -45 to -16.
		const row = 8
		for i := range qinstAround {
			qinstGuessedTicks[i] = uint64(qinstGuessedNS[i] * qinstTickRate)
			took := qinstDelayTries(uint64(qinstTrialNS[i]*qinstTickRate), row)
			qinstAround[i] = took - min(took, qinstDelayTries(0, row))
		}
		alone := qinstDelayTries(uint64(qinstTrialNS[1]*qinstTickRate), 1)
		qinstAround[1] = max(qinstAround[0], (2*qinstAround[1]+alone)/3)
	}
	return uint64(ns * qinstTickRate)
}

// qinstDelayTries is how long a delay takes beside what it measures, in ticks, as one of so many in
// a row: the median of some rows, because interrupts come in others.
// Context: start, goroutine, writer.
func qinstDelayTries(ticks, row uint64) uint64 {
	var took [21]uint64
	for i := range took {
		from, spent := qinstNow(), uint64(0)
		for range row {
			spent += qinstDelayFor(ticks)
		}
		d := qinstNow() - from - spent
		k := i
		for ; k > 0 && took[k-1] > d; k-- {
			took[k] = took[k-1]
		}
		took[k] = d
	}
	return took[len(took)/2] / row
}

// qinstReadBoth reads both clocks at one time: of some tries the one in which nothing came between.
// Context: start, goroutine, writer.
func qinstReadBoth() (ticks uint64, ns int64) {
	least := ^uint64(0)
	for range 48 {
		before := qinstNow()
		mono := nanotime()
		if d := qinstNow() - before; d < least {
			least, ticks, ns = d, before+d/2, mono
		}
	}
	return ticks, ns
}

// qinstReading is the processor time that a thread had when it last asked. How much of a gap it had
// can be told only from there on, so that long delays begin with a reading that is not old, and
// others do as soon as they have paid for the last one.
type qinstReading struct {
	at uint64 // ticks, when the answer came; 0: never
	ns uint64
}

// had returns how many ticks the thread had since it last asked.
// Context: start, probe, goroutine, writer.
//
//go:nosplit
func (a *qinstReading) had() uint64 {
	ns := qinstThreadCPU()
	had := ns - a.ns
	a.ns, a.at = ns, qinstNow()
	return uint64(float64(had) * qinstTickRate)
}

// old reports whether a delay of so many ticks is to begin with a reading.
// Context: start, probe, goroutine, writer.
//
//go:nosplit
func (b *qinstRecorder) old(now, ticks uint64) bool {
	return now-b.reading.at > qinstOldTicks && b.owed < ticks
}

// qinstDelayFor spins until it has had so much time, and returns how much it had. The goroutine may
// go on on another thread, so nothing of the thread may be kept over qinstGiveWay. On the system
// stack it cannot give the processor away.
// Context: start, probe, goroutine, writer.
//
//go:nosplit
func qinstDelayFor(ticks uint64) (spent uint64) {
	gp := getg()
	last := qinstNow()
	if b := gp.m.qinst; b.num != 0 && b.old(last, ticks) {
		b.reading.had()
	}
	for spent < ticks {
		now := qinstNow()
		if d := now - last; d < qinstAwayTicks {
			spent += d
		} else if b := gp.m.qinst; b.num != 0 {
			known := last - b.reading.at
			had := b.reading.had()
			spent += min(d, had-min(had, known))
			now = b.reading.at // the gap had the reading, too
		}
		last = now
		if gp.stackguard0 == stackPreempt && gp == gp.m.curg {
			qinstGiveWay(gp)
			last = qinstNow()
			if b := gp.m.qinst; b.num != 0 {
				b.reading.had()
			}
		}
	}
	return spent
}

// qinstGiveWay lets other goroutines run. Where none waits in the queue of all, the goroutine waits
// in that of its own processor. In the queue of all an idle processor would be woken for it, which
// costs both threads some 50 us.
// Context: start, probe, goroutine, writer.
//
//go:nosplit
func qinstGiveWay(gp *g) {
	if sched.runq.size == 0 && canPreemptM(gp.m) {
		mcall(goyield_m)
	} else {
		goschedguarded()
	}
}
