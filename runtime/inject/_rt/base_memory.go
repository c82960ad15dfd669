package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// Memory of the tool. Nothing ever moves, so that no address can go stale; hence each part has
// addresses for the most that it may become. Addresses are only reserved at first, and cannot be
// touched. They become memory as they are needed, for two reasons. A program may lock all of its
// memory (mlockall), which makes everything that can be touched resident. And a page of the ring
// must exist before it is touched: on a full /dev/shm a touch would end the program with SIGBUS.

const (
	qinstProtNone = 0
	qinstProtRead = 1
	qinstProt     = 1 | 2

	qinstShared  = 1
	qinstPrivate = 2 | 0x20 | 0x4000 // anonymous, no reserve
	qinstFixed   = 0x10

	qinstDontFork = 10 // advice
	qinstRemove   = 9
	qinstPopulate = 23
	qinstNoHuge   = 15
	qinstDontDump = 16
)

// qinstAddresses reserves addresses, 0 if there are none.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstAddresses(size uintptr) uintptr {
	return qinstMmap(size, qinstProtNone, qinstPrivate, ^uintptr(0), 0)
}

// qinstAnonymous maps memory of the process's own, 0 if there is none. It is for what is used as a
// whole.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstAnonymous(size uintptr) uintptr {
	return qinstMmap(size, qinstProt, qinstPrivate, ^uintptr(0), 0)
}

// qinstMmap maps memory, 0 on failure. Huge pages are declined, because one would make a
// thread's few touched counters cost 2 MiB.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstMmap(size, prot, flags, fd, off uintptr) uintptr {
	p, _, e := linux.Syscall6(qinstSysMmap, 0, size, prot, flags, fd, off)
	if e != 0 {
		return 0
	}
	qinstNoteMapping(p, size)
	// A forked child must not write into its parent's ring.
	advice := [...]uintptr{qinstDontFork, qinstDontDump, qinstNoHuge}
	for _, a := range advice {
		qinstAdvise(p, size, a)
	}
	return p
}

// What was mapped before the program began, and how much in all.
var (
	qinstMapped  [96][2]uintptr // address and size
	qinstNMapped int
	qinstTaken   atomic.Uint64 // bytes of addresses
	qinstScarce  bool          // addresses are limited; then so many bytes may be taken:
	qinstMayTake uint64
)

// qinstNoteMapping notes what was mapped.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstNoteMapping(p, size uintptr) {
	qinstTaken.Add(int64(size))
	if qinstStarted == 0 && qinstNMapped < len(qinstMapped) {
		qinstMapped[qinstNMapped] = [2]uintptr{p, size}
		qinstNMapped++
	}
}

// qinstIsChild reports whether this is another process than the one that recording began in.
// Context: hook, end, goroutine.
//
//go:nosplit
func qinstIsChild() bool {
	pid, _, _ := linux.Syscall6(qinstSysGetpid, 0, 0, 0, 0, 0, 0)
	return uint64(pid) != qinstSet.pid && qinstSet.pid != 0
}

// qinstOwnPID is that of the process that is traced. Its children have the variable, but not its
// threads.
var qinstOwnPID uint64

// qinstTooMuch reports whether more addresses are taken than may be.
// Context: start, hook, writer.
func qinstTooMuch() bool { return qinstScarce && qinstTaken.Load() > qinstMayTake }

// qinstAdvise is madvise.
// Context: start, probe, hook, end, goroutine, writer, sampler.
func qinstAdvise(p, size, advice uintptr) (errno uintptr) {
	_, _, errno = linux.Syscall6(qinstSysMadvise, p, size, advice, 0, 0, 0)
	return errno
}

// qinstProtect sets what may be done with whole pages of memory.
// Context: start, probe, hook, goroutine, writer, sampler, jumper.
func qinstProtect(p, size, prot uintptr) bool {
	_, _, e := linux.Syscall6(qinstSysMprotect, p, size, prot, 0, 0, 0)
	return e == 0
}

// qinstUnmap gives addresses back.
// Context: start, hook, writer.
func qinstUnmap(p, size uintptr) {
	if size > 0 {
		linux.Syscall6(qinstSysMunmap, p, size, 0, 0, 0, 0)
	}
}

// qinstPlace is the i-th slot at which something may be in a table of 1<<bits slots, by its hash:
// first in a line of the first 512 slots, then in one of the next 1,024, and so on, and in the end
// anywhere. So a table with few entries has few pages, each of which takes the system some
// microseconds.
// Context: hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstPlace(h uint64, i, bits uintptr) uintptr {
	const line, first = 3, 9 // bits
	if level := i >> line; first+level < bits {
		return (1<<level-1)<<first + uintptr(h>>(64-(first-line)-level))<<line + i&(1<<line-1)
	}
	return (uintptr(h>>32) + i) & (1<<bits - 1)
}

// qinstTouch makes a page of new memory be the process's own at once. If it was read first the
// system would map a page of zeros, and would have to interrupt all other processors of the program
// when it is written.
// Context: start, goroutine, writer.
func qinstTouch(p unsafe.Pointer) { atomic.Xadd((*uint32)(p), 0) }

// qinstUse makes memory of reserved addresses.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstUse(p, size uintptr) bool { return qinstProtect(p, size, qinstProt) }

// qinstUseRing makes memory of addresses that are mapped to the ring at off. Its pages exist then.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstUseRing(p, size, off uintptr) bool {
	if !qinstUse(p, size) {
		return false
	}
	if !qinstRinged || qinstExist(p, size, off) {
		return true
	}
	qinstProtect(p, size, qinstProtNone)
	return false
}

// qinstExist makes pages of the ring exist. The writer has the file's descriptor. Other threads go
// by the memory: the system reports them of a page that it cannot make, instead of ending the
// program, since it makes the page on behalf of a call.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstExist(p, size, off uintptr) bool {
	for qinstRing >= 0 && getg().m == qinstWriterM.ptr() {
		_, _, e := linux.Syscall6(qinstSysFallocate, uintptr(qinstRing), 0, off, size, 0, 0)
		if e != _EINTR {
			return e == 0
		}
	}
	if qinstAdvise(p, size, qinstPopulate) == 0 {
		return true
	}
	for at := p; at < p+size; at += qinstPage { // before Linux 5.14, or there is no room
		const block, words = 0, 8
		if _, _, e := linux.Syscall6(qinstSysSigmask, block, 0, at, words, 0, 0); e != 0 {
			return false
		}
		*(*uint64)(unsafe.Pointer(at)) = 0
	}
	return true
}

// qinstRoom is address space of which the first bytes are memory.
type qinstRoom struct {
	base, size, step uintptr
	used             atomic.Uintptr
}

// reserve gets addresses. step is how much becomes memory at a time.
// Context: start, goroutine, writer.
func (r *qinstRoom) reserve(size, step uintptr) bool {
	r.size, r.step = qinstRound(size, step), step
	r.base = qinstAddresses(r.size)
	return r.base != 0
}

// upTo makes the first n bytes memory, and reports whether they are. It takes no lock, because a
// signal may interrupt it, whose handler calls it: threads that come at the same time do the same.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func (r *qinstRoom) upTo(n uintptr) bool { return n <= r.used.Load() || r.more(n) }

// more is upTo where there is not enough.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func (r *qinstRoom) more(n uintptr) bool {
	from, to := r.used.Load(), qinstRound(n, r.step)
	if n > r.size {
		return false
	}
	if _, _, e := linux.Syscall6(qinstSysMprotect, r.base+from, to-from, qinstProt, 0, 0, 0); e != 0 {
		return false
	}
	for u := from; u < to && !r.used.CompareAndSwap(u, to); {
		u = r.used.Load()
	}
	return true
}

// qinstRound rounds up to a multiple of a power of two.
//
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstRound(n, to uintptr) uintptr { return (n + to - 1) &^ (to - 1) }

// Some arrays have an element for each point. There may be a million points, and most programs have
// a few thousand, all of which are registered before anything uses them. So these arrays grow
// together, before a package is registered whose points are beyond.

const (
	qinstFirstPoints = 1 << 13
	qinstFewPoints   = 1 << 16 // so many there may be in any program
	qinstPointText   = 16      // bytes of instructions for each point of packages that are not selected, at least
)

var (
	qinstMostPoints uint32 // in this program
	qinstExtent     uint32 // points whose elements are memory
	qinstArrays     [12]struct{ base, stride uintptr }
	qinstNArrays    int
)

// qinstPointArray reserves an array with an element for each point, 0 if that is not possible.
// Context: goroutine, writer.
func qinstPointArray(stride uintptr) uintptr {
	p := qinstAddresses(uintptr(qinstMostPoints) * stride)
	if p == 0 || qinstNArrays == len(qinstArrays) || !qinstUse(p, uintptr(qinstExtent)*stride) {
		return 0
	}
	qinstArrays[qinstNArrays].base, qinstArrays[qinstNArrays].stride = p, stride
	qinstNArrays++
	return p
}
