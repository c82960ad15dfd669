package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// qinstReduceWake makes the reducer go on. The writer calls it.
// It uses injectglist, as the network poller does, because neither has a P. If a thread has to be
// started for that, another one does so: the writer has a table of descriptors of its own.
// Context: writer.
func qinstReduceWake() {
	r := &qinstReduce
	if atomic.Load(&qinstEnding) == 0 && atomic.Load(&r.state) == qinstReduceParked &&
		atomic.Cas(&r.state, qinstReduceParked, qinstReduceWorks) {
		getg().m.lockedExt = 1
		var list gList
		list.push(r.gp.ptr())
		injectglist(&list)
	}
}

// qinstDeath ends the recording of a program that a signal ends, once extensions are done or
// make no progress.
// Context: writer.
func qinstDeath() {
	r := &qinstReduce
	if atomic.Load(&r.deadly) == 0 {
		return
	}
	now, beat := nanotime(), atomic.Load(&r.beat)
	if r.waited == 0 || beat != r.waitsAt {
		r.waited, r.waitsAt = now, beat
	}
	if atomic.Load(&r.answered) == atomic.Load(&r.asked) || atomic.Load(&r.state) == qinstReduceLeft ||
		now-r.waited > qinstReducePatience {
		atomic.Store(&qinstEnding, qinstWhySignal+1)
	}
}

// qinstReducing reports whether buffers go through the reducer.
// Context: hook, writer.
func qinstReducing() bool {
	s := atomic.Load(&qinstReduce.state)
	return s == qinstReduceWorks || s == qinstReduceParked
}

// qinstTakeFull returns the list of buffers that can be written.
// Without a reducer it is the list that threads push to. With one it is the list of buffers
// that the reducer gave back.
// Context: writer.
func qinstTakeFull() uint32 {
	r := &qinstReduce
	if !qinstReducing() {
		return uint32(qinstFull.Swap(0))
	}
	now := nanotime()
	if at := atomic.Loadint64(&r.held); at != 0 {
		if now-at > qinstReducePatience {
			qinstReduceGoOn() // no request is open any more
		}
	} else if qinstReduceWanted() || now-r.tick >= qinstTickNS {
		r.tick = now
		qinstReduceWake()
	}
	return uint32(r.out.Swap(0))
}

// qinstWritePackets writes the packets that the reducer has made.
// Context: writer.
func qinstWritePackets() {
	r := &qinstReduce
	if p := atomic.Loaduintptr(&r.packets); p != 0 {
		qinstWriteKinds()
		qinstWriteSealed(p, r.size, r.sealed, r.sums)
		qinstPush()
		atomic.Storeuintptr(&r.packets, 0)
	}
}

// qinstWriteParts writes the parts of unfinished buffers that the reducer gave.
// Each is written with the copy of its head, because the buffer may belong to another recorder
// by now.
// Context: writer.
func qinstWriteParts() {
	r := &qinstReduce
	n := atomic.Load(&r.nparts)
	for i := range n {
		part := (*qinstPart)(unsafe.Pointer(r.parts + uintptr(i)*unsafe.Sizeof(qinstPart{})))
		qinstWriteEvents(&part.head, part.p, part.n)
		qinstPush()
	}
}

// qinstReduceGoOn lets the reducer go on after an answer.
// Context: writer.
func qinstReduceGoOn() {
	atomic.Store(&qinstReduce.nparts, 0)
	atomic.Storeint64(&qinstReduce.held, 0)
}

// qinstLeaveReducer writes what the reducer was given and has not given back, once
// the program has ended without it.
// It waits until the reducer's beat stands still, because that may be in the middle of
// changing a buffer; then buffers are found by their bytes, which are 0 where they were
// changed and not given back.
// Context: writer.
func qinstLeaveReducer() {
	r := &qinstReduce
	atomic.Store(&r.state, qinstReduceLeft)
	for beat := r.beat; ; beat = r.beat {
		usleep(1000) // it may be changing a buffer
		if atomic.Load(&r.beat) == beat {
			break
		}
	}
	qinstWritePackets()
	qinstWriteList(uint32(r.out.Swap(0)))
	qinstFull.Store(0)
	for i := uint32(1); i <= min(qinstBuffers.fresh.Load(), qinstBuffers.limit.Load()); i++ {
		if h := qinstBufferAt(i); h.bytes != 0 {
			h.next = 0
			qinstWriteList(i)
		}
	}
	qinstPush()
}

// qinstWriteDropped reports how many events extensions have dropped.
// Context: writer.
func qinstWriteDropped() {
	r := &qinstReduce
	if r.run == nil {
		return
	}
	found, sum := uint64(0), uint64(0)
	for k := range qinstNext {
		if n := *qinstReduceDropped(k); n != 0 {
			found++
			sum += n
		}
	}
	if sum == r.told {
		return
	}
	r.told = sum
	qinstRecordReduced(qinstNow(), found*16)
	for k := uint32(0); found > 0 && k < qinstNext; k++ {
		if n := *qinstReduceDropped(k); n != 0 {
			qinstWord(uint64(k))
			qinstWord(n)
			found--
		}
	}
	for ; found > 0; found-- {
		qinstWord(0)
		qinstWord(0)
	}
	qinstSeal()
}
