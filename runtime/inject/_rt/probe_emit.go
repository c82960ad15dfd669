package runtime

import "unsafe"

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
	qinstKinds    [qinstMaxKinds]qinstText // descriptions: descriptors after the tag
	qinstNKinds   int
	qinstOutKinds int
)

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
	b.uses(c, point, b.telling)
}
