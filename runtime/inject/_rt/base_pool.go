package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// Lists and pools without locks. Probes and hooks take items from them that the writer has
// prepared. They must not take a lock, because the thread that they interrupt could hold
// it, and they would then wait for ever.
//
// Every item has a number from 1, and lists hold numbers, not addresses: two of them fit
// a word, so that one compare-and-swap changes the head and the counter that protects it.

// qinstList is a lock-free stack of numbered items. The head holds a counter in
// its upper half that every pop raises, so that a pop which slept cannot take
// an item that came back meanwhile.
type qinstList struct {
	head atomic.Uint64
	// base and stride locate item i (from 1); with no stride items are recorders.
	base, stride uintptr
}

// next is the word of item i that leads on: free items hold it in their own memory, so a
// list needs none.
// Context: start, probe, hook, goroutine, writer, sampler, jumper.
//
//go:nosplit
func (l *qinstList) next(i uint32) *uint32 {
	if l.stride == 0 {
		return &(*qinstRecorder)(unsafe.Pointer(qinstRecorders[i])).next
	}
	return (*uint32)(unsafe.Pointer(l.base + uintptr(i-1)*l.stride))
}

// push puts an item on the list. The caller must have stopped using the item, because its
// first word is overwritten.
// Context: start, probe, hook, goroutine, writer, sampler, jumper.
//
//go:nosplit
func (l *qinstList) push(i uint32) {
	for {
		h := l.head.Load()
		*l.next(i) = uint32(h)
		if l.head.CompareAndSwap(h, h&^(1<<32-1)|uint64(i)) {
			return
		}
	}
}

// pop takes the item that came last, 0 if there is none.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func (l *qinstList) pop() uint32 {
	for {
		h := l.head.Load()
		i := uint32(h)
		if i == 0 {
			return 0
		}
		// The item may be in use by now. Then the word read here is meaningless,
		// and the swap fails.
		n := atomic.Load(l.next(i))
		if l.head.CompareAndSwap(h, (h>>32+1)<<32|uint64(n)) {
			return i
		}
	}
}

// qinstPool hands out equal pieces of one mapping: first those that came back,
// then fresh ones up to limit, which the writer thread raises.
type qinstPool struct {
	qinstList
	// Pieces above limit are mapped and not allocated: to touch one may end the program.
	limit atomic.Uint32 // pieces that may be touched
	fresh atomic.Uint32 // pieces ever handed out
	used  atomic.Int32  // pieces out now
}

// get returns the address of a piece, 0 if no more than reserve are left.
// used is raised first and taken back on failure, so that two threads cannot both take
// the last piece.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func (l *qinstPool) get(reserve uint32) uintptr {
	limit := l.limit.Load()
	if n := l.used.Add(1); uint32(n)+reserve > limit {
		l.used.Add(-1)
		return 0
	}
	i := l.pop()
	if i == 0 {
		// Another thread may have popped the item that used promised to this one, and not
		// counted itself yet.
		i = l.fresh.Add(1)
		if i > limit {
			l.fresh.Add(-1)
			l.used.Add(-1)
			return 0
		}
	}
	return l.base + uintptr(i-1)*l.stride
}

// put gives a piece back. Its memory stays mapped, since a pop that slept may still read
// the first word.
// Context: start, goroutine, writer, jumper.
//
//go:nosplit
func (l *qinstPool) put(addr uintptr) {
	l.push(uint32((addr-l.base)/l.stride) + 1)
	l.used.Add(-1)
}

const (
	qinstMaxRecorders = 4096 // threads that record at the same time
)

var (
	qinstBuffers qinstPool

	// Addresses, not pointers: the writer must not execute write barriers, and the
	// collector has nothing to find there.
	qinstRecorders  [qinstMaxRecorders]uintptr // [0] is shared by threads that have none
	qinstNRecorders uint32                     // used of it
	qinstReady      qinstList                  // recorders without a thread
	qinstSpares     atomic.Int32               // how many there are

	qinstFull  atomic.Uint64 // the newest full buffer: number of it, qinstBuffer.next leads on
	qinstEarly uint64        // hits of points whose package is not registered
)

// qinstPushFull puts a buffer on the list that the writer empties. Only whole
// lists are taken from it, so it needs no counter.
// It wakes the writer only under pressure, because the wake-up is a system call on the
// program's time.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstPushFull(c uintptr) {
	h := (*qinstBuffer)(unsafe.Pointer(c))
	i := uint32((c-qinstBuffers.base)/qinstBuffers.stride) + 1
	for {
		old := qinstFull.Load()
		h.next = uint32(old)
		if qinstFull.CompareAndSwap(old, uint64(i)) {
			break
		}
	}
	if qinstPressed() {
		qinstWake()
	}
}

// qinstPressed reports whether the writer is to look for full buffers now. Else it finds
// them when it looks anyhow, some times a second: to wake it costs more than to write a
// buffer.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstPressed() bool {
	return uint32(qinstBuffers.used.Load()) > qinstBuffers.limit.Load()/4
}
