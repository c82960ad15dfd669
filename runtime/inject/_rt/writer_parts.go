package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
)

// A program that runs for weeks makes more events than anybody wants to keep. Once its file has
// half of what it may have, the writer goes on in a second one next to it, and then takes turns:
// the part that is begun anew is the older one. So the last events are always there, in one part or
// the other, and readers join the two. A part begins with a segment, which needs nothing of what
// was before.
//
// Both files stay open: by their names they could be somebody else's by then.

// qinstLeastKept is the least limit of a file that is written in two parts. In a smaller one the
// tables, which each part repeats, are too large a share; the program only counts, once it is full.
const qinstLeastKept = 16 << 20

// qinstKeepNS is how long half of the limit is to last, if qinstLeastRate suffices for that. A
// program that fills it faster may write less after that.
const (
	qinstKeepNS    = 2 * 3600e9
	qinstLeastRate = 64 << 10 // bytes a second
)

// qinstParts are the two files.
var qinstParts struct {
	other  int32  // descriptor of the part that is not being written, and 1; 0: there is none
	second bool   // which one is
	at     uint64 // bytes written before it
	since  int64  // when it was begun
}

// qinstTakesTurns reports whether the output is a file that can be continued in another.
// Context: writer.
func qinstTakesTurns() bool {
	return qinstOut.regular && qinstSet.limit >= qinstLeastKept && !qinstFlight.on
}

// qinstLimited reports whether the limit is reached, and begins the other part instead where there
// is one.
// Context: writer.
func qinstLimited() bool {
	o := &qinstOut
	if !qinstTakesTurns() {
		return o.bytes > qinstSet.limit
	}
	return o.bytes-qinstParts.at > qinstSet.limit/2 && !qinstOtherPart()
}

// qinstOtherPart goes on in the other part; false if that cannot be made.
// Context: writer.
func qinstOtherPart() bool {
	p, o := &qinstParts, &qinstOut
	fd := p.other - 1
	if fd < 0 {
		var errno uintptr
		if fd, errno = qinstNewPart(); errno != 0 {
			qinstSay("cannot create a second part of ", qinstOutName(), ": ", qinstErrno(errno),
				"; the program only counts from here on")
			return false
		}
	} else if _, _, errno := linux.Syscall6(qinstSysTruncate, uintptr(fd), 0, 0, 0, 0, 0); errno != 0 {
		return false
	}
	qinstWriteCheck()
	qinstPush()
	if o.fd < 0 { // that failed
		closefd(fd)
		p.other = 0
		return true
	}
	p.other, o.fd, p.second = o.fd+1, fd, !p.second
	qinstNamePart()
	qinstNoteOutput()
	qinstSlower()
	p.at, o.segmentAt = o.bytes, o.bytes
	o.segment++
	qinstForgetWritten()
	qinstWriteHead()
	qinstWriteClock()
	qinstWriteNews()
	qinstWriteBelow()
	qinstWriteSources()
	qinstWriteCounts() // what was counted before this part, for readers of a trace that begins with it
	if atomic.Load(&qinstEnding) == 0 {
		qinstWriteGoroutines()
	}
	qinstPush()
	o.tables = o.bytes - o.segmentAt
	return true
}

// qinstNewPart creates the second file, never over another one.
// Context: writer.
func qinstNewPart() (fd int32, errno uintptr) {
	const nameTooLong = 36
	f := &qinstPartFile // goroutines read the output's name meanwhile
	*f = qinstOutFile
	f.path.str(qinstPartSuffix)
	if f.path.n < qinstOutFile.path.n+len(qinstPartSuffix) {
		return 0, nameTooLong
	}
	if fd, errno = f.create(qinstWronl|qinstCreat|qinstExcl|qinstAppending, 0o644); errno != 0 {
		return 0, errno
	}
	return qinstHighFD(fd), 0
}

var qinstPartFile qinstFile

// qinstNamePart makes the output's name that of the part that is written. Goroutines copy it
// meanwhile.
// Context: writer.
func qinstNamePart() {
	qinstLockMemory()
	path := &qinstOutFile.path
	if qinstParts.second {
		path.str(qinstPartSuffix)
	} else {
		path.n -= len(qinstPartSuffix)
	}
	qinstUnlockMemory()
}

// qinstSlower lets events take no more bytes a second than make the next part last, if the last one
// did not.
// Context: writer.
func qinstSlower() {
	p, s := &qinstParts, &qinstSet
	now := nanotime()
	if now-p.since < qinstKeepNS {
		rate := max(s.limit/2/(qinstKeepNS/1e9), qinstLeastRate)
		if s.rate == 0 || s.rate > rate {
			s.rate = rate
		}
	}
	p.since = now
}
