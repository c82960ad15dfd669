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
// Context: start, probe, end, goroutine, writer, reducer.
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
// Context: start, goroutine, writer.
func (p *qinstPath) text() string { return qinstString(&p.buf[0], p.n) }

// qinstOwn is a copy of a path for the program to keep, which may have another working directory by now. The tool uses the memory of the
// path again, which would change the string under its owner. The lock is taken on the
// system stack: a goroutine that is stopped with it would stop the writer.
// Context: goroutine.
func qinstOwn(p *qinstPath) string {
	var own qinstPath
	systemstack(func() {
		qinstLockMemory()
		own.absolute(p.text())
		qinstUnlockMemory()
	})
	return string(own.buf[:own.n])
}

// qinstString is unsafe.String without its checks, whose failure would panic:
// code that the writer thread runs must not contain a write barrier.
// Context: start, probe, end, goroutine, writer, reducer.
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
// Context: start, end, goroutine, writer, reducer.
func (p *qinstPath) open(flags, mode uintptr) (fd int32, errno uintptr) {
	return qinstOpenat(qinstAtCwd, p, 0, flags, mode)
}

// qinstOpenat opens a file whose name begins at a byte of a path. Descriptors of the tool are closed on exec,
// since a child must not hold them.
// Context: start, end, goroutine, writer, reducer.
func qinstOpenat(dir uintptr, p *qinstPath, at int, flags, mode uintptr) (fd int32, errno uintptr) {
	p.buf[p.n] = 0
	r, _, e := linux.Syscall6(qinstSysOpenat, dir, uintptr(unsafe.Pointer(&p.buf[at])), flags|_O_CLOEXEC, mode, 0, 0)
	return int32(r), e
}

// qinstFile is a file that is made at the start, or later, and removed at the end. In between the program may have
// gone to another directory, or another root, where its path leads elsewhere. So its directory is kept open; unless the
// descriptor were one of the program's.
type qinstFile struct {
	path qinstPath
	dir  int32 // and 1; 0: none
	base int   // where the name begins in the path
}

// create opens the file, whose path is set, for the first time or after others in its directory.
// Context: writer.
func (f *qinstFile) create(flags, mode uintptr) (fd int32, errno uintptr) {
	f.find()
	return qinstOpenat(f.at(), &f.path, f.base, flags, mode)
}

// find opens the directory that the file's path names, if it is not open.
// Context: writer.
func (f *qinstFile) find() {
	f.base = f.path.n
	for f.base > 0 && f.path.buf[f.base-1] != '/' {
		f.base--
	}
	if f.dir == 0 && qinstTableOwn {
		const onlyPath, directory = 0x200000, 0x10000
		p := &qinstScratchPath
		p.n = 0
		p.str(f.path.text()[:f.base]).str(".")
		if fd, e := p.open(onlyPath|directory, 0); e == 0 {
			f.dir = qinstHighFD(fd) + 1
		}
	}
	if f.dir == 0 {
		f.base = 0
	}
}

// forget closes the directory: the file is to be in another one.
// Context: writer.
func (f *qinstFile) forget() {
	if f.dir != 0 {
		closefd(f.dir - 1)
		f.dir = 0
	}
}

// at is the directory, for system calls.
// Context: writer.
func (f *qinstFile) at() uintptr {
	if f.dir == 0 {
		return qinstAtCwd
	}
	return uintptr(f.dir - 1)
}

// unlink removes the file.
// Context: writer.
func (f *qinstFile) unlink() (errno uintptr) {
	f.path.buf[f.path.n] = 0
	_, _, errno = linux.Syscall6(qinstSysUnlinkat, f.at(), uintptr(unsafe.Pointer(&f.path.buf[f.base])), 0, 0, 0, 0)
	return errno
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

// qinstFindHome finds the working directory; it stays "" where there is none.
// Context: start.
func qinstFindHome() {
	p := &qinstHome
	if n, _, e := linux.Syscall6(qinstSysGetcwd, uintptr(unsafe.Pointer(&p.buf)), uintptr(len(p.buf)), 0, 0, 0, 0); e == 0 && n > 0 && p.buf[0] == '/' {
		p.n = int(n) - 1 // a zero ends it
	}
}

// qinstFindProgram finds the executable's path, by which default names and the place of
// the output go.
// Context: start.
func qinstFindProgram() {
	p := &qinstExePath
	link := "/proc/self/exe\x00"
	n, _, e := linux.Syscall6(qinstSysReadlink, qinstAtCwd, uintptr(unsafe.Pointer(unsafe.StringData(link))), uintptr(unsafe.Pointer(&p.buf)), uintptr(len(p.buf)), 0, 0)
	if e != 0 {
		n = 0
	}
	s := qinstString(&p.buf[0], int(n))
	qinstSet.exe = s
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '/' {
			s = s[i+1:]
			break
		}
	}
	if s == "" {
		s = "program"
	}
	qinstSet.program = s
}

// qinstParentTraced reports whether the parent is an instrumented process: then
// its ring has a known name, and belongs to this user: others may make files there, too. Such a child prints nothing,
// for tests compare the output of the processes they start.
// Context: start.
func qinstParentTraced() bool {
	ppid, _, _ := linux.Syscall6(qinstSysGetppid, 0, 0, 0, 0, 0, 0)
	p := &qinstScratchPath
	p.n = 0
	p.str("/dev/shm/qinst.").num(uint64(ppid))
	p.buf[p.n] = 0
	_, _, e := linux.Syscall6(qinstSysStat, qinstAtCwd, uintptr(unsafe.Pointer(&p.buf)), uintptr(unsafe.Pointer(&qinstStatText)), 0, 0, 0)
	return e == 0 && qinstStatWord(qinstStatUser) == qinstUser()
}

// qinstUser is the user whose rights the process has.
// Context: start, writer.
func qinstUser() uint32 {
	user, _, _ := linux.Syscall6(qinstSysGeteuid, 0, 0, 0, 0, 0, 0)
	return uint32(user)
}

// qinstTemporary reports whether the program lies where test binaries and
// programs of "go run" do: their traces go to the temporary directory.
// Context: writer.
func qinstTemporary() bool {
	s := qinstSet.exe
	if n := len(s); n > 5 && s[n-5:] == ".test" {
		return true
	}
	const mark = "/go-build"
	for i := 0; i+len(mark) <= len(s); i++ {
		if s[i:i+len(mark)] == mark {
			return true
		}
	}
	return false
}

// qinstHighFD moves a descriptor to where nobody takes it for another. In a table of its own the writer keeps
// the first three numbers free. Otherwise it leaves those that programs count on being free (os/exec's
// tests look below 100).
// Context: writer.
func qinstHighFD(fd int32) int32 {
	if high := qinstDuplicate(fd); high >= 0 {
		closefd(fd)
		return high
	}
	return fd
}

// qinstDuplicate returns a duplicate of fd with a number as above, -1 if there is none.
// Context: writer.
func qinstDuplicate(fd int32) int32 {
	const dupCloexec = 1030
	least := uintptr(200)
	if qinstTableOwn {
		least = 3
	}
	if r, _, e := linux.Syscall6(qinstSysFcntl, uintptr(fd), dupCloexec, least, 0, 0, 0); e == 0 {
		return int32(r)
	}
	return -1
}

// qinstSocket makes a unix socket and binds or connects it.
// The descriptor moves high as all of ours do: programs count on the low ones being free.
// Context: writer.
func qinstSocket(path string, call, flags uintptr) (fd int32, errno uintptr) {
	const unix, stream, cloexec = 1, 1, 0x80000
	var addr struct {
		family uint16
		path   [108]byte
	}
	addr.family = unix
	if len(path) >= len(addr.path) {
		return -1, 36 // ENAMETOOLONG
	}
	copy(addr.path[:], path)
	s, _, e := linux.Syscall6(qinstSysSocket, unix, stream|cloexec|flags, 0, 0, 0, 0)
	if e != 0 {
		return -1, e
	}
	if _, _, e := linux.Syscall6(call, s, uintptr(unsafe.Pointer(&addr)), 2+uintptr(len(path))+1, 0, 0, 0); e != 0 {
		closefd(int32(s))
		return -1, e
	}
	return qinstHighFD(int32(s)), 0
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

// qinstErrno returns the meaning of an error number. It knows only the errors of files and
// sockets, because the runtime has no table of them.
// Context: writer.
func qinstErrno(e uintptr) string {
	switch e {
	case 6:
		return "nobody reads from it"
	case 2:
		return "no such file or directory"
	case 5:
		return "input/output error"
	case 12:
		return "cannot allocate memory"
	case qinstEACCES:
		return "permission denied"
	case qinstEEXIST:
		return "file exists"
	case 20:
		return "not a directory"
	case 21:
		return "is a directory"
	case 27:
		return "file too large"
	case qinstENOSPC:
		return "no space left on device"
	case qinstEROFS:
		return "read-only file system"
	case 32:
		return "broken pipe"
	case 111:
		return "connection refused"
	}
	n := qinstDecimal(qinstErrText[6:], uint64(e))
	return qinstString(&qinstErrText[0], 6+n)
}

var qinstErrText = [26]byte{'e', 'r', 'r', 'o', 'r', ' '}
