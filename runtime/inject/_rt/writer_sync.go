package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"unsafe"
)

// qinstMapWaitStacks makes room for stacks. Nothing of it is touched until goroutines wait.
// Context: writer.
func qinstMapWaitStacks() bool {
	ok := qinstWaitStacks.reserve(qinstStackMax*unsafe.Sizeof(qinstWaitStack{}), 1<<16)
	qinstWaitStackSlots = qinstAnonymous(qinstStackMap * 8)
	qinstFramesOut = qinstAnonymous(qinstStackMap * goarch.PtrSize)
	return ok && qinstWaitStackSlots != 0 && qinstFramesOut != 0
}

// qinstWriteWaitStacks writes the stacks that came since the last call, and each pc
// in them once.
// Context: writer.
func qinstWriteWaitStacks() {
	for last := qinstNWaitStacks.Load(); qinstWaitStacksOut < last; qinstWaitStacksOut++ {
		t := qinstWaitStackAt(qinstWaitStacksOut + 1)
		if atomic.Load(&t.ready) == 0 {
			return // next time
		}
		for _, pc := range t.pc[:t.n] {
			qinstWriteFrame(pc)
		}
		qinstRecordStack(qinstWaitStacksOut+1, uint64(t.n))
		for _, pc := range t.pc[:t.n] {
			qinstU64(uint64(pc))
		}
		qinstSeal()
	}
}

// qinstWriteFrame writes the frames of a return address: the functions that are
// inlined into each other there, innermost first, each with its own line.
// The set of written pcs may become half full and no more: a full table would make the
// search endless.
// Context: writer.
func qinstWriteFrame(pc uintptr) {
	if qinstNFramesOut >= qinstStackMap/2 {
		return
	}
	for i := uintptr(0); ; i++ {
		place := qinstPlace(uint64(pc)*qinstMix, i, qinstStackBits)
		slot := (*uintptr)(unsafe.Pointer(qinstFramesOut + place*goarch.PtrSize))
		if *slot == pc {
			return
		}
		if *slot == 0 {
			*slot = pc
			break
		}
	}
	qinstNFramesOut++
	f := findfunc(pc - 1)
	if !f.valid() {
		return
	}
	depth := uint32(0)
	u, uf := newInlineUnwinder(f, pc-1)
	for ; uf.valid(); uf = u.next(uf) {
		depth++
	}
	for level := uint32(0); level < depth; level++ {
		u, uf := newInlineUnwinder(f, pc-1)
		for range level {
			uf = u.next(uf)
		}
		file, line := u.fileLine(uf)
		qinstRecordFrame(uint64(pc), level, u.srcFunc(uf).name(), file, uint32(line))
	}
}
