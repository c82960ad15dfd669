package runtime

import "internal/runtime/atomic"

// qinstJumpsWanted reports whether jumps are to be written.
// Context: writer.
func qinstJumpsWanted() bool {
	for k := range qinstNTables {
		if atomic.Load(&qinstTables[k].changed) != 0 {
			return true
		}
	}
	return false
}

// qinstMayStop reports whether the world may be stopped for jumps now.
// Context: writer.
func qinstMayStop() bool {
	j := &qinstJumps
	if !j.begun {
		return false
	}
	if j.since == 0 {
		j.since = nanotime()
	}
	return atomic.Load(&qinstEnding) == 0 && atomic.Load(&j.state) == qinstJumperParked &&
		nanotime() >= qinstNextStop()
}

// qinstNextStop is from when on the world may be stopped again.
// Context: writer.
func qinstNextStop() int64 {
	j := &qinstJumps
	if qinstSet.bursts != 0 {
		return 0
	}
	return j.since + (j.all-qinstStopFirst)*qinstStopShare
}

// qinstStopForJumps has the world stopped and jumps written, and waits for that, but not for long:
// threads may need buffers. It reports whether all are written.
// Context: writer.
func qinstStopForJumps() bool {
	const patience, look, parks = 5_000_000, 500_000, 20 // ns, ns, us
	j := &qinstJumps
	if !j.begun {
		return false
	}
	for from := nanotime(); qinstJumpsWanted() && nanotime()-from < patience; {
		if atomic.Load(&j.state) == qinstJumperParked { // where it stays until it is wanted
			atomic.Store(&j.done, 0)
			atomic.Store(&j.state, qinstJumperWanted)
		}
		if atomic.Load(&j.state) == qinstJumperWanted {
			qinstMakeRoom()
		}
		if atomic.Load(&j.done) == 0 {
			futexsleep(&j.done, 0, look)
		} else {
			usleep(parks) // it is about to park
		}
	}
	return !qinstJumpsWanted()
}

// qinstMakeRoom lets a processor look for another goroutine, which is the jumper then: see
// qinstJumperNext. Where none runs, the first that does takes it. The writer wakes none: it might
// have to start a thread for that, which would have the writer's table of descriptors.
// Context: writer.
func qinstMakeRoom() {
	lock(&allpLock)
	first := cheaprand()
	for i := range allp {
		if pp := allp[(first+uint32(i))%uint32(len(allp))]; pp.status == _Prunning && preemptone(pp) {
			break
		}
	}
	unlock(&allpLock)
}

// qinstTellForeign tells of procedures over whose first bytes something else was written, by a
// debugger or by the program itself. They are left as they are, and what runs of them is not known.
// Context: writer.
func qinstTellForeign() {
	if atomic.Load(&qinstForeign) == 0 {
		return
	}
	atomic.Store(&qinstForeign, 0)
	for k := range qinstNTables {
		t := &qinstTables[k]
		for i := uintptr(0); t.pairs != 0 && i < uintptr(t.probes); i++ {
			if jump := t.jumpOf(i); *jump&qinstJumpForeign != 0 {
				*jump &^= qinstJumpForeign
				qinstRecordLevel(qinstNow(), t.base+uint32(i), uint8(qinstRateTrace), 0, 0, "foreign")
			}
		}
	}
	qinstSay("found code that is not the program's at the beginning of procedures, as debuggers and the program itself " +
		"may write it; these procedures have no probes from here on")
}
