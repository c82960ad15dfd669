package runtime

import (
	"internal/runtime/syscall/linux"
	"unsafe"
)

// The text of a program is written through the file in which the kernel shows its memory. What may
// be done with its pages stays as it is: a program that writes its own text, as packages for tests
// do, sets that, too, at times that nobody knows. Where there is no such file the pages are made
// writable for a while.

// Whoever writes opens and closes text in one go, on the system stack, so that the world is not
// stopped in between: the jumper, which stops it, and packages that register share what is open.

// How text is written.
const (
	qinstTextUnknown = iota
	qinstTextFiled
	qinstTextPaged
)

var (
	qinstTextHow  uint8
	qinstTextFile int32 // the file's descriptor and 1, while it is open
)

// qinstOpenText lets text be written, whole pages. It reports whether that is possible.
// Context: start, jumper.
func qinstOpenText(from, to uintptr) bool {
	const readWrite, name = 2, "/proc/self/mem\x00"
	if from == to {
		return false
	}
	if qinstTextHow != qinstTextPaged && qinstTextFile == 0 {
		qinstTextFile = max(0, open(unsafe.StringData(name), readWrite|_O_CLOEXEC, 0)+1)
	}
	if qinstTextHow == qinstTextUnknown {
		same := *(*byte)(unsafe.Pointer(from))
		if qinstWriteText(from, unsafe.Pointer(&same), 1) {
			qinstTextHow = qinstTextFiled
		} else {
			qinstCloseText(from, from)
			qinstTextHow = qinstTextPaged
		}
	}
	if qinstTextHow == qinstTextFiled {
		return qinstTextFile != 0 // if the program has all descriptors in use there is none now
	}
	return qinstProtect(from, to-from, qinstProt|qinstProtExec)
}

// qinstCloseText lets it be written no more.
// Context: start, jumper.
func qinstCloseText(from, to uintptr) {
	const read = 1
	if qinstTextFile != 0 {
		closefd(qinstTextFile - 1)
		qinstTextFile = 0
	}
	if qinstTextHow == qinstTextPaged && from != to {
		qinstProtect(from, to-from, read|qinstProtExec)
	}
}

const qinstProtExec = 4

// qinstWriteText writes n bytes to text that is open.
// Context: start, jumper.
func qinstWriteText(at uintptr, p unsafe.Pointer, n uintptr) bool {
	if qinstTextFile != 0 {
		done, _, e := linux.Syscall6(qinstSysPwrite, uintptr(qinstTextFile-1), uintptr(p), n, at, 0, 0)
		return e == 0 && done == n
	}
	if qinstTextHow != qinstTextPaged {
		return false
	}
	memmove(unsafe.Pointer(at), p, n)
	return true
}

// qinstPokes are jumps that are near each other, and what is between them as it is. One call of the
// system writes them, which takes no longer than it does for one.
var qinstPokes struct {
	at, n uintptr
	bytes [4096]byte
}

// qinstPoke has a jump written to text that is open, with others, by qinstPokeAll at the latest. No
// code of the program writes there meanwhile: nothing else runs, or nothing of the package yet. A
// breakpoint that a debugger sets within these microseconds, between two jumps, would be lost.
// Context: start, jumper.
func qinstPoke(at uintptr, jump uint64) {
	const near = 1 << 10
	p := &qinstPokes
	from, to := min(at, p.at), max(at+qinstJumpSize, p.at+p.n)
	if to-from > uintptr(len(p.bytes)) || to-from > p.n+near {
		qinstPokeAll()
		p.at, from, to = at, at, at+qinstJumpSize
	}
	before := p.at - from
	memmove(unsafe.Pointer(&p.bytes[before]), unsafe.Pointer(&p.bytes), p.n)
	memmove(unsafe.Pointer(&p.bytes), unsafe.Pointer(from), before)
	if end := before + p.n; from+end < to {
		memmove(unsafe.Pointer(&p.bytes[end]), unsafe.Pointer(from+end), to-from-end)
	}
	p.at, p.n = from, to-from
	for i := range uintptr(qinstJumpSize) {
		p.bytes[at-from+i] = byte(jump >> (8 * i))
	}
}

// qinstPokeAll writes the jumps that are not yet written.
// Context: start, jumper.
func qinstPokeAll() {
	p := &qinstPokes
	if p.n != 0 {
		qinstWriteText(p.at, unsafe.Pointer(&p.bytes), p.n)
	}
	p.at, p.n = 0, 0
}

// qinstJumpSize is the size of a jump.
const qinstJumpSize = 5

// qinstJumpTo is a jump at an address.
// Context: start, jumper.
func qinstJumpTo(at, to uintptr) uint64 {
	return 0xe9 | uint64(uint32(to-(at+qinstJumpSize)))<<8
}
