package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"unsafe"
)

// qinstWaitsFor returns the address of the object that gp, which is being parked, waits
// for: a channel, the sync object that its semaphore is part of, a poll descriptor.
// A select waits for many, and its channel is known only when it is over. A goroutine that
// waits for a semaphore holds a lock until here, so that its thread is the same.
// The offsets are those of the sync package's types in this Go version, and must be
// looked at with each new one: a wrong one gives every lock a wrong address.
// Context: hook.
func qinstWaitsFor(gp *g, lock unsafe.Pointer) uintptr {
	switch gp.waitreason {
	case waitReasonChanReceive, waitReasonChanSend, waitReasonSynctestChanReceive, waitReasonSynctestChanSend:
		if sg := gp.waiting; sg != nil {
			return uintptr(unsafe.Pointer(sg.c.get()))
		}
	case waitReasonSyncMutexLock:
		return gp.m.qinstSema - 4 // sync.Mutex {state, sema}
	case waitReasonSyncRWMutexLock:
		return gp.m.qinstSema - 8 // sync.RWMutex {w Mutex, writerSem, readerSem, ...}
	case waitReasonSyncRWMutexRLock:
		return gp.m.qinstSema - 12
	case waitReasonSyncWaitGroupWait, waitReasonSynctestWaitGroupWait:
		return gp.m.qinstSema - 8 // sync.WaitGroup {state atomic.Uint64, sema}
	case waitReasonSemacquire:
		return gp.m.qinstSema
	case waitReasonSyncCondWait:
		list := uintptr(lock) - unsafe.Offsetof(notifyList{}.lock)
		return list - 2*goarch.PtrSize // sync.Cond {L Locker, notify notifyList, ...}
	case waitReasonIOWait:
		return uintptr(lock)
	}
	return 0
}

// qinstWokenBy returns the channel that ends gp's select.
// Context: hook.
//
//go:nosplit
func qinstWokenBy(gp *g) uintptr {
	if gp.waitreason == waitReasonSelect || gp.waitreason == waitReasonSynctestSelect {
		if sg := (*sudog)(gp.param); sg != nil {
			return uintptr(unsafe.Pointer(sg.c.get()))
		}
	}
	return 0
}

// qinstSpin notes that the running goroutine begins or ends to spin for a mutex.
// Context: hook.
//
//go:nosplit
func qinstSpin(kind uint64) {
	if qinstStates != 0 {
		qinstPut(qinstNow(), qinstCurrent(), kind<<24)
	}
}

// qinstWaitStackOf returns the number of the stack of gp, which is being parked, without its
// innermost frames, 0 if the table is full. It follows frame pointers, and takes 48 bits of a hash
// for the stack: among as many stacks as there is room for two are taken for one in one of 100,000
// programs.
// Context: hook.
func qinstWaitStackOf(gp *g, without int) uint64 {
	h := uint64(0x9E3779B97F4A7C15)
	from, above := gp.sched.bp, gp.stack.lo
	for ; without > 0 && qinstIsFrame(gp, from, above); without-- {
		above, from = from+1, *(*uintptr)(unsafe.Pointer(from))
	}
	fp, lo := from, above
	for n := 0; n < qinstFrames && qinstIsFrame(gp, fp, lo); n++ {
		h = (h ^ uint64(*(*uintptr)(unsafe.Pointer(fp + goarch.PtrSize)))) * 0xff51afd7ed558ccd
		h ^= h >> 29
		lo, fp = fp+1, *(*uintptr)(unsafe.Pointer(fp))
	}
	// The common case ends here: a program waits in few places, over and over.
	h |= 1 << 63 // 0 marks a free slot
	if qinstWaitStackSlots == 0 {
		return 0
	}
	if n := qinstNote(qinstWaitStackSlots, qinstStackBits, h, 0); n != 0 {
		return n
	}
	n := qinstNewWaitStack(gp, from, above)
	if n == 0 {
		return 0
	}
	return qinstNote(qinstWaitStackSlots, qinstStackBits, h, n)
}

// qinstNewWaitStack stores the stack of gp from a frame on; see qinstNewText.
// ready is stored last, so that the writer never writes half of a stack.
// Context: hook.
func qinstNewWaitStack(gp *g, fp, lo uintptr) uint64 {
	if n := qinstNWaitStacks.Load() + 64; n >= qinstStackMax ||
		!qinstWaitStacks.upTo(uintptr(n)*unsafe.Sizeof(qinstWaitStack{})) {
		atomic.Xadd64(&qinstLostWaitStacks, 1)
		return 0
	}
	number := qinstNWaitStacks.Add(1)
	t := qinstWaitStackAt(number)
	for ; t.n < qinstFrames && qinstIsFrame(gp, fp, lo); t.n++ {
		t.pc[t.n] = *(*uintptr)(unsafe.Pointer(fp + goarch.PtrSize))
		lo, fp = fp+1, *(*uintptr)(unsafe.Pointer(fp))
	}
	atomic.Store(&t.ready, 1)
	return uint64(number)
}

// qinstIsFrame reports whether fp can be a frame of gp above lo. The frames of a
// goroutine that C called lead on to the stack of that C code, where nothing can
// be relied on.
// Context: hook.
func qinstIsFrame(gp *g, fp, lo uintptr) bool {
	return fp >= lo && fp < gp.stack.hi-2*goarch.PtrSize && fp%goarch.PtrSize == 0
}

// qinstWaitStackAt is stack number, from 1.
// Context: hook, writer.
func qinstWaitStackAt(number uint32) *qinstWaitStack {
	return (*qinstWaitStack)(unsafe.Pointer(qinstWaitStacks.base + uintptr(number)*unsafe.Sizeof(qinstWaitStack{})))
}
