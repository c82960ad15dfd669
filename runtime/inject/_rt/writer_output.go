package runtime

import (
	"internal/runtime/syscall/linux"
	"unsafe"
)

// Where the trace goes: a file, the standard output, a socket, or a device. The program's
// own descriptors and files must be as they are without the tool, so an existing file is
// never written over, and descriptors are moved out of the way.
//
// A failure costs the trace and never the program: one line on stderr gives the reason, and
// the program runs untraced.

// qinstOpenOutput makes the output that the settings name. A file that was asked for must
// be made where it was asked for; the default one may go to the temporary directory,
// where the working directory cannot be written to.
// Context: writer.
func qinstOpenOutput() bool {
	name := qinstSet.out
	asked := name != ""
	if !asked {
		name = "%n.%p.sddf"
	}
	if name == "-" || name == "/dev/stdout" { // opened by its name, a file would be written from its beginning
		qinstOut.fd = qinstDuplicate(1)
		return qinstOut.fd >= 0
	}
	if len(name) > len(qinstUnix) && name[:len(qinstUnix)] == qinstUnix {
		if errno := qinstConnect(name[len(qinstUnix):]); errno != 0 {
			qinstSay("cannot connect to ", name, ": ", qinstErrno(errno), "; the program goes on untraced")
			return false
		}
		return true
	}
	// A path that was asked for is used as it is. The default one lies in the working
	// directory, except for test binaries and programs of "go run", whose directory
	// belongs to the sources.
	if asked || !qinstTemporary() {
		errno := qinstCreate("", name)
		if errno == 0 {
			return true
		}
		if asked || errno != qinstEACCES && errno != qinstEROFS {
			qinstSay("cannot create ", qinstOutName(), ": ", qinstErrno(errno), "; the program goes on untraced")
			return false
		}
	}
	qinstOutTemporary = true
	qinstOutFile.forget()
	errno := qinstCreate(qinstSet.temporary, name)
	if qinstTemporary() {
		return errno == 0
	}
	if errno != 0 {
		qinstSay("cannot create ", qinstOutName(), ": ", qinstErrno(errno), "; the program goes on untraced")
		return false
	}
	// Nobody would look for it there.
	qinstSay("cannot write to the working directory: the trace is ", qinstOutName())
	return true
}

// qinstCreateOutput creates another file beside the one that qinstOpenOutput made.
// Context: writer.
func qinstCreateOutput() (errno uintptr) {
	name := qinstSet.out
	if name == "" {
		name = "%n.%p.sddf"
	}
	if qinstOutTemporary {
		return qinstCreate(qinstSet.temporary, name)
	}
	return qinstCreate("", name)
}

// qinstUnlinkOutput removes the file. A flight recorder does so if nothing asked it for a
// file.
// Context: writer.
func qinstUnlinkOutput() { qinstOutFile.unlink() }

var qinstOutTemporary bool // it is in the temporary directory, because it could not be where it would be looked for

// qinstOutName is the output's path, for messages.
// Context: writer.
func qinstOutName() string { return qinstOutFile.path.text() }

// qinstCreate creates the output, never over an existing file: a number is
// added to the name instead (containers reuse process ids).
// O_EXCL keeps it from overwriting a file. A test would not do, because another process
// could make the file between the test and the open.
// Context: writer.
func qinstCreate(dir, name string) (errno uintptr) {
	p := &qinstOutFile.path
	p.n = 0
	if dir != "" {
		p.str(dir).str("/")
	}
	for i := 0; i < len(name); i++ {
		switch {
		case name[i] == '%' && i+1 < len(name) && name[i+1] == 'n':
			p.str(qinstSet.program)
			i++
		case name[i] == '%' && i+1 < len(name) && name[i+1] == 'p':
			p.num(qinstSet.pid)
			i++
		case name[i] == '%' && i+1 < len(name) && name[i+1] == 'h':
			p.str(qinstHost())
			i++
		default:
			p.str(name[i : i+1])
		}
	}
	base := p.n
	// A thousand runs in one directory under one name are enough to say so.
	for try := uint64(1); try < 1000; try++ {
		// a part is begun anew by cutting it
		fd, e := qinstOutFile.create(qinstWronl|qinstCreat|qinstExcl|qinstAppending, 0o644)
		regular := e == 0
		if e == qinstEEXIST && try == 1 && qinstIsStream() {
			// Without a reader a pipe would make the program wait.
			fd, e = qinstOutFile.create(qinstWronl|qinstNonblock, 0)
		}
		if e == 0 {
			qinstOut.fd, qinstOut.regular = qinstHighFD(fd), regular
			qinstNoteOutput()
			return 0
		}
		if e != qinstEEXIST {
			return e
		}
		p.n = base
		p.str(".").num(try)
		errno = e
	}
	return errno
}

// qinstHostNames is what uname tells of the machine: of each text at most 64 bytes, the name of the
// host second.
var qinstHostNames [6 * qinstHostName]byte

const qinstHostName = 65

// qinstHost is the name of the host: of a container its own, which is that of its pod in
// Kubernetes. Containers have the same process ids.
// Context: writer.
func qinstHost() string {
	names := uintptr(unsafe.Pointer(&qinstHostNames))
	if _, _, errno := linux.Syscall6(qinstSysUname, names, 0, 0, 0, 0, 0); errno != 0 {
		return "host"
	}
	n := 0
	for n < qinstHostName && qinstHostNames[qinstHostName+n] != 0 {
		n++
	}
	return qinstString(&qinstHostNames[qinstHostName], n)
}

// qinstIsStream reports whether the output's name is that of a device or a pipe, which are opened
// as they are; anything else is made anew.
// Context: writer.
func qinstIsStream() bool {
	const onlyPath = 0x200000
	fd, e := qinstOutFile.create(onlyPath, 0)
	if e != 0 {
		return false
	}
	kind := qinstKindOfFile(fd)
	closefd(fd)
	return kind == qinstPipe || kind == qinstDevice
}

const qinstUnix = "unix:"

// qinstConnect makes a connection to a socket the output. A peer that is slow or goes
// away costs events: the writer waits for the peer, but threads do not wait for the writer.
// Context: writer.
func qinstConnect(path string) (errno uintptr) {
	qinstOut.fd, errno = qinstSocket(path, qinstSysConnect, 0)
	return errno
}
