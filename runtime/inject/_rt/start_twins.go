package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// Procedures with twins, see package rewrite: the procedure is as it was written, and a jump to its
// twin is written over its first bytes while it is to have probes. One at a cheaper level begins
// with a jump to a few instructions, its stub, that count the entry and lead back.
//
// A package's jumps are written when it registers, because nothing of it has run then. After that
// they are written, and removed, while the world is stopped: in procedures that begin with the test
// of their stack no goroutine can be stopped after the first byte then. Only packages for amd64
// have twins.

// qinstTwin is a procedure with a twin: the offsets of both from the beginning of the text, which
// are missing if the program does not have it, and its point in the package, with bits.
type qinstTwin struct{ plain, twin, point uint32 }

// More bits of a twin's point, see goobj.Entry, and what the words of a procedure have that is not
// in the program.
const (
	qinstJumpOnce = 1 << 30
	qinstJumpAny  = 1 << 31
	qinstMovesAt  = 24 // how many first bytes a stub may have instead of the procedure, 4 bits

	qinstNotThere = 1<<32 - 1
)

// qinstPatch is what the tool keeps of a procedure with a twin.
type qinstPatch struct {
	code uint64  // its first bytes
	stub uintptr // 0: none yet
}

// index is the procedure's point in the package, and moves how many bytes a stub may have of it.
// Context: start, hook, jumper.
func (p *qinstTwin) index() uintptr { return uintptr(p.point & (1<<qinstMovesAt - 1)) }

// Context: start, jumper.
func (p *qinstTwin) moves() uintptr { return uintptr(p.point >> qinstMovesAt & 15) }

// Bits of the byte that a procedure with a twin has beside its level.
const (
	qinstJumpForeign  = 1 << 3 // something else was written over its first bytes
	qinstJumpBare     = 1 << 4 // it can have no stub
	qinstJumpLeaf     = 1 << 6 // it does not begin with a test of its stack
	qinstJumpSwitches = 1 << 7 // it may begin with another, and with none
	qinstWanted       = 3      // the level that it is to have
)

// jumps is that byte, 0 for procedures without twins.
// Context: start, probe, goroutine, writer.
func (t *qinstTable) jumps(i uintptr) byte {
	if t.pairs == 0 || i >= uintptr(t.probes) {
		return 0
	}
	return *t.jumpOf(i)
}

// jumpOf is that byte in a package with twins.
// Context: start, probe, goroutine, writer, jumper.
func (t *qinstTable) jumpOf(i uintptr) *byte {
	return (*byte)(unsafe.Pointer(t.off + 2*uintptr(t.probes) + i))
}

// pair is the n-th procedure with a twin.
// Context: start, hook, jumper.
func (t *qinstTable) pair(n uintptr) *qinstTwin {
	return (*qinstTwin)(unsafe.Pointer(t.twins + n*unsafe.Sizeof(qinstTwin{})))
}

// patch is what the tool keeps of it.
// Context: start, jumper.
func (t *qinstTable) patch(n uintptr) *qinstPatch {
	return (*qinstPatch)(unsafe.Pointer(t.patches + n*unsafe.Sizeof(qinstPatch{})))
}

// twin takes the procedures of a package that have twins. It reports whether the text can be
// written.
// Context: start.
func (t *qinstTable) twin(twins uintptr, pairs uint32) bool {
	if pairs == 0 {
		return true
	}
	text := qinstTextBegin(twins)
	patches := qinstAnonymous(uintptr(pairs) * unsafe.Sizeof(qinstPatch{}))
	if text == 0 || patches == 0 {
		return false
	}
	t.twins, t.pairs, t.patches, t.code = twins, uintptr(pairs), patches, text
	lo, hi := ^uintptr(0), uintptr(0)
	for n := range t.pairs {
		p := t.pair(n)
		if p.plain == qinstNotThere || p.twin == qinstNotThere || p.point&qinstJumpOnce == 0 {
			continue
		}
		i := p.index()
		kind := byte(qinstJumpSwitches)
		if p.point&qinstJumpAny == 0 {
			kind |= qinstJumpLeaf
			if p.moves() == 0 {
				kind |= qinstJumpBare
			}
		}
		at := text + uintptr(p.plain)
		t.patch(n).code = *(*uint64)(unsafe.Pointer(at))
		lo, hi = min(lo, at), max(hi, at+8)
		*t.jumpOf(i) = kind | *t.levelOf(i)
	}
	if lo < hi {
		t.low, t.high = lo&^(physPageSize-1), (hi+physPageSize-1)&^(physPageSize-1)
		if !qinstOpenText(t.low, t.high) {
			return false
		}
		qinstCloseText(t.low, t.high)
	}
	return true
}

// jumpFirst writes the jumps with which a package begins, before anything of it has run. Where it
// cannot, the jumper will.
// Context: start.
func (t *qinstTable) jumpFirst() {
	if t.low == t.high {
		return
	}
	for n := range t.pairs {
		i := t.pair(n).index()
		if jump := t.jumpOf(i); *jump != 0 {
			*jump = *jump&^qinstWanted | *t.levelOf(i)
			*t.levelOf(i) = qinstProcPlain
		}
	}
	if t.open = qinstOpenText(t.low, t.high); !t.open {
		atomic.Store(&t.changed, 1)
		return
	}
	qinstStubsWritable(true)
	t.jumpAll(nil)
	qinstStubsWritable(false)
	t.open = false
	qinstCloseText(t.low, t.high)
}

// qinstTextBegin is where the text of the module begins whose data an address is in.
// Context: start.
func qinstTextBegin(data uintptr) uintptr {
	for md := &firstmoduledata; md != nil; md = md.next {
		if md.noptrdata <= data && data < md.enoptrbss || md.data <= data && data < md.ebss {
			return md.text
		}
	}
	return 0
}

// give gives a procedure its level: at once where the text stays as it is, else at the next stop.
// Context: start, probe, goroutine, writer.
func (t *qinstTable) give(owner uintptr, level byte) {
	now := t.levelOf(owner)
	jump := t.jumps(owner)
	if jump != 0 {
		*t.jumpOf(owner) = jump&^qinstWanted | level
	}
	if jump&qinstJumpSwitches != 0 && qinstJumpKind(*now) != qinstJumpKind(level) {
		atomic.Store(&t.changed, 1)
	} else {
		t.becomes(owner, level)
	}
}

// becomes notes a procedure's new level. What one with operations counts in line is kept apart from
// its activations without probes, which are in the same slots.
// Context: start, probe, goroutine, writer, jumper.
func (t *qinstTable) becomes(owner uintptr, level byte) {
	now, point := t.levelOf(owner), t.base+uint32(owner)
	was := *now
	*now = level
	if was != qinstProcCounted && level != qinstProcCounted {
		return // before the others are looked at, which may be in pages that nothing has touched
	}
	if c := qinstControlOf(point); c != nil && c.plain && qinstRulingOf(point).role == qinstOperates {
		if was == qinstProcCounted {
			c.inLine += qinstEntered(point)
		}
		if level == qinstProcCounted {
			c.inLine -= qinstEntered(point)
		}
	}
}

// qinstJumpKind says to where a procedure of a level jumps: nowhere, to its stub, or to its twin.
// Context: start, probe, goroutine, writer, jumper.
func qinstJumpKind(level byte) byte { return min(level, qinstProcCounted) }

// qinstStartJumper starts the jumper. Its goroutine has the highest number that events have, and
// none of the program's.
// Context: start.
func qinstStartJumper() {
	mp := acquirem()
	if !qinstJumps.begun {
		qinstJumps.begun = true
		pp := mp.p.ptr()
		next, end := pp.goidcache, pp.goidcacheend
		pp.goidcache, pp.goidcacheend = 1<<qinstGoBits-1, 1<<qinstGoBits
		jumper := qinstJumper
		go jumper()
		pp.goidcache, pp.goidcacheend = next, end
	}
	releasem(mp)
}

// qinstPrepareStubs maps memory for stubs behind the program, from where a jump reaches all text.
// Context: start.
func qinstPrepareStubs() {
	const size, prot, flags = 1 << 20, 5, 0x100022 // private, anonymous, at that address or nowhere
	j := &qinstJumps
	for far := uintptr(64 << 20); far < 1<<30 && j.size == 0; far *= 2 {
		at := (firstmoduledata.enoptrbss + far) &^ (size - 1)
		if p, _, e := linux.Syscall6(qinstSysMmap, at, size, prot, flags, ^uintptr(0), 0); e == 0 {
			if p == at {
				j.from, j.size, j.stubs, j.room = p, size, p, size
			} else {
				linux.Syscall6(qinstSysMunmap, p, size, 0, 0, 0, 0)
			}
		}
	}
}
