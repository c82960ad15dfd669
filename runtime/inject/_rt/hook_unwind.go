package runtime

import "unsafe"

// qinstDetach takes the recorder, and the ledger, from a thread that is about to end. mexit calls
// it (through mdestroy) after the last event.
// The recorder keeps its counters and its number. Its next thread goes on counting there,
// because to fold the counters at each thread's end would cost more than programs with many
// short threads can afford.
// Context: hook.
//
//go:nosplit
func qinstDetach(mp *m) {
	qinstLeaveLedger(mp)
	b := mp.qinst
	if b == qinstNone() {
		return
	}
	mp.qinst = qinstNone()
	qinstGiveAway(b)
	b.countEnded()
	b.tid, b.gp = 0, 0
	qinstReady.push(b.num)
	qinstSpares.Add(1)
}

// qinstGoexits closes all procedures of a goroutine that ends by Goexit and has
// made its deferred calls.
// Goexit returns through no procedure, so that exits which are not deferred calls never
// run; one event closes all of them.
// Context: hook.
//
//go:nosplit
func qinstGoexits() {
	gp := getg()
	if s := gp.qinstStack; s != nil && s.depth != 0 {
		s.depth = 0
		qinstPut(qinstNow(), gp.goid, qinstEvUnwind<<24)
	}
}

// qinstRecovered closes the procedures that a recovered panic left: those whose
// frames lie below sp, the frame that goes on, and that frame itself if its
// exit is not a deferred call (for it returns without passing one).
// Otherwise the entries above would stay open, and the goroutine's next work would be
// charged to procedures that have ended.
// Context: hook.
//
//go:nosplit
func qinstRecovered(gp *g, sp uintptr) {
	below := uint32(gp.stack.hi - sp)
	s := gp.qinstStack
	if s == nil || s.depth == 0 {
		return
	}
	d := s.depth
	if d > s.size {
		// The frames of entries beyond the stack's size are not known. These entries
		// go with the last one whose frame is known.
		if s.frame(s.size-1).below <= below {
			return
		}
		d = s.size
	}
	for d > 0 {
		f := s.frame(d - 1)
		if f.below < below || f.below == below && f.point&qinstLate == 0 {
			break
		}
		d--
	}
	if d == s.depth {
		return
	}
	told := s.traced(d)
	if s.depth <= s.size && told == s.traced(s.depth) {
		s.depth = d
		return
	}
	s.depth = d
	qinstPut(qinstNow(), gp.goid, qinstEvUnwind<<24|uint64(told))
}

// qinstFreeStack takes the profile stack of a goroutine that ended, and a ledger that it kept.
// It stands in gdestroy, after the goroutine's last event, since the g is another
// goroutine's right after.
// Context: hook.
//
//go:nosplit
func qinstFreeStack(gp *g) {
	qinstStopped(gp)
	if s := gp.qinstStack; s != nil {
		gp.qinstStack = nil
		s.dropEntries()
		qinstDropMemory(0, uintptr(unsafe.Pointer(s)))
	}
}
