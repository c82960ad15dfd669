package runtime

import (
	"internal/runtime/atomic"
	_ "unsafe" // for linkname
)

// qinstUserChanges has the writer give its files to another user. It waits for that, because the C
// library changes the writer's user, too; but not for ever.
// Context: goroutine.
//
//go:linkname qinstUserChanges qinst_user_changes
func qinstUserChanges(user int) {
	if qinstStarted == 0 || qinstIsChild() {
		return
	}
	atomic.Store(&qinstNextUser, uint32(user)+1)
	for began := nanotime(); atomic.Load(&qinstNextUser) != 0 && nanotime()-began < qinstReaderNS; {
		qinstWake()
		usleep(100)
	}
}

// qinstOwn is a copy of a path for the program to keep, which may have another working directory by
// now. The tool uses the memory of the path again, which would change the string under its owner.
// The lock is taken on the system stack: a goroutine that is stopped with it would stop the writer.
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
