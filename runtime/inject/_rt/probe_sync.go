package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// Synchronization. Two things are recorded. Every wait of a goroutine, in any
// package, carries the address of the object that it waits for and the stack that
// it waits in, because the hook is called where the goroutine is already parked.
// Probes at the operations of instrumented packages record the object that was
// taken or given, also without a wait.

// An address is noted without its upper bits, which are the same for all.
const qinstAddrBits = qinstAddressBits

// qinstSyncTrace writes the event of an operation, which has been counted, on the object at obj.
// queue says where a number is found that reports how many others want it: bits 8 up are an offset
// from obj, the bits below a shift of the word there; qinstNoQueue for none; from qinstAmount on it
// is the amount that an operation on a semaphore is about. An operation on a system stack has no
// goroutine to belong to, and is counted only. The result is that of qinst_sync: a delay of what is
// in a deferred call is left to its caller.
// Context: probe.
//
//go:nosplit
func qinstSyncTrace(point uint32, obj, queue uintptr) (delays uint32) {
	gp := getg()
	if gp != gp.m.curg {
		return 0
	}
	if gp.m.qinst.counter(point).quota == qinstDelayed {
		if queue&qinstDeferredCall != 0 {
			return 1
		}
		qinstDelayOperation(point, obj)
		return 0
	}
	queue &^= qinstDeferredCall
	// The word is read without the object's lock: it is as old as a load can be, and the
	// number is there to show a crowd.
	n := uintptr(0)
	switch {
	case obj == 0: // the operation itself will panic
	case queue >= qinstAmount:
		n = queue - qinstAmount
		qinstSize(gp, obj)
	case queue != qinstNoQueue:
		n = uintptr(*(*uint32)(unsafe.Pointer(obj + queue>>8))&qinstQueueBits) >> (queue & 0xff)
	}
	qinstSyncPut(gp, point, obj, n)
	return 0
}

// qinstSized are semaphores whose sizes have been told lately, by their addresses, each with the
// size in its upper bits.
var qinstSized [64]uintptr

// qinstSize tells of a semaphore's size, which is its first word.
// Context: probe.
//
//go:nosplit
func qinstSize(gp *g, obj uintptr) {
	size := *(*uint64)(unsafe.Pointer(obj))
	key, at := obj^uintptr(size<<qinstAddrBits), &qinstSized[obj>>4%uintptr(len(qinstSized))]
	if atomic.Loaduintptr(at) != key {
		atomic.Storeuintptr(at, key)
		qinstPut2(qinstNow(), gp.goid, qinstEvSemaphore<<24|min(size, 1<<24-1), uint64(obj)&(1<<qinstAddrBits-1))
	}
}

const (
	qinstAmount       = 1 << 16
	qinstDeferredCall = 1 << 20
	qinstNoQueue      = 1<<16 - 1
	qinstQueueBits    = 1<<30 - 1 // a writer that waits for readers makes their number negative
)

// qinstSyncPut writes the event. No counter of such a point is ever at level time
// (qinstDecide turns that into count), so its quota can be taken from without a test.
// Context: probe.
//
//go:nosplit
func qinstSyncPut(gp *g, point uint32, obj, queue uintptr) {
	b := gp.m.qinst
	now := qinstNow()
	if b.p > b.end || b.p == 0 || (now-b.last)>>32 != 0 || b.g != gp.goid {
		if !qinstQuota(b, gp.goid, now, qinstReserveLast) {
			b.uses(b.counter(point), point, b.telling)
			return
		}
	}
	*(*uint64)(unsafe.Pointer(b.p)) = (now-b.last)<<32 | qinstEvSync<<24 | uint64(point)
	*(*uint64)(unsafe.Pointer(b.p + 8)) = uint64(obj)&(1<<qinstAddrBits-1) | uint64(min(queue, 1<<16-1))<<qinstAddrBits
	b.last = now
	qinstPublish(&b.p, b.p+16)
	c := b.counter(point)
	c.traced++
	b.uses(c, point, b.telling)
	if now&qinstItself == 0 {
		b.took(qinstPriceOperation, now)
	}
}

// qinstSyncSlow is qinst_sync for a thread without a counter for the point.
// Context: probe.
//
//go:nosplit
func qinstSyncSlow(point uint32, obj, queue uintptr) (delays uint32) {
	b := qinstCountSlow(point)
	if b == nil {
		return 0
	}
	c := b.counter(point)
	c.hits++
	if c.quota <= b.telling {
		return 0
	}
	return qinstSyncTrace(point, obj, queue)
}

// qinstChan is the probe after a channel operation: the runtime has noted the
// channel. The result is always 0, so that the probe can stand in a condition.
// The queue is read without the channel's lock: it says how crowded the channel is, to
// which a moment's age makes no difference.
// Context: probe.
//
//go:nosplit
//go:linkname qinstChan runtime.qinst_chan
func qinstChan(point uint32) uint32 {
	gp := getg()
	b := gp.m.qinst
	if !b.has(point) {
		if b = qinstCountSlow(point); b == nil {
			return 0
		}
	}
	c := b.counter(point)
	c.hits++
	if c.quota > b.telling && gp == gp.m.curg {
		n := uintptr(0)
		if c.quota == qinstDelayed {
			qinstDelay(point, 1)
			return 0
		}
		if gp.qinstChan != 0 {
			ch := (*hchan)(unsafe.Pointer(gp.qinstChan))
			if n = uintptr(ch.qcount); ch.qinstTold == 0 {
				qinstNewChan(gp, ch)
			}
		}
		qinstSyncPut(gp, point, gp.qinstChan, n)
	}
	return 0
}

// qinstNewChan tells of a channel at its first operation that is an event. The note is in the
// channel itself, which is new at an address where another one was.
// Context: probe.
//
//go:nosplit
func qinstNewChan(gp *g, c *hchan) {
	if atomic.Xchg8(&c.qinstTold, 1) == 0 {
		qinstPut2(qinstNow(), gp.goid, qinstEvChannel<<24|uint64(min(c.dataqsiz, 1<<24-1)),
			uint64(uintptr(unsafe.Pointer(c)))&(1<<qinstAddrBits-1))
	}
}

const (
	qinstFrames    = 12      // of a stack: the runtime's own are among them
	qinstStackMax  = 1 << 16 // stacks; an event's field for their number holds no more
	qinstStackBits = 17
	qinstStackMap  = 1 << qinstStackBits // slots of the hash table
)

// qinstWaitStack is a stack that goroutines waited in.
type qinstWaitStack struct {
	ready uint32 // set last
	n     uint32
	pc    [qinstFrames]uintptr
}

// Stacks are never removed: a number in an event must mean the same stack as long as the
// file is written. At the bound further stacks are number 0, and counted.
var (
	qinstWaitStacks     qinstRoom // qinstStackMax of qinstWaitStack; number 0 is none
	qinstWaitStackSlots uintptr   // qinstStackMap of qinstSlot
	qinstNWaitStacks    atomic.Uint32
	qinstWaitStacksOut  uint32  // written to the file
	qinstFramesOut      uintptr // set of the pcs written, a hash table of the writer's own
	qinstLostWaitStacks uint64
	qinstNFramesOut     uint32
)
