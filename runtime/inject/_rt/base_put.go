package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// Events, and how probes and hooks get buffers for them. An event is one to three words.
// The first has the time since the event before it in its upper half, the kind in bits 24
// to 31, and an argument below:
//
//	63            32 31   24 23         0
//	 ticks since last  kind   argument
//
// So an event costs one clock reading and one or a few stores. The test for room compares
// with end, which leaves space for the longest event. After a break (a long time, a gap,
// another goroutine) qinstQuota writes more, and tests for more room. The fast side is
// written out in each probe, because it is a few instructions and a call costs as many.
//
// Buffers come from the list of free ones, then from fresh ones up to a limit that the
// writer raises in time. A thread that gets none is starved. Its threshold goes up until
// the writer feeds it, so that its entries cost a comparison and not a search.

// Of the last buffers entries get none, because an entry that finds no buffer is still counted.
// Records and operations on synchronization objects, which tell more than they cost, may take half
// of these, and the rest is kept for scheduling events and exits: the analyses need all of them.
const (
	qinstReserve     = 16
	qinstReserveLast = qinstReserve / 2
)

// qinstCountOnly is the threshold of a recorder whose points only count.
const qinstCountOnly = 1<<31 - 5

var (
	qinstStarved uint32       // set when a recorder was starved
	qinstTokens  atomic.Int32 // buffers that the budget has left; all but entries may overdraw
)

// qinstQuota is the slow side of every event: afterwards the longest event fits
// at b.p, its time distance fits 32 bits, and the events so far say that g runs
// on the thread. It reports false if there is no buffer.
// After a break it writes the events that readers need to go on, at most qinstContext bytes
// in all: a time if the distance is too long for 32 bits, a gap if events were lost, the
// goroutine if no event told of it.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstQuota(b *qinstRecorder, g, now uint64, reserve uint32) bool {
	if b.p == 0 || b.p+qinstContext > b.end {
		if !qinstSwap(b, g, now, reserve) {
			return false
		}
	}
	// Events need a goroutine event before them then, which readers would take for one
	// that runs.
	if b.g != g && qinstStates == 0 {
		return false // no event told that g runs here: recording is over
	}
	p := b.p
	if (now-b.last)>>32 != 0 {
		*(*uint64)(unsafe.Pointer(p)) = qinstEvTime << 24
		*(*uint64)(unsafe.Pointer(p + 8)) = now
		p += 16
		b.last = now
	}
	// The record of the gap stands in front of the first event that found room again,
	// with the time at which it began.
	if b.lost != 0 {
		*(*uint64)(unsafe.Pointer(p)) = (now-b.last)<<32 | qinstEvGap<<24
		*(*uint64)(unsafe.Pointer(p + 8)) = b.gapFrom
		*(*uint64)(unsafe.Pointer(p + 16)) = b.lost
		p += 24
		b.last = now
		b.lost = 0
	}
	if b.g != g {
		*(*uint64)(unsafe.Pointer(p)) = (now-b.last)<<32 | qinstEvGoroutine<<24
		*(*uint64)(unsafe.Pointer(p + 8)) = g
		p += 16
		b.last = now
		b.g = g
	}
	qinstPublish(&b.p, p)
	return true
}

// qinstSwap gives the full buffer to the writer and takes an empty one.
// The order matters: the header is complete before p is published, because a reader of
// the ring takes a buffer whose p is set for one that can be read.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstSwap(b *qinstRecorder, g, now uint64, reserve uint32) bool {
	if b.p != 0 {
		qinstGiveAway(b)
	}
	if qinstStates == 0 {
		return false // ending, or over the limit
	}
	// Buffers may be handed out by tokens. Exits and scheduling events may overdraw, and the next
	// serving is smaller by that. Of a budget so may what tells more than it costs, as rate control
	// bounds that; nothing else would bound it under a rate of bytes.
	if qinstRationed() && qinstTokens.Add(-1) < 0 {
		if reserve == qinstReserve || reserve != 0 && qinstSet.rate != 0 {
			qinstStarve(b, reserve)
			return false
		}
		qinstStarve(b, qinstReserve)
	}
	b.yielded, b.yields = 0, 0 // another buffer may be in the same place
	c := qinstBuffers.get(reserve)
	if c == 0 {
		if reserve > 0 {
			qinstStarve(b, reserve)
		}
		return false
	}
	h := (*qinstBuffer)(unsafe.Pointer(c))
	h.num, h.tid, h.seq = b.num, b.tid, b.seq
	h.ticks, h.g, h.proc = now, g, b.proc
	b.last, b.g = now, g
	b.buffer = c
	b.end = c + qinstBufferSize - qinstLongest
	qinstPublish(&b.p, c+qinstHeadSize)
	return true
}

// qinstStarve makes the thread's entries only count until the writer has buffers for it again,
// because a search at every entry would cost more than tracing; and the other points, too, if
// one of these was refused. Exits and scheduling events still find the reserve, so that open
// procedures get closed.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstStarve(b *qinstRecorder, reserve uint32) {
	b.threshold = qinstCountOnly
	if reserve == qinstReserveLast {
		b.telling = qinstCountOnly
	}
	if atomic.Load(&qinstStarved) == 0 {
		atomic.Store(&qinstStarved, 1)
		if qinstRationed() {
			qinstWake() // it looks seldom while no thread is starved
		}
	}
}

// qinstGiveAway puts the thread's buffer on the list of full ones.
// p is set to 0 before the buffer is on the list. Otherwise a thread that writes open
// buffers could write this one twice under the same number.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstGiveAway(b *qinstRecorder) {
	c := b.buffer
	if c == 0 {
		return
	}
	h := (*qinstBuffer)(unsafe.Pointer(c))
	h.bytes = uint32(b.p - c - qinstHeadSize)
	qinstPublish(&b.p, 0)
	b.buffer = 0
	b.seq++
	qinstPushFull(c)
}

// qinstLost counts an event that found no buffer. The gap record that the next event
// writes says how many, and since when.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstLost(b *qinstRecorder, now uint64) {
	if qinstStates == 0 {
		return // recording is over, which has a record of its own
	}
	if b.lost == 0 {
		b.gapFrom = now
	}
	b.lost++
}

// qinstPut appends a scheduling event of this thread, of one word: head is its
// kind and argument. on is the goroutine that the reader is to see running on
// the thread. qinstPut2 and qinstPut3 append longer ones.
// Context: probe, hook, goroutine, writer.
//
//go:nosplit
func qinstPut(now, on, head uint64) {
	if b := qinstReadyFor(now, on); b != nil {
		*(*uint64)(unsafe.Pointer(b.p)) = (now-b.last)<<32 | head
		b.last = now
		qinstPublish(&b.p, b.p+8)
		if now&qinstItself == 0 {
			b.took(qinstPriceOf(head), now)
		}
	}
}

// qinstPut2 is qinstPut with one more word.
// Context: start, probe, hook, writer, sampler.
//
//go:nosplit
func qinstPut2(now, on, head, w1 uint64) {
	if b := qinstReadyFor(now, on); b != nil {
		*(*uint64)(unsafe.Pointer(b.p)) = (now-b.last)<<32 | head
		*(*uint64)(unsafe.Pointer(b.p + 8)) = w1
		b.last = now
		qinstPublish(&b.p, b.p+16)
		if now&qinstItself == 0 {
			b.took(qinstPriceOf(head), now)
		}
	}
}

// qinstPut3 is qinstPut with two more words.
// Context: start, hook, sampler.
//
//go:nosplit
func qinstPut3(now, on, head, w1, w2 uint64) {
	if b := qinstReadyFor(now, on); b != nil {
		*(*uint64)(unsafe.Pointer(b.p)) = (now-b.last)<<32 | head
		*(*uint64)(unsafe.Pointer(b.p + 8)) = w1
		*(*uint64)(unsafe.Pointer(b.p + 16)) = w2
		b.last = now
		qinstPublish(&b.p, b.p+24)
		if now&qinstItself == 0 {
			b.took(qinstPriceOf(head), now)
		}
	}
}

// qinstReadyFor returns the thread's recorder with room for an event at time now,
// nil if the event is lost.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstReadyFor(now, on uint64) *qinstRecorder {
	b := getg().m.qinst
	if b.p <= b.end && b.p != 0 && (now-b.last)>>32 == 0 && b.g == on {
		return b
	}
	return qinstMakeReady(now, on)
}

// qinstMakeReady is the slow side of qinstReadyFor. It runs on the system
// stack: system calls are hooked where little of the goroutine's stack is left.
// It tries to make buffers rather than lose a scheduling event: each one lost is a
// goroutine whose state is unknown after that.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstMakeReady(now, on uint64) (b *qinstRecorder) {
	systemstack(func() {
		if b = qinstAttach(getg().m); b == nil {
			atomic.Xadd64(&qinstNoRecorder, 1)
			return
		}
		limit := qinstBuffers.limit.Load()
		for !qinstQuota(b, on, now, 0) {
			if qinstStates == 0 || !qinstGrowRing(limit) {
				qinstLost(b, now)
				b = nil
				break
			}
			limit = qinstBuffers.limit.Load()
		}
	})
	return b
}

// qinstNoRecorder counts scheduling events of threads that found no recorder.
var qinstNoRecorder uint64

// qinstRuns tells this thread's recorder which goroutine runs on it after the event just put.
// It is separate from the function that writes events, because most events change nothing.
// Context: start, hook.
//
//go:nosplit
func qinstRuns(g uint64) {
	if b := getg().m.qinst; b != qinstNone() {
		b.g = g
	}
}

// qinstGo is the word that names a goroutine in an event, with the next number
// in its sequence. The transitions that carry it happen in an order that the
// scheduler guarantees, so the field needs no atomic operation.
// Readers order transitions of different threads by it where clocks cannot: of two events
// a few ns apart on two processors the times may come out the wrong way round.
// Context: start, hook.
//
//go:nosplit
func qinstGo(gp *g) uint64 {
	if gp.qinstSeqLow++; gp.qinstSeqLow == 0 {
		gp.qinstSeqHigh++
	}
	return qinstGoNow(gp)
}

// qinstGoNow is that word with the number that is the last so far.
// Context: start, hook.
//
//go:nosplit
func qinstGoNow(gp *g) uint64 {
	return gp.goid&(1<<40-1) | uint64(gp.qinstSeqLow)<<40 | uint64(gp.qinstSeqHigh)<<48
}
