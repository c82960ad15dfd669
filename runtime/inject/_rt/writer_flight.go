package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// The ring is the recorder: buffers that are kept lie where threads filled them, and
// nothing is copied until a file is asked for. Keeping costs the writer a look at each
// buffer.

// The flight recorder: QINST=mode=flight,keep=10s. Full buffers are not written but kept,
// and the oldest make room. A trigger writes the kept buffers as a separate file. The first
// file has only its head until the program panics; then the rest follows there. If the
// program is killed, readers find the rest in the ring. A program that ends normally leaves
// no first file.

const qinstClockNS = 1e9 // between readings of the clocks that are kept

// The list of kept buffers is the writer's alone. Others raise asked, and wait for done.
var qinstFlight struct {
	on, writes  bool
	ns          int64  // how long is kept; 0: as much as there is room
	most        uint32 // buffers
	first, last uint32 // kept ones, the oldest first
	n           uint32
	asked, done uint32 // files
	signal      uint32 // that asks for one; 0: none does
	ticksPerMS  float64
	clocks      [64][3]uint64 // the last readings
	read        uint32
	readAt      int64
	since       int64     // the reducer was asked for what it has; 0: it was not
	round       uint32    // for the answer to this
	path        qinstPath // of the last file
	fd          int32     // of the first one, while another is written
	home        qinstFile // it
}

// qinstStartFlight prepares the recorder; false if there is nowhere to write to.
// It needs a file, since a pipe cannot be given up and begun again.
// Context: writer.
func qinstStartFlight() bool {
	f := &qinstFlight
	if !qinstOut.regular {
		qinstSay("QINST: mode=flight writes files, found out=", qinstSet.out, "; the program goes on untraced")
		return false
	}
	if f.ns == 0 && f.most == 0 {
		f.ns = 10e9
	}
	// A quarter of the buffers is for threads to fill while the others are kept.
	if f.most == 0 {
		f.most = qinstSet.mostBuffers * 3 / 4 // the others are being filled
	}
	qinstSet.mostBuffers = max(qinstSet.mostBuffers, f.most/3*4+4)
	f.on, qinstSet.limit = true, 0
	qinstFlightClock()
	return true
}

// qinstKeep keeps a list of full buffers, the last first, and lets the oldest go.
// The list comes newest first, as threads push it, and is turned around here, because the
// oldest buffer is the first to go.
// Context: writer.
func qinstKeep(list uint32) {
	f := &qinstFlight
	var oldest uint32
	for list != 0 {
		h := qinstBufferAt(list)
		list, h.next, oldest = h.next, oldest, list
	}
	for oldest != 0 {
		h := qinstBufferAt(oldest)
		i := oldest
		oldest, h.next = h.next, 0
		if f.last == 0 {
			f.first = i
		} else {
			qinstBufferAt(f.last).next = i
		}
		f.last = i
		f.n++
	}
	qinstForget()
}

// qinstForget lets buffers go that are too many, or too old: the one behind is older than
// what is kept, too.
// One buffer is always kept. Its successor's time says how old its last event can be.
// Context: writer.
func qinstForget() {
	f := &qinstFlight
	now := qinstNow()
	for f.n > 1 {
		h := qinstBufferAt(f.first)
		next := qinstBufferAt(h.next)
		age := float64(now-next.ticks) / f.ticksPerMS * 1e6
		// Threads must keep enough buffers, even if the kept past becomes shorter than the
		// settings ask: losing new events would be worse.
		room := int32(qinstBuffers.limit.Load())-qinstBuffers.used.Load() > 3*qinstReserve
		if room && f.n <= f.most && (f.ns == 0 || f.ticksPerMS == 0 || age < float64(f.ns)) {
			return
		}
		f.first = h.next
		f.n--
		h.bytes = 0
		qinstBuffers.put(uintptr(unsafe.Pointer(h)))
	}
}

// qinstFlightClock keeps a reading of the clocks.
// Context: writer.
func qinstFlightClock() {
	f := &qinstFlight
	if now := nanotime(); now-f.readAt >= qinstClockNS {
		f.readAt = now
		ticks, mono, wall := qinstClocks()
		f.clocks[f.read%uint32(len(f.clocks))] = [3]uint64{ticks, uint64(mono), uint64(wall)}
		f.read++
		if first := &f.clocks[0]; f.read > 1 && uint64(mono) > first[1] {
			f.ticksPerMS = float64(ticks-first[0]) / float64(uint64(mono)-first[1]) * 1e6
		}
	}
}

// qinstFlightServe writes a file if one is asked for.
// The names of the first file and of the new one change places for the time of writing,
// since all that writes goes by qinstOut.
// Context: writer.
func qinstFlightServe() {
	f := &qinstFlight
	n := atomic.Load(&f.asked)
	if !f.on || n == f.done || !qinstFlightWhole() {
		return
	}
	f.fd, f.home = qinstOut.fd, qinstOutFile
	if errno := qinstCreateOutput(); errno != 0 {
		qinstSay("cannot create ", qinstOutName(), ": ", qinstErrno(errno))
		qinstNameFlight("")
	} else {
		qinstOut.segment = 0
		qinstFlight.writes = true
		qinstWriteFlight("flight recorder")
		qinstFlight.writes = false
		if qinstOut.fd >= 0 {
			closefd(qinstOut.fd)
		}
		qinstNameFlight(qinstOutName())
	}
	qinstOut.fd, qinstOutFile = f.fd, f.home
	qinstNoteOutput()
	atomic.Store(&f.done, n)
}

// qinstNameFlight sets the name of the last file. Goroutines copy it meanwhile, so that
// both sides take the lock: without it one of them could read half of a name.
// Context: writer.
func qinstNameFlight(name string) {
	qinstLockMemory()
	qinstFlight.path.n = 0
	qinstFlight.path.str(name)
	qinstUnlockMemory()
}

// qinstFlightWhole reports whether the reducer has given back all buffers that it had when
// the file was requested. It does not wait for a reducer that hangs.
// Context: writer.
func qinstFlightWhole() bool {
	f, r := &qinstFlight, &qinstReduce
	if !qinstReducing() || atomic.Load(&qinstEnding) != 0 {
		return true
	}
	if f.since == 0 {
		f.since, f.round = nanotime(), atomic.Xadd(&r.asked, 1)
	}
	if int32(atomic.Load(&r.answered)-f.round) < 0 && nanotime()-f.since < qinstReducePatience {
		return false
	}
	f.since = 0
	return true
}

// qinstWriteFlight writes the kept buffers, as a separate stream or as the rest of one.
// All tables come first, even if written before, because the file must be readable alone.
// Context: writer.
func qinstWriteFlight(why string) {
	f := &qinstFlight
	qinstNoteSwitches(true)
	// Later events would be incomplete, because threads go on during the writing.
	end, reduced := qinstNow(), qinstReducing() && atomic.Load(&qinstReduce.nparts) != 0
	if reduced {
		end = qinstReduce.partsAt
	} else if at := atomic.Load64(&qinstEndTime); at != 0 {
		end = at
	}
	// Clocks of the time that is kept come with it. The one of now could be hours of
	// drift away from the oldest event.
	qinstForgetWritten()
	qinstWriteHead()
	for i := f.read - min(f.read, uint32(len(f.clocks))); i < f.read; i++ {
		c := &f.clocks[i%uint32(len(f.clocks))]
		qinstRecordClock(c[0], int64(c[1]), int64(c[2]), qinstClockNS+qinstTickNS*qinstSlowest)
	}
	qinstWriteNews()
	if reduced {
		qinstWriteParts()
	} else {
		qinstWriteOpen() // first: what is full by then comes again, whole
	}
	qinstKeep(qinstTakeFull())
	for i := f.first; i != 0; {
		h := qinstBufferAt(i)
		i = h.next
		qinstWriteBuffer(h, uintptr(h.bytes))
		qinstPush()
	}
	qinstWritePackets()
	qinstWriteNews()
	qinstWriteBelow()
	qinstWriteSources()
	if atomic.Load(&qinstEnding) == 0 {
		qinstWriteGoroutines()
	}
	qinstWriteClock()
	qinstRecordEnd(end, why, qinstStatus, 0, 0, 0, 0)
	qinstWriteCheck()
	qinstPush()
	qinstReduceGoOn()
}

// qinstWriteBelow tells of the points that are not traced.
// Context: writer.
func qinstWriteBelow() {
	list := (*[qinstMaxPoints]uint32)(unsafe.Pointer(qinstTracked))
	for i := range qinstListed {
		if c := qinstControlOf(list[i]); c.below != 0 {
			qinstWriteLevel(list[i], qinstRateTrace, qinstRateTrace-qinstRateLevel(c.below), 0, "before")
		}
	}
}

// qinstWriteGoroutines tells where the goroutines started that are there. It takes a
// lock: not while the program dies.
// A goroutine that started before the kept events has no event with its function. Without
// this record its time could not be attributed.
// Context: writer.
func qinstWriteGoroutines() {
	lock(&allglock)
	for _, gp := range allgs {
		if s := readgstatus(gp) &^ _Gscan; s == _Gidle || s == _Gdead {
			continue
		}
		qinstNotePC(gp.startpc)
		qinstRecordGoroutine(gp.goid, uint64(gp.startpc))
	}
	unlock(&allglock)
	qinstWriteNews()
}

// qinstFlightEnd ends the first file. If the program did not end normally, the kept buffers
// complete the file. After a normal end the file is removed, because nobody asked for it.
// Context: writer.
func qinstFlightEnd(why uint32) {
	qinstFlightServe()
	if why == qinstWhyExit || why == qinstWhyExec || why == qinstWhyHost {
		qinstUnlinkOutput()
		return
	}
	qinstOut.segment++
	qinstFlight.writes = true
	qinstWriteFlight(qinstWhyText[why])
}
