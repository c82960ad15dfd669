package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// The writer's descriptors. A descriptor's number is the process's: a program that closes all that
// it did not open, or that puts a file of its own at some number, would close ours, and the trace
// would then be written into its file. So the writer thread has a table of descriptors of its own.
// The program never sees one of ours, not even for a moment; and the writer holds none of the
// program's, because a pipe that the program closes must be closed.
//
// Some sandboxes refuse such a table. There our numbers are high, and the writer compares the file
// with the one that it opened before it writes.

var (
	qinstTableOwn bool       // the writer has a table of its own
	qinstOutIs    [2]uint64  // device and number of the output's file, where it is not
	qinstStatText [18]uint64 // a struct stat
)

// qinstOwnTable gives the writer its table, which has the first three of the program's.
// Context: writer.
func qinstOwnTable() {
	const unshares, files, all = 2, 0x400, 1<<32 - 1
	if _, _, e := linux.Syscall6(qinstSysCloseRange, 3, all, unshares, 0, 0, 0); e == 0 {
		qinstTableOwn = true
		return
	}
	// Before Linux 5.9. What the table has is then closed one by one.
	var p qinstPath
	fd, e := p.str("/proc/thread-self/fd").open(qinstDirectoryFlag, 0)
	if e != 0 {
		return
	}
	if _, _, e = linux.Syscall6(qinstSysUnshare, files, 0, 0, 0, 0, 0); e == 0 {
		qinstTableOwn = true
		qinstEachNumber(fd, func(n uint32) {
			if n > 2 && n != uint32(fd) {
				closefd(int32(n))
			}
		})
	}
	closefd(fd)
}

// qinstKeepNone closes the program's descriptors in the writer's table. That of an ordinary file
// may stay: that it is open changes nothing. Without such a table it closes the ring's, which stays
// mapped and locked: threads do without it.
// Context: writer.
func qinstKeepNone() {
	if !qinstTableOwn {
		if qinstRing >= 0 {
			closefd(qinstRing)
			qinstRing = -1
		}
		return
	}
	closefd(0)
	closefd(1)
	if !qinstIsFile(2) {
		closefd(2)
	}
}

// qinstStat finds out what a descriptor is of.
// Context: start, end, goroutine, writer, reducer.
func qinstStat(fd int32) (device, number uint64, ok bool) {
	_, _, e := linux.Syscall6(qinstSysFstat, uintptr(fd), uintptr(unsafe.Pointer(&qinstStatText)), 0, 0, 0, 0)
	return qinstStatText[0], qinstStatText[1], e == 0
}

// Kinds of files, in the system's numbers.
const (
	qinstPipe    = 0o010000
	qinstDevice  = 0o020000 // of characters
	qinstRegular = 0o100000

	qinstSocketFile = 0o140000
)

// qinstKindOfFile is the kind of file that a descriptor is of, 0 if it is none.
// Context: start, end, goroutine, writer, reducer.
func qinstKindOfFile(fd int32) uint32 {
	if _, _, ok := qinstStat(fd); !ok {
		return 0
	}
	return qinstStatWord(qinstStatMode) & 0o170000
}

// qinstStatWord is a number of what the system last said of a file.
// Context: start, end, goroutine, writer, reducer.
func qinstStatWord(at uintptr) uint32 {
	return *(*uint32)(unsafe.Pointer(uintptr(unsafe.Pointer(&qinstStatText)) + at))
}

// qinstIsFile reports whether a descriptor is of an ordinary file.
// Context: start, end, goroutine, writer, reducer.
func qinstIsFile(fd int32) bool { return qinstKindOfFile(fd) == qinstRegular }

// qinstNoteOutput notes which file the output is.
// Context: writer.
func qinstNoteOutput() {
	if !qinstTableOwn {
		qinstOutIs[0], qinstOutIs[1], _ = qinstStat(qinstOut.fd)
	}
}

// qinstOutputLost reports whether the program has taken the output's descriptor. It is not closed
// then, because it is the program's.
// Context: writer.
func qinstOutputLost() bool {
	if qinstTableOwn || !qinstOut.regular || qinstOut.fd < 0 {
		return false
	}
	device, number, ok := qinstStat(qinstOut.fd)
	return !ok || device != qinstOutIs[0] || number != qinstOutIs[1]
}

// qinstBorrow returns a descriptor, in the writer's table, of what the program has at a number; -1
// if the system does not allow it.
// Context: start, hook, end, goroutine, writer, reducer.
//
//go:nosplit
func qinstBorrow(fd uintptr) int32 {
	pid, _, e := linux.Syscall6(qinstSysPidOpen, uintptr(qinstSet.pid), 0, 0, 0, 0, 0)
	if e != 0 {
		return -1
	}
	got, _, e := linux.Syscall6(qinstSysPidGet, pid, fd, 0, 0, 0, 0)
	closefd(int32(pid))
	if e != 0 {
		return -1
	}
	return int32(got)
}

// qinstTell prints a line of the writer's on the program's stderr. Where that cannot be borrowed,
// it is opened; but not if it is an ordinary file, since the line would not follow what the program
// has written. The writer has kept that one.
// Context: start, end, goroutine, writer, reducer.
func qinstTell(p *qinstPath) {
	fd := qinstBorrow(2)
	if fd < 0 && !qinstIsFile(2) {
		const noTerminal = 0x100
		var name qinstPath
		fd, _ = name.str("/proc/self/fd/2").open(qinstWronl|qinstNonblock|noTerminal, 0)
		if fd >= 0 && qinstIsFile(fd) {
			closefd(fd)
			return
		}
	}
	if fd < 0 {
		fd = 2
	}
	write1(uintptr(fd), unsafe.Pointer(&p.buf), int32(p.n))
	if fd != 2 {
		closefd(fd)
	}
}

// qinstGiveTo gives a user what only its owner can remove: the ring, and the socket.
// Context: hook, writer.
//
//go:nosplit
func qinstGiveTo(user uintptr) {
	const itself = 0x1000 // AT_EMPTY_PATH
	for _, fd := range [...]int32{qinstRing, qinstCtl.path - 1} {
		if fd >= 0 && int32(user) >= 0 {
			var name byte
			linux.Syscall6(qinstSysFchownat, uintptr(fd), uintptr(unsafe.Pointer(&name)), user, ^uintptr(0), itself, 0)
		}
	}
}

// qinstNextUser is the user that the process is about to become by a call of the C library's, and
// 1.
var qinstNextUser uint32

// qinstGive does what another user needs.
// Context: writer.
func qinstGive() {
	if user := atomic.Load(&qinstNextUser); user != 0 {
		qinstGiveTo(uintptr(user - 1))
		atomic.Store(&qinstNextUser, 0)
	}
}

// Between the main goroutine, which begins, and the writer, which opens everything.
var qinstStage uint32 // futex

const (
	qinstStageNone = iota
	qinstStageOpen // the trace can be written
	qinstStageFailed
	qinstStageOn // the program records
)

// qinstSetStage sets the stage and wakes whoever waits for it.
// Context: start, writer.
func qinstSetStage(stage uint32) {
	atomic.Store(&qinstStage, stage)
	futexwakeup(&qinstStage, 1)
}

// qinstAwaitStage waits for another stage than this one.
// Context: start, writer.
func qinstAwaitStage(stage uint32) {
	for atomic.Load(&qinstStage) == stage {
		futexsleep(&qinstStage, stage, -1)
	}
}
