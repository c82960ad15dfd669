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
	took  int64  // ns, of the last stop
	all   int64  // and of all
	since int64  // when the first one might have been

	stubs, room uintptr // memory for stubs near the text: what is left
	from, size  uintptr // all of it
}

// States of the jumper.
const (
	qinstJumperNone = iota
	qinstJumperParked
	qinstJumperAsked
)

// The world may be stopped for a part of the time to write jumps, and for a while at the beginning,
// when procedures turn out to be hot. Bursts have a part of that.
const (
	qinstStopShare  = 100       // one in so many
	qinstStopFirst  = 4_000_000 // ns
	qinstBurstShare = 300
)

// qinstJumper is the goroutine.
// Context: jumper.
func qinstJumper() {
	j := &qinstJumps
	j.gp.set(getg())
	for {
		gopark(qinstJumperPark, nil, waitReasonForceGCIdle, traceBlockSystemGoroutine, 1)
		qinstTextWritable(true)
		began := nanotime()
		stop := stopTheWorld(stwUnknown)
		systemstack(qinstJumpAll)
		startTheWorld(stop)
		j.took = nanotime() - began
		j.all += j.took
		qinstTextWritable(false)
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
			t.open = t.writable(true)
		case !on && t.open:
			t.open = false
			t.writable(false)
		}
	}
	if j := &qinstJumps; j.size != 0 {
		const read, write, exec = 1, 2, 4
		prot := uintptr(read | exec)
		if on {
			prot |= write
		}
		qinstProtect(j.from, j.size, prot)
	}
}

// qinstJumpAll writes the jumps that are wanted, while the world is stopped. Each thread that runs
// Go code has gone through the kernel when it goes on, so that its processor has taken note.
// Context: jumper.
func qinstJumpAll() {
	var stopped [64]uintptr
	n := qinstStoppedAt(stopped[:])
	for k := range qinstNTables {
		if t := &qinstTables[k]; t.open {
			atomic.Store(&t.changed, 0)
			t.jumpAll(stopped[:n])
		}
	}
	qinstReadYards()
}

// jumpAll writes a package's.
// Context: jumper.
func (t *qinstTable) jumpAll(stopped []uintptr) {
	for n := range t.pairs {
		p := t.pair(n)
		i := uintptr(p.point & (qinstTwinLiteral - 1))
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
		switch kind := qinstJumpKind(want); {
		case kind == qinstJumpKind(*level):
		case kind == qinstProcPlain:
			qinstRestore(at, was.code)
		case kind == qinstProcEntered && was.makeStub(at, qinstLedgerPoints+8*(uintptr(t.base)+i)):
			qinstWriteJump(at, was.stub)
		default:
			want = max(want, qinstProcCounted)
			qinstWriteJump(at, twin)
		}
		if p.point&qinstTwinLiteral != 0 {
			if want < qinstProcCounted {
				qinstWriteJump(twin, at)
			} else {
				qinstRestore(twin, was.twin)
			}
		}
		*level = want
	}
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
// Context: jumper.
func qinstIsWithin(stopped []uintptr, at uintptr) bool {
	for _, pc := range stopped {
		if pc == 0 || pc > at && pc < at+qinstJumpSize {
			return true
		}
	}
	return false
}

// makeStub reports whether a procedure has a stub, which counts in a slot of ledgers.
// Context: jumper.
func (p *qinstPatch) makeStub(at, slot uintptr) bool {
	j := &qinstJumps
	if p.stub == 0 && j.room >= qinstStubSize && qinstWriteStub(j.stubs, at, p.code, slot) {
		p.stub = j.stubs
		j.stubs += qinstStubSize
		j.room -= qinstStubSize
	}
	return p.stub != 0
}

// qinstRestore writes the bytes that were there.
// Context: jumper.
func qinstRestore(at uintptr, code uint64) {
	*(*uint32)(unsafe.Pointer(at + 1)) = uint32(code >> 8)
	*(*byte)(unsafe.Pointer(at)) = byte(code)
}

// qinstStubSize is the most that a stub takes.
const qinstStubSize = 64

// qinstWriteStub writes a stub for the procedure that begins at a place with a test of its stack:
// the same test, so that an entry is counted once if the stack grows, an increment of its slot, and
// a jump behind the test. It returns false if it does not know the test. Context: jumper.
// Context: jumper.
func qinstWriteStub(stub, at uintptr, code uint64, slot uintptr) bool {
	// Of the procedure's first bytes that are written over only code is left.
	byteAt := func(i uintptr) byte {
		if i < 8 {
			return byte(code >> (8 * i))
		}
		return *(*byte)(unsafe.Pointer(at + i))
	}
	n := uintptr(4) // CMPQ SP, 16(R14)
	switch uint32(code) {
	case 0x24648d4c:
		n = 5 + 4 // LEAQ -n(SP), R12; CMPQ R12, 16(R14)
	case 0x24a48d4c:
		n = 8 + 4
	}
	put := func(b byte) {
		*(*byte)(unsafe.Pointer(stub)) = b
		stub++
	}
	put4 := func(v uint32) {
		for range 4 {
			put(byte(v))
			v >>= 8
		}
	}
	for i := range n {
		put(byteAt(i))
	}
	var grows uintptr // to where the stack grows
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
	put(0x0f)
	put(0x86)
	put4(uint32(grows - (stub + 4)))
	put(0x4d) // MOVQ ledger(R14), R12
	put(0x8b)
	put(0xa6)
	put4(qinstLedgerOffset)
	put(0x49) // INCQ slot(R12)
	put(0xff)
	put(0x84)
	put(0x24)
	put4(uint32(slot))
	put(0xe9)
	put4(uint32(at + n - (stub + 4)))
	return true
}
