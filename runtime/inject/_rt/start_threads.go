package runtime

import (
	"internal/abi"
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// A process whose system refuses it a thread ends: package runtime knows no other way. So a limit
// that leaves room for the program's threads and none for the tool's must be found before. The
// start makes as many threads as the tool will, and some more for the program, all at the same
// time. They do nothing and have no stack of Go's, so that one that is refused harms nobody.

const (
	qinstTrialMost = 16 // threads
	// more than one for each processor of the scheduler that the program needs: its monitor, and
	// those in system calls
	qinstTrialSpare = 3
	qinstTrialProcs = 4 // as many processors at most: a program need not use all
)

// qinstTrial is what threads of a trial share.
var (
	qinstTrialOver   uint32 // 1: they end. They wait for it
	qinstTrialLeft   uint32 // that have not ended
	qinstTrialStacks [qinstTrialMost][8]uint64
)

// qinst_trial is such a thread.
func qinst_trial()

// qinstMayThread reports whether the system lets the process have so many more threads.
// Context: start.
func qinstMayThread(n uint32) (may bool) {
	var old sigset
	sigprocmask(_SIG_SETMASK, &sigset_all, &old) // they inherit it, and could not handle a signal
	may = true
	var ids [qinstTrialMost]int32
	made := uint32(0)
	for made < min(n, qinstTrialMost) {
		atomic.Xadd(&qinstTrialLeft, 1)
		top := unsafe.Pointer(&qinstTrialStacks[made][6])
		id := clone(cloneFlags, top, nil, nil, unsafe.Pointer(abi.FuncPCABIInternal(qinst_trial)))
		if id < 0 {
			atomic.Xadd(&qinstTrialLeft, -1)
			may = false
			break
		}
		ids[made] = id
		made++
	}
	atomic.Store(&qinstTrialOver, 1)
	futexwakeup(&qinstTrialOver, made)
	for atomic.Load(&qinstTrialLeft) != 0 {
		osyield()
	}
	for _, id := range ids[:made] {
		qinstAwaitEnd(id)
	}
	sigprocmask(_SIG_SETMASK, &old, nil)
	return may
}

// qinstAwaitEnd waits until the system has removed a thread that is about to end. Until then the
// thread counts against the limit, and the program could be refused a thread that it gets without
// probes. The wait is bounded, because the start must not hang.
// Context: start.
func qinstAwaitEnd(id int32) {
	const most = 10000
	for range most {
		if _, _, errno := linux.Syscall6(qinstSysTgkill, uintptr(qinstSet.pid), uintptr(id), 0, 0, 0, 0); errno != 0 {
			return
		}
		osyield()
	}
}
