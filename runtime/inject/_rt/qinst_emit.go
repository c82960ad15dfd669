package runtime

import (
	"unsafe"
)

// A record is an event that carries a packet: two words (the event with its point, and
// the packet's length), then the packet, padded to a word. Package sddf encodes it on the
// goroutine's own stack, in the same bytes that a file has, so that nothing here or in
// the writer needs to know its fields.

// Records that the program defines and emits.

// A record has to fit a buffer together with what follows a break.
const (
	qinstMaxKinds  = 1 << 12
	qinstMaxRecord = qinstBufferSize / 2 // bytes; larger ones are counted only
)

var (
	qinstKinds    [qinstMaxKinds]string // descriptions: descriptors after the tag
	qinstNKinds   int
	qinstOutKinds int
)

// qinstRecordKind gives a kind of record a point, that counts the records, and a
// tag; 0 if there is no room. Its caller keeps the texts.
// The tag is given out here, before any record is emitted, and the descriptor goes into
// the ring's log: should the program be killed, its records can still be read.
// Context: start.
//
//go:linkname qinstRecordKind qinst_record_kind
func qinstRecordKind(point *uint32, description, table string) (tag uint32) {
	*point = qinstMaxPoints
	if !qinstRegister(point, 1, table, nil, 0, nil, "") || *point >= qinstMaxPoints {
		return 0
	}
	systemstack(func() {
		qinstLockMemory()
		if qinstNKinds < qinstMaxKinds {
			qinstKinds[qinstNKinds] = description
			tag = qinstFirstUserTag + uint32(qinstNKinds)
			qinstNKinds++
			qinstLogPacket(qinstDescriptorHead, tag, description)
		}
		qinstUnlockMemory()
	})
	return tag
}

// qinstWriteKinds writes the descriptors that came since the last call: before any
// record of theirs.
// It must run before buffers are written, because a reader cannot skip over a record whose
// kind it has not seen.
// Context: writer.
func qinstWriteKinds() {
	for ; qinstOutKinds < qinstNKinds; qinstOutKinds++ {
		qinstBytes(qinstDescriptorHead)
		qinstU32(qinstFirstUserTag + uint32(qinstOutKinds))
		s := qinstKinds[qinstOutKinds]
		qinstWriteBehind(uintptr(unsafe.Pointer(unsafe.StringData(s))), uintptr(len(s)))
		qinstSeal()
	}
}

// qinstRecordReached counts a record and reports whether it is to be emitted.
// The caller encodes the record only if the result says so, because encoding is expensive.
// Context: probe.
//
//go:nosplit
//go:linkname qinstRecordReached qinst_record
func qinstRecordReached(point uint32) uint32 {
	gp := getg()
	b := gp.m.qinst
	if !b.has(point) {
		if b = qinstCountSlow(point); b == nil {
			return 0
		}
	}
	c := b.counter(point)
	c.hits++
	if c.quota <= b.telling || gp != gp.m.curg {
		return 0
	}
	return 1
}

// qinstEmit appends a counted record, a packet of n bytes at p. If it cannot append the
// record, the point has only counted it.
// The bytes are copied before the event is published; a record is never half there.
// Context: probe.
//
//go:nosplit
//go:linkname qinstEmit qinst_emit
func qinstEmit(point uint32, p unsafe.Pointer, n uintptr) {
	gp := getg()
	b := gp.m.qinst
	if n > qinstMaxRecord || !b.has(point) && (b.num == 0 || !qinstFirstHit(b, point)) {
		return
	}
	size := 16 + (n+7)&^7
	now := qinstNow()
	// A record may be longer than the space that is kept behind end. Then it begins a
	// buffer.
	if b.p+size > b.end || b.p == 0 || (now-b.last)>>32 != 0 || b.g != gp.goid {
		if b.p != 0 && b.p+qinstContext+size > b.end {
			qinstGiveAway(b)
		}
		if !qinstQuota(b, gp.goid, now, qinstReserveLast) {
			return
		}
	}
	*(*uint64)(unsafe.Pointer(b.p)) = (now-b.last)<<32 | qinstEvRecord<<24 | uint64(point)
	*(*uint64)(unsafe.Pointer(b.p + 8)) = uint64(n)
	*(*uint64)(unsafe.Pointer(b.p + size - 8)) = 0 // the padding
	memmove(unsafe.Pointer(b.p+16), p, n)
	b.last = now
	qinstPublish(&b.p, b.p+size)
	c := b.counter(point)
	c.traced++
	if c.quota--; c.quota == b.low || c.quota == b.telling {
		qinstWant(b, point)
	}
}
