package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// The socket is in the temporary directory under the process's id, with a mode that admits
// only its user. It exists only if the settings ask for it, because observing must not open
// a door that the program does not have.

// "qinst ctl" talks to a program that was started with QINST=ctl: over a unix socket
// that only its user may open. The writer serves it between its other work, one
// client at a time.
//
// A request is a line, POINTS=LIMIT to change a limit, or empty to list points; the
// answer is text, "ok" if a limit was changed.

// There is one client at a time, with buffers for one: a second waits in the socket's
// queue.
var qinstCtl struct {
	fd, client int32 // 0: none
	since      int64 // ns: when the client came
	n          int32
	patience   int32 // ms to wait for the client
	line       [4096]byte
	file       qinstFile // the socket
	path       int32     // descriptor of its name, and 1; 0: none
	out        qinstPath // of an answer
}

const (
	qinstNonblock  = 0x800
	qinstCtlGiveUp = 2e9 // ns for a client
)

// qinstListen opens the socket. Its mode is set before it listens, because a socket in
// /tmp that others can reach would let them change what is recorded.
// Context: writer.
func qinstListen() {
	c := &qinstCtl
	p := c.file.path.absolute(qinstSet.temporary).str("/qinst.").num(qinstSet.pid).str(".ctl")
	p.buf[p.n] = 0
	name := uintptr(unsafe.Pointer(&p.buf))
	c.file.find()
	c.file.unlink() // of a program that had this id
	fd, errno := qinstSocket(p.text(), qinstSysBind, qinstNonblock)
	if errno == 0 {
		qinstHoldSocket()
		// Nobody can connect before it listens.
		if _, _, errno = linux.Syscall6(qinstSysFchmodat, qinstAtCwd, name, 0o600, 0, 0, 0); errno == 0 {
			_, _, errno = linux.Syscall6(qinstSysListen, uintptr(fd), 4, 0, 0, 0, 0)
		}
	}
	if errno != 0 {
		qinstSay("cannot listen at ", p.text(), ": ", qinstErrno(errno))
		return
	}
	c.fd = fd
}

// qinstHoldSocket keeps a descriptor of the socket's name, for a change of the user. In the
// program's table it would be the program's to use for a file of its own.
// Context: writer.
func qinstHoldSocket() {
	if !qinstTableOwn {
		return
	}
	const onlyPath = 0x200000
	fd, e := qinstCtl.file.create(onlyPath, 0)
	if e != 0 {
		return
	}
	if qinstKindOfFile(fd) != qinstSocketFile {
		closefd(fd)
		return
	}
	qinstCtl.path = qinstHighFD(fd) + 1
}

// qinstHangUp removes the socket, so that "qinst ctl" does not find one that nobody
// serves.
// Context: writer.
func qinstHangUp() {
	c := &qinstCtl
	if c.fd > 0 {
		c.file.unlink()
		closefd(c.fd)
		c.fd = 0
	}
}

// qinstServe serves a client as far as possible without waiting.
// It never waits, because a client that sends half a line would keep the writer from
// writing the file.
// Context: writer.
func qinstServe() {
	c := &qinstCtl
	if c.fd == 0 {
		return
	}
	if c.client == 0 {
		fd, _, errno := linux.Syscall6(qinstSysAccept, uintptr(c.fd), 0, 0, qinstNonblock|_O_CLOEXEC, 0, 0)
		if errno != 0 {
			return
		}
		if !qinstKnows(fd) {
			closefd(int32(fd))
			return
		}
		c.client, c.since, c.n, c.patience = qinstHighFD(int32(fd)), nanotime(), 0, 50 // 0 is nobody
	}
	// The socket does not block. A client that has sent nothing yet is looked at again in
	// the next round, and given up after two seconds.
	n := read(c.client, unsafe.Pointer(&c.line[c.n]), int32(len(c.line))-c.n)
	if n == -_EAGAIN && nanotime()-c.since < qinstCtlGiveUp {
		return
	}
	// A line may come in pieces. If it does not end within the buffer, the writer hangs up.
	if n > 0 {
		c.n += n
		end := -1
		for i := int32(0); i < c.n; i++ {
			if c.line[i] == '\n' {
				end = int(i)
			}
		}
		if end < 0 && c.n < int32(len(c.line)) {
			return
		}
		if end >= 0 {
			qinstRequest(qinstString(&c.line[0], end))
			qinstReply()
		}
	}
	closefd(c.client)
	c.client = 0
}

// qinstKnows reports whether a client is of the process's user, or root.
// Context: writer.
func qinstKnows(fd uintptr) bool {
	const socket, peer = 1, 17
	var who struct{ pid, user, group uint32 }
	size := uint32(unsafe.Sizeof(who))
	_, _, e := linux.Syscall6(qinstSysGetsockopt, fd, socket, peer, uintptr(unsafe.Pointer(&who)),
		uintptr(unsafe.Pointer(&size)), 0)
	return e == 0 && (who.user == 0 || who.user == qinstUser())
}

// qinstRequest answers one line of a client. Several lines that came together are taken
// for one, as clients wait for each answer.
// Context: writer.
func qinstRequest(line string) {
	c := &qinstCtl
	c.out.n = 0
	if line == "" {
		qinstListPoints()
		return
	}
	i := len(line) - 1
	for i > 0 && line[i] != '=' {
		i--
	}
	if i <= 0 || !qinstChangeRates(line[:i], line[i+1:]) {
		c.out.str("found ").str(line).str(", expected points and ").str(qinstSettingLimitExpected)
		if near := qinstNearestOf(line[:i], line[i+1:]); near != "" {
			c.out.str("; the nearest is ").str(near)
		}
		c.out.str("\n")
		return
	}
	qinstLockMemory()
	r := &qinstRules[qinstRuleNamed(line[:i])]
	qinstUnlockMemory()
	if r.missed() {
		r.told = true
		r.explain(&c.out)
		c.out.str("\n")
		return
	}
	c.out.str("ok\n")
}

// qinstReply sends the rest of the answer. A client that does not take it within a
// twentieth of a second in all loses the remainder.
// Context: writer.
func qinstReply() bool {
	c := &qinstCtl
	at := 0
	for at < c.out.n && c.patience > 0 {
		n := write1(uintptr(c.client), unsafe.Pointer(&c.out.buf[at]), int32(c.out.n-at))
		if n > 0 {
			at += int(n)
		} else if n != -_EAGAIN && n != -_EINTR {
			break
		} else {
			c.patience--
			usleep(1000)
		}
	}
	all := at == c.out.n
	c.out.n = 0
	return all
}

// qinstListPoints answers with a line for each point that was reached: kind, level,
// hits, with a sign before if they are a lower bound, traced, timed, limit, name.
// Context: writer.
func qinstListPoints() {
	c := &qinstCtl
	for i := range qinstNTables {
		t := &qinstTables[i]
		base := t.base
		qinstNames(t.text(), qinstWriters, func(k uint32, kind, name, _ string) bool {
			hits, traced, timed, level, rate := qinstPointState(base + k)
			if hits == 0 {
				return true
			}
			least := ""
			if level >= qinstLeast {
				least, level = "≥", level-qinstLeast
			}
			if qinstControlled && qinstKindOf(base+k) == qinstCalls || qinstKind(kind) == qinstCalls {
				level = min(level, uint8(qinstRateCount))
			}
			c.out.str(kind).str("\t").str(qinstLevelNames[level&3]).str("\t").str(least).num(hits).str("\t")
			c.out.num(traced).str("\t").num(timed).str("\t").num(uint64(rate)).str("\t").str(name).str("\n")
			return c.out.n < len(c.out.buf)/2 || qinstReply()
		})
	}
}

var qinstLevelNames = [4]string{"off", "count", "time", "trace"}

// qinstAnswer writes the buffers that threads are filling, on request. They are written
// again when they are full, and readers take the longer version.
// Context: writer.
func qinstAnswer() {
	n := atomic.Load(&qinstAsked)
	if n == qinstAnswered {
		return
	}
	qinstWriteKinds()
	qinstWriteList(qinstTakeFull())
	if qinstReducing() {
		qinstWritePackets()
		qinstWriteParts()
	} else {
		qinstWriteOpen()
	}
	qinstWriteNews()
	qinstWriteClock()
	qinstPush()
	qinstReduceGoOn()
	atomic.Store(&qinstAnswered, n)
}
