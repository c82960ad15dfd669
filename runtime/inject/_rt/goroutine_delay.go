package runtime

import "unsafe"

// qinstSleepOwed sleeps for the delays since the goroutine last had a virtual processor: it has one
// now. Sleeps are longer than asked for, and the next ones shorter by that.
// Context: goroutine.
func qinstSleepOwed() {
	if s := getg().qinstStack; s != nil && s.owed > 0 {
		began := nanotime()
		timeSleep(s.owed)
		s.owed -= nanotime() - began
	}
}

// qinstArrives is called where a goroutine of WaitGroup.Go has ended, before package sync says so.
// Context: goroutine.
//
//go:linkname qinstArrives qinst_arrives
func qinstArrives(group unsafe.Pointer) {
	if qinstNGroups.Load() != 0 {
		qinstArriveAt(uintptr(group))
	}
}
