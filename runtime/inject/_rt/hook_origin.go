package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// What goroutines start with, by which readers sort and name them. That is the function of their go
// statement, but for those of methods such as sync.WaitGroup.Go, which start a closure of their
// own: it calls what was passed to them, and that is what goroutines differ by. It is a variable of
// the closure, which the compiler lays out the same each time.

// A table that is full loses names and nothing else: goroutines are then reported by
// address.
// qinstPCs are the start functions of goroutines, an open-addressed hash table
// that the writer thread reads to write down their names.
var (
	qinstPCs [1 << 12]uintptr
	// which word of such a closure has what was passed; qinstPassedNone: there is none; 0: nobody
	// has looked
	qinstPassed  [len(qinstPCs)]uint8
	qinstLostPCs uint64
)

const (
	qinstPassedNone = 0xff
	qinstPassedMost = 8 // words of a closure that are looked at
)

// qinstNotePC notes a start function, whose name the writer looks up: a hook cannot, as
// that may take locks. It returns its place in the table, -1 if there is no room.
// Context: start, hook, writer.
//
//go:nosplit
func qinstNotePC(pc uintptr) int {
	i := (pc * 0x9E3779B97F4A7C15) >> 52
	for range 32 {
		i &= uintptr(len(qinstPCs)) - 1
		slot := &qinstPCs[i]
		switch got := atomic.Loaduintptr(slot); {
		case got == pc:
			return int(i)
		case got == 0 && atomic.Casuintptr(slot, 0, pc):
			return int(i)
		case atomic.Loaduintptr(slot) == pc:
			return int(i)
		}
		i++
	}
	atomic.Xadd64((&qinstLostPCs), 1)
	return -1
}

// qinstStartOf returns the function that a new goroutine is for, and notes it.
// Context: hook.
//
//go:nosplit
func qinstStartOf(newg *g, pc uintptr) uintptr {
	i := qinstNotePC(pc)
	if i < 0 || qinstPassed[i] == qinstPassedNone {
		return pc
	}
	closure := uintptr(newg.sched.ctxt)
	if qinstPassed[i] == 0 {
		qinstPassed[i] = qinstFindPassed(pc, closure)
	}
	if passed := qinstFunctionAt(closure, uintptr(qinstPassed[i])); passed != 0 {
		qinstNotePC(passed)
		return passed
	}
	return pc
}

// qinstFindPassed looks for the function that was passed to the method that made a closure. Any
// word of it may be anything.
// Context: hook.
//
//go:nosplit
func qinstFindPassed(pc, closure uintptr) uint8 {
	if qinstStarter(funcname(findfunc(pc))) {
		for word := uintptr(1); word <= qinstPassedMost; word++ {
			if passed := qinstFunctionAt(closure, word); passed != 0 && findfunc(passed).entry() == passed {
				return uint8(word)
			}
		}
	}
	return qinstPassedNone
}

// qinstFunctionAt returns the function that a word of a closure leads to, 0 if it leads nowhere.
// Context: hook.
//
//go:nosplit
func qinstFunctionAt(closure, word uintptr) uintptr {
	s := spanOfHeap(closure)
	if s == nil || word == qinstPassedNone || closure+(word+1)*8 > s.limit || (word+1)*8 > s.elemsize {
		return 0
	}
	value := *(*uintptr)(unsafe.Pointer(closure + word*8))
	if value&7 != 0 || spanOfHeap(value) == nil && !qinstReadable(value) {
		return 0
	}
	if f := *(*uintptr)(unsafe.Pointer(value)); findfunc(f).valid() {
		return f
	}
	return 0
}

// qinstReadable reports whether a value of the program's image can be read, as functions without
// variables are. Sections may have gaps between them, so that the system is asked once for each
// page: it reads a set of signals before it finds that nothing is to be done with it.
// Context: hook.
//
//go:nosplit
func qinstReadable(p uintptr) bool {
	const invalid = 22
	md := &firstmoduledata
	for ; md != nil && (p < md.types || p >= md.end); md = md.next {
	}
	if md == nil {
		return false
	}
	page := p / 4096
	known := &qinstReadablePages[page%uintptr(len(qinstReadablePages))]
	if atomic.Loaduintptr(known) == page {
		return true
	}
	if _, _, errno := linux.Syscall6(qinstSysSigmask, ^uintptr(0), p, 0, 8, 0, 0); errno != invalid {
		return false
	}
	atomic.Storeuintptr(known, page)
	return true
}

var qinstReadablePages [64]uintptr // numbers of some that can be read

// qinstStarter reports whether a function is one that a function or method Go or TryGo starts.
// Context: hook.
//
//go:nosplit
func qinstStarter(name string) bool {
	end := len(name)
	for i := len(name) - 1; i > 0; i-- {
		if name[i] != '.' {
			continue
		}
		switch part := name[i+1 : end]; {
		case part == "":
			return false
		case part == "Go", part == "TryGo":
			return end < len(name)
		case len(part) > 4 && part[:4] == "func", len(part) > 6 && part[:6] == "gowrap", part[0] >= '0' &&
			part[0] <= '9':
			end = i
		default:
			return false
		}
	}
	return false
}
