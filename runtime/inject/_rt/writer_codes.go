package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// qinstPrepareLooks makes room for codes. Without it threads are not asked, and profile stacks show
// alone.
// Context: writer.
func qinstPrepareLooks() {
	qinstCodeTable = qinstAnonymous(qinstCodeSlots * 4)
	if qinstCodeTable == 0 || !qinstCodes.reserve(qinstMostCodes*unsafe.Sizeof(qinstCode{}), 1<<16) {
		return
	}
	qinstLooks = 1
	const coarse = 6 // the clock that ticks
	var tick timespec
	if _, _, e := linux.Syscall6(qinstSysClockRes, coarse, uintptr(unsafe.Pointer(&tick)), 0, 0, 0, 0); e == 0 {
		qinstTimerTickNS = tick.tv_sec*1e9 + tick.tv_nsec
		qinstTimers = 1
	}
}

// qinstLooksCPU is that time for all samplers.
// Context: writer.
func qinstLooksCPU() (ns uint64) {
	for i := range qinstSamplers {
		if s := &qinstSamplers[i]; s.asked > 0 {
			ns += uint64(s.tellingNS())
		}
	}
	return ns
}

// qinstWriteCodes writes the codes that came since the last call.
// Context: writer.
func qinstWriteCodes() {
	for first := qinstCodesOut; ; first = qinstCodesOut {
		n := uint32(0)
		for limit := min(qinstNCodes.Load(), qinstMostCodes); first+n < limit && n < 512 &&
			atomic.Loaduintptr(&qinstCodeAt(first+n+1).pc) != 0; {
			n++
			qinstNoteCode(qinstCodeAt(first + n).pc)
		}
		if n == 0 {
			return
		}
		qinstRecordCode(first+1, n, uint64(n)*16)
		for i := range n {
			c := qinstCodeAt(first + i + 1)
			function, line := qinstLineOf(c.pc)
			word := c.from | uint64(line)<<32
			if f := findfunc(c.pc - 1); f.valid() {
				if qinstEndsAtomic(c.pc, f.entry()) {
					word |= 1 << 63
				}
				if f.flag&qinstPairFlag != 0 {
					word |= 1 << 62
				}
			}
			qinstWord(word)
			qinstWord(function)
		}
		qinstSeal()
		qinstCodesOut += n
	}
}

// qinstNoteCode writes the frames of a return address at which functions are inlined, and notes the
// function at any other, so that a record tells its name.
// Context: writer.
func qinstNoteCode(pc uintptr) {
	switch function, _ := qinstLineOf(pc); {
	case function >= qinstInlined:
		qinstWriteFrame(pc)
	case function != 0:
		qinstNotePC(uintptr(function))
	}
}

// qinstLineOf returns what a code says of a return address: the entry of the function that it is
// in, and its line. Where others are inlined it is the address, marked so, and the line of the call
// of the outermost of them.
// Context: writer.
func qinstLineOf(pc uintptr) (function uint64, line int) {
	f := findfunc(pc - 1)
	if !f.valid() {
		return 0, 0
	}
	function = uint64(f.entry())
	u, uf := newInlineUnwinder(f, pc-1)
	for depth := 0; uf.valid(); uf = u.next(uf) {
		if _, line = u.fileLine(uf); depth > 0 {
			function = uint64(pc) | qinstInlined
		}
		depth++
	}
	return function, line
}

// qinstInlined marks the address of a code at which functions are inlined.
const qinstInlined = 1 << 63
