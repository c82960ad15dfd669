package runtime

import (
	"internal/runtime/syscall/linux"
	"unsafe"
)

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

// qinstHighFD moves a descriptor to where nobody takes it for another. In a table of its own the
// writer keeps the first three numbers free. Otherwise it leaves those that programs count on being
// free (os/exec's tests look below 100).
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
