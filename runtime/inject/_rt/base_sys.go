package runtime

import (
	"internal/runtime/syscall/linux"
	"unsafe"
)

// System calls of the tool, and texts without the heap. Package os is far above package
// runtime, and a thread without a P cannot call much of package runtime, so that system
// calls are made by number here.
//
// Texts are put together in fixed buffers of their own, one for each use, since nothing
// here may allocate. A text that is too long is cut: paths of that length do not open.

// qinstPath is a zero-terminated path that is put together without allocating.
type qinstPath struct {
	n   int
	buf [4096]byte
}

// str appends a text, cut where there is no room.
// Context: start, probe, hook, end, goroutine, writer, jumper, reducer.
func (p *qinstPath) str(s string) *qinstPath {
	p.n += copy(p.buf[p.n:len(p.buf)-1], s)
	return p
}

// num appends a number.
// Context: start, writer.
func (p *qinstPath) num(v uint64) *qinstPath {
	var d [20]byte
	n := qinstDecimal(d[:], v)
	p.n += copy(p.buf[p.n:len(p.buf)-1], d[:n])
	return p
}

// text is the path so far, as a string that shares its memory.
// Context: start, probe, hook, end, goroutine, writer, jumper, reducer.
func (p *qinstPath) text() string { return qinstString(&p.buf[0], p.n) }

// qinstString is unsafe.String without its checks, whose failure would panic:
// code that the writer thread runs must not contain a write barrier.
// Context: start, probe, hook, end, goroutine, writer, jumper, reducer.
func qinstString(p *byte, n int) string {
	s := stringStruct{unsafe.Pointer(p), n}
	return *(*string)(unsafe.Pointer(&s))
}

// absolute appends a path, after the working directory at the start if it is relative.
// Context: goroutine, writer.
func (p *qinstPath) absolute(s string) *qinstPath {
	if home := qinstHome.text(); len(s) > 0 && s[0] != '/' && home != "" {
		p.str(home).str("/")
	}
	return p.str(s)
}

// open opens the file of that name.
// Context: start, end, goroutine, writer, jumper, reducer.
func (p *qinstPath) open(flags, mode uintptr) (fd int32, errno uintptr) {
	return qinstOpenat(qinstAtCwd, p, 0, flags, mode)
}

// qinstOpenat opens a file whose name begins at a byte of a path. Descriptors of the tool are
// closed on exec, since a child must not hold them.
// Context: start, end, goroutine, writer, jumper, reducer.
func qinstOpenat(dir uintptr, p *qinstPath, at int, flags, mode uintptr) (fd int32, errno uintptr) {
	p.buf[p.n] = 0
	r, _, e := linux.Syscall6(qinstSysOpenat, dir, uintptr(unsafe.Pointer(&p.buf[at])), flags|_O_CLOEXEC, mode, 0, 0)
	return int32(r), e
}

// qinstFile is a file that is made at the start, or later, and removed at the end. In between the
// program may have gone to another directory, or another root, where its path leads elsewhere. So
// its directory is kept open; unless the descriptor were one of the program's.
type qinstFile struct {
	path qinstPath
	dir  int32 // and 1; 0: none
	base int   // where the name begins in the path
}

const (
	qinstAtCwd     = ^uintptr(99) // AT_FDCWD, -100
	qinstExcl      = 0x80
	qinstAppending = 0x400
	qinstCreat     = 0x40
	qinstRdwr      = 2
	qinstWronl     = 1

	qinstEEXIST = 17
	qinstENOSPC = 28
	qinstEACCES = 13
	qinstEROFS  = 30
)

// One buffer for each use: two texts of one message must not share one.
var (
	qinstHome    qinstPath // the working directory at the start
	qinstExePath qinstPath
	qinstOutFile qinstFile
	qinstShmFile qinstFile
	qinstSayText qinstPath
)

// qinstUser is the user whose rights the process has.
// Context: start, writer.
func qinstUser() uint32 {
	user, _, _ := linux.Syscall6(qinstSysGeteuid, 0, 0, 0, 0, 0, 0)
	return uint32(user)
}

// qinstSay prints one line on stderr, if it is not the last one's like, and none in
// the child of an instrumented process.
// It is the only voice that the tool has in the program: one line, on stderr, never on
// stdout.
// Context: start, end, goroutine, writer, reducer.
func qinstSay(parts ...string) {
	// A line is known by the address of its first literal: the same complaint ten times a
	// second is said once.
	which := uintptr(unsafe.Pointer(unsafe.StringData(parts[0])))
	if qinstSet.quiet || which == qinstSaid {
		return
	}
	qinstSaid = which
	p := &qinstSayText
	p.n = 0
	p.str("qinst: ")
	for _, s := range parts {
		p.str(s)
	}
	p.str("\n")
	if getg().m == qinstWriterM.ptr() && qinstTableOwn {
		qinstTell(p)
		return
	}
	write1(2, unsafe.Pointer(&p.buf), int32(p.n))
}

var qinstSaid uintptr // the literal that the last line began with

var qinstErrText = [26]byte{'e', 'r', 'r', 'o', 'r', ' '}
