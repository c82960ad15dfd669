package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// qinstReduceAll makes the reducer give all that was recorded so far to the writer.
// It is called where goroutines may wait.
// It gives up on a reducer without progress, because no extension may keep a program from
// ending.
// Context: end, goroutine.
func qinstReduceAll(last bool) {
	r := &qinstReduce
	if s := atomic.Load(&r.state); s == qinstReduceNone || s == qinstReduceLeft || getg() == r.gp.ptr() {
		return
	}
	n := atomic.Load(&r.asked)
	switch {
	case last && atomic.Load(&r.deadly) != 0: // a signal was first: everything is asked for
	case last && !atomic.Cas64(&qinstEndTime, 0, qinstNow()):
		return
	default:
		r.last = r.last || last
		n = atomic.Xadd(&r.asked, 1)
	}
	// The goroutine that ends the program yields here, as the reducer needs a P, and
	// there may be one only.
	beat, since := atomic.Load(&r.beat), nanotime()
	for int32(atomic.Load(&r.answered)-n) < 0 && atomic.Load(&r.state) != qinstReduceLeft {
		qinstWake()
		Gosched()
		usleep(20)
		if now := atomic.Load(&r.beat); now != beat {
			beat, since = now, nanotime()
		} else if nanotime()-since > qinstReducePatience {
			qinstSay("an extension does not come to its end; the trace goes on without it")
			atomic.Store(&r.state, qinstReduceLeft)
			return
		}
	}
}

// qinstPipeBroken has extensions write what they hold, before a write to the closed standard
// output ends the program.
// Context: end.
func qinstPipeBroken() {
	if !signal_ignored(_SIGPIPE) && atomic.Load(&sig.wanted[_SIGPIPE/32])&(1<<(_SIGPIPE&31)) == 0 {
		qinstReduceAll(true)
	}
}

// qinstEnd makes the writer finish the file and waits for it. It is called on every path that ends
// the process. Why it ends is in the ring before that: the process may be killed while it waits.
// Context: end.
//
//go:nosplit
func qinstEnd(why uint32, status int32) {
	if qinstStarted == 0 || getg().m == qinstWriterM.ptr() || qinstIsChild() {
		return
	}
	atomic.Cas64(&qinstEndTime, 0, qinstNow())
	// Several threads may end the program at once, by a panic and an exit. The first
	// one's reason counts.
	if atomic.Cas(&qinstEnds, 0, 1) {
		qinstStatus = status
		qinstNoteEnd(why, status)
		atomic.Store(&qinstEnding, why+1)
	}
	qinstAwait(&qinstDone, 1)
}

// qinstFlush is qinstEnd for a process that may go on (exec can fail).
// Context: end.
//
//go:nosplit
func qinstFlush() {
	if qinstStarted == 0 || qinstDone != 0 || qinstIsChild() {
		return
	}
	qinstNoteEnd(qinstWhyExec, 0)
	n := atomic.Xadd(&qinstSync, 1)
	qinstAwait(&qinstSynced, n)
}

// qinstNoteEnd puts into the ring why the program ends, for those who find the ring.
// Context: hook, end.
//
//go:nosplit
func qinstNoteEnd(why uint32, status int32) {
	qinstHead[qinstRingWordEndAt] = atomic.Load64(&qinstEndTime)
	atomic.Store64(&qinstHead[qinstRingWordEnd], uint64(why+1)<<32|uint64(uint32(status)))
}

// qinstAwait waits until the writer has raised a word to a value. The writer may need long, because
// others have the processors, or the disk. A program that was told to end must end all the same,
// whatever happened to the writer.
// Context: end.
//
//go:nosplit
func qinstAwait(word *uint32, value uint32) {
	for began := nanotime(); ; {
		was, waits, now := atomic.Load(word), atomic.Loadint64(&qinstWaits), nanotime()
		if int32(was-value) >= 0 || atomic.Load(&qinstDone) != 0 {
			return
		}
		if now-began > qinstLongestNS || waits != 0 && now-max(waits, began) > qinstReaderNS {
			systemstack(func() { qinstLeaveWriter() })
			return
		}
		qinstWake()
		futexsleep(word, was, qinstEndLookNS)
	}
}

// qinstLeaveWriter gives up waiting for the writer, and says so. The ring stays if a file can be
// completed from it, without the buffers that nothing was recorded into.
// Context: end.
func qinstLeaveWriter() {
	if !qinstOut.regular {
		linux.Syscall6(qinstSysUnlinkat, qinstAtCwd, uintptr(unsafe.Pointer(&qinstShmFile.path.buf)), 0, 0, 0, 0)
		qinstSayLine(qinstUnreadText)
		return
	}
	b := &qinstBuffers
	if fresh, limit := b.fresh.Load(), b.limit.Load(); qinstRinged && fresh < limit {
		b.limit.Store(fresh) // what is removed here is not to be touched: there may be no memory for it any more
		qinstAdvise(b.base+uintptr(fresh)*b.stride, uintptr(limit-fresh)*b.stride, qinstRemove)
	}
	qinstSayLine(qinstUnfinishedText)
}

// qinstSayLine prints one of these lines.
// Context: end.
func qinstSayLine(line string) {
	if !qinstSet.quiet {
		write1(2, unsafe.Pointer(unsafe.StringData(line)), int32(len(line)))
	}
}
