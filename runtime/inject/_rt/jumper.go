package runtime

import (
	"internal/abi"
	"internal/runtime/atomic"
	"unsafe"
)

// The jumper is a goroutine of the runtime that stops the world and writes jumps. The writer wakes
// it, because a thread without a P cannot stop the world.

var qinstJumps struct {
	begun bool
	gp    guintptr
	state uint32 // atomic
	done  uint32 // atomic, futex: 1 once what was asked for is done
	all   int64  // ns that stops took from each processor
	since int64  // when the first one might have been

	stubs, room uintptr // memory for stubs near the text: what is left
	from, size  uintptr // all of it
	open        bool    // it can be written
}

// qinstForeign is not 0 while there are procedures with foreign code of which nothing tells yet.
var qinstForeign uint32

// States of the jumper.
const (
	qinstJumperNone = iota
	qinstJumperParked
	qinstJumperWanted // it is to run
	qinstJumperAsked  // it will
)

// The world may be stopped for a part of the time to write jumps, and for a while at the beginning,
// when procedures turn out to be hot. Bursts can wait: after one there is none for many times as
// long as it stopped the world, or a server's slowest requests would be those that meet one.
const (
	qinstStopShare  = 200       // one in so many
	qinstStopFirst  = 4_000_000 // ns
	qinstBurstShare = 300
	qinstBurstFirst = 12 // bursts, a fourth as far apart
)

// qinstJumper is the goroutine.
// Context: jumper.
func qinstJumper() {
	j := &qinstJumps
	j.gp.set(getg())
	for {
		gopark(qinstJumperPark, nil, waitReasonForceGCIdle, traceBlockSystemGoroutine, 1)
		stop := stopTheWorld(stwUnknown)
		systemstack(qinstJumpAll)
		j.all += nanotime() - stop.finishedStopping + stop.stoppingCPUTime/int64(gomaxprocs)
		startTheWorld(stop)
		atomic.Store(&j.done, 1)
		futexwakeup(&j.done, 1)
	}
}

// qinstJumperPark is the last thing before the jumper is parked.
// Context: jumper.
func qinstJumperPark(*g, unsafe.Pointer) bool {
	atomic.Store(&qinstJumps.state, qinstJumperParked)
	return true
}

// qinstTextWritable lets the text of packages with changes be written, or no more.
// Context: jumper.
func qinstTextWritable(on bool) {
	for k := range qinstNTables {
		t := &qinstTables[k]
		switch {
		case on && atomic.Load(&t.changed) != 0:
			if t.open = qinstOpenText(t.low, t.high); !t.open {
				atomic.Store(&t.changed, 0) // levels stay as they are
			}
		case !on && t.open:
			t.open = false
			qinstCloseText(t.low, t.high)
		}
	}
	qinstStubsWritable(on)
}

// qinstStubsWritable lets stubs be written, or no more.
// Context: start, jumper.
func qinstStubsWritable(on bool) {
	j := &qinstJumps
	if on {
		j.open = qinstOpenText(j.from, j.from+j.size)
	} else if j.open {
		j.open = false
		qinstCloseText(j.from, j.from+j.size)
	}
}

// qinstJumpAll writes the jumps that are wanted, while the world is stopped. Each thread that runs
// Go code has gone through the kernel when it goes on, so that its processor has taken note.
// Context: jumper.
func qinstJumpAll() {
	var stopped [64]uintptr
	n := qinstStoppedAt(stopped[:])
	qinstTextWritable(true)
	for k := range qinstNTables {
		if t := &qinstTables[k]; t.open {
			atomic.Store(&t.changed, 0)
			t.jumpAll(stopped[:n])
		}
	}
	qinstTextWritable(false)
	qinstReadYards()
}

// jumpAll writes a package's. What does not begin as it should is not the tool's any more: a
// debugger, or the program itself, has written there.
// Context: start, jumper.
func (t *qinstTable) jumpAll(stopped []uintptr) {
	for n := range t.pairs {
		p := t.pair(n)
		i := p.index()
		jump, level := t.jumpOf(i), t.levelOf(i)
		want := *jump & qinstWanted
		if *jump&qinstJumpSwitches == 0 || *level == want {
			continue
		}
		at, twin, was := t.code+uintptr(p.plain), t.code+uintptr(p.twin), t.patch(n)
		if *jump&qinstJumpLeaf != 0 && qinstIsWithin(stopped, at) {
			atomic.Store(&t.changed, 1)
			continue
		}
		if !was.isOurs(at, twin, *level) {
			*jump &^= qinstJumpSwitches
			*jump |= qinstJumpForeign
			atomic.Store(&qinstForeign, 1)
			continue
		}
		code := qinstJumpTo(at, twin)
		switch kind := qinstJumpKind(want); {
		case kind == qinstProcPlain:
			code = was.code
		case kind == qinstProcEntered && was.makeStub(at, p.moves(), qinstLedgerPoints+8*(uintptr(t.base)+i)):
			code = qinstJumpTo(at, was.stub)
		default:
			want = max(want, qinstProcCounted)
		}
		qinstPoke(at, code)
		t.becomes(i, want)
	}
	qinstPokeAll()
}

// isOurs reports whether a procedure begins as it was left at a level.
// Context: start, jumper.
func (p *qinstPatch) isOurs(at, twin uintptr, level byte) bool {
	code := qinstJumpTo(at, twin)
	switch qinstJumpKind(level) {
	case qinstProcPlain:
		code = p.code
	case qinstProcEntered:
		code = qinstJumpTo(at, p.stub)
	}
	const breakpoint, bits = 0xcc, 64 - 8*qinstJumpSize
	return (*(*uint64)(unsafe.Pointer(at))^code)<<bits == 0 && byte(p.code) != breakpoint
}

// qinstStoppedAt finds where goroutines go on that were stopped between two calls. If there are too
// many to tell, one is everywhere.
// Context: jumper.
func qinstStoppedAt(list []uintptr) (n int) {
	for _, gp := range allgs {
		if !gp.asyncSafePoint || readgstatus(gp)&^_Gscan == _Gdead {
			continue
		}
		if n == len(list) {
			list[0] = 0
			return 1
		}
		var u unwinder
		for u.init(gp, 0); u.valid(); u.next() {
			if u.frame.fn.funcID == abi.FuncID_asyncPreempt {
				if u.next(); u.valid() {
					list[n] = u.frame.pc
					n++
				}
				break
			}
		}
	}
	return n
}

// qinstIsWithin reports whether a goroutine goes on within the first bytes of a procedure, but not
// at the first.
// Context: start, jumper.
func qinstIsWithin(stopped []uintptr, at uintptr) bool {
	for _, pc := range stopped {
		if pc == 0 || pc > at && pc < at+qinstJumpSize {
			return true
		}
	}
	return false
}

// makeStub reports whether a procedure has a stub, which counts in a slot of ledgers. moves is how
// many of its first bytes may stand in it.
// Context: start, jumper.
func (p *qinstPatch) makeStub(at, moves, slot uintptr) bool {
	j := &qinstJumps
	if p.stub != 0 {
		return true
	}
	if !j.open || j.room < qinstStubSize {
		return false
	}
	var s qinstStub
	if s.at = j.stubs; !s.make(at, p.code, moves, slot) {
		return false
	}
	if !qinstWriteText(s.at, unsafe.Pointer(&s.code), s.n) {
		return false
	}
	p.stub = s.at
	j.stubs += qinstStubSize
	j.room -= qinstStubSize
	return true
}

// qinstStubSize is the most that a stub takes.
const qinstStubSize = 64

// qinstStub is one that is made.
type qinstStub struct {
	at   uintptr // where it will be
	n    uintptr
	code [qinstStubSize]byte
}

// put appends the n low bytes of v.
// Context: start, goroutine, writer, jumper.
func (s *qinstStub) put(v uint64, n uintptr) {
	for i := range n {
		s.code[s.n] = byte(v >> (8 * i))
		s.n++
	}
}

// leadTo appends the distance to an address, as the end of a branch.
// Context: start, jumper.
func (s *qinstStub) leadTo(to uintptr) { s.put(uint64(to-(s.at+s.n+4)), 4) }

// make makes the stub for the procedure at an address, which begins with code: an increment of its
// slot, the bytes that the jump to the stub is written over, and a jump to those after them. A test
// of the stack comes first, so that an entry is counted once if the stack grows. It returns false
// if it does not know how.
// Context: start, jumper.
func (s *qinstStub) make(at uintptr, code uint64, moves, slot uintptr) bool {
	// Of the bytes that a jump may be written over only code is left.
	byteAt := func(i uintptr) byte {
		if i < 8 {
			return byte(code >> (8 * i))
		}
		return *(*byte)(unsafe.Pointer(at + i))
	}
	copied := func(from, to uintptr) {
		for i := from; i < to; i++ {
			s.put(uint64(byteAt(i)), 1)
		}
	}
	n := uintptr(0) // bytes of the test
	switch uint32(code) {
	case 0x10663b49:
		n = 4 // CMPQ SP, 16(R14)
	case 0x24648d4c:
		n = 5 + 4 // LEAQ -n(SP), R12; CMPQ R12, 16(R14)
	case 0x24a48d4c:
		n = 8 + 4
	}
	if n != 0 {
		var grows uintptr // where the stack grows
		test := n
		switch {
		case byteAt(n) == 0x76: // JLS, near
			grows, n = at+n+2+uintptr(int8(byteAt(n+1))), n+2
		case byteAt(n) == 0x0f && byteAt(n+1) == 0x86:
			rel := uint32(0)
			for i := range uintptr(4) {
				rel |= uint32(byteAt(n+2+i)) << (8 * i)
			}
			grows, n = at+n+6+uintptr(int32(rel)), n+6
		default:
			return false
		}
		copied(0, test)
		s.put(0x860f, 2)
		s.leadTo(grows)
	} else if moves == 0 {
		return false
	}
	s.put(0xa68b4d, 3) // MOVQ ledger(R14), R12
	s.put(qinstLedgerOffset, 4)
	s.put(0x2484ff49, 4) // INCQ slot(R12)
	s.put(uint64(slot), 4)
	if n == 0 {
		copied(0, moves)
		n = moves
	}
	s.put(0xe9, 1)
	s.leadTo(at + n)
	return true
}
