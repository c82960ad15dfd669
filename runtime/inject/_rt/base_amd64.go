package runtime

import "unsafe"

// Numbers of the tool's system calls, and other differences between machines. Package
// internal/runtime/syscall/linux has only the few numbers that the runtime needs.

const (
	qinstSysRead        = 0
	qinstSysFstat       = 5
	qinstSysMmap        = 9
	qinstSysMprotect    = 10
	qinstSysMunmap      = 11
	qinstSysSigmask     = 14
	qinstSysIoctl       = 16
	qinstSysWritev      = 20
	qinstSysPwrite      = 18
	qinstSysMremap      = 25
	qinstSysMadvise     = 28
	qinstSysGetpid      = 39
	qinstSysSocket      = 41
	qinstSysConnect     = 42
	qinstSysBind        = 49
	qinstSysListen      = 50
	qinstSysGetsockname = 51
	qinstSysGetpeername = 52
	qinstSysGetsockopt  = 55
	qinstSysUname       = 63
	qinstSysFcntl       = 72
	qinstSysFlock       = 73
	qinstSysTruncate    = 77
	qinstSysGetcwd      = 79
	qinstSysGetrusage   = 98
	qinstSysSetuid      = 105
	qinstSysGeteuid     = 107
	qinstSysGetppid     = 110
	qinstSysSetreuid    = 113
	qinstSysSetresuid   = 117
	qinstSysPrctl       = 157
	qinstSysGetdents    = 217
	qinstSysClock       = 228
	qinstSysTgkill      = 234
	qinstSysClockRes    = 229
	qinstSysOpenat      = 257
	qinstSysStat        = 262
	qinstSysUnlinkat    = 263
	qinstSysReadlink    = 267
	qinstSysFchmodat    = 268
	qinstSysFchownat    = 260
	qinstSysUnshare     = 272
	qinstSysFallocate   = 285
	qinstSysAccept      = 288
	qinstSysPerf        = 298
	qinstSysPrlimit     = 302
	qinstSysPidOpen     = 434
	qinstSysCloseRange  = 436
	qinstSysPidGet      = 438

	qinstStatMode = 24 // offset in a struct stat
	qinstStatUser = 28 // the same
)

// qinstPublish stores v so that every thread that sees it sees all earlier stores. This
// machine orders stores.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstPublish(p *uintptr, v uintptr) { *p = v }

// qinstLongTicks is how long a system call takes in which whoever made it waits: some 10 us.
const qinstLongTicks = 1 << 15

// qinstEndsAtomic reports whether an instruction ends at pc that is atomic: LOCK with XADD,
// CMPXCHG, AND or OR, or XCHG, with a memory operand, as the compiler writes them. Nothing before
// first is read.
// Context: hook, writer.
func qinstEndsAtomic(pc, first uintptr) bool {
	for n := uintptr(3); n <= 13 && pc-n >= first; n++ {
		if qinstAtomicLen(pc-n) == n {
			return true
		}
	}
	return false
}

// qinstAtomicLen is the length of such an instruction; 0: it is none.
// Context: hook, writer.
func qinstAtomicLen(pc uintptr) uintptr {
	n, locked, known := uintptr(0), qinstTextByte(pc) == 0xF0, false
	if locked {
		n++
	}
	if qinstTextByte(pc+n)&0xF0 == 0x40 { // REX
		n++
	}
	switch op := qinstTextByte(pc + n); {
	case locked && op == 0x0F:
		n++
		known = qinstTextByte(pc+n)&^1 == 0xB0 || qinstTextByte(pc+n)&^1 == 0xC0
	case locked:
		known = op&^1 == 0x08 || op&^1 == 0x20
	default:
		known = op&^1 == 0x86
	}
	mod, rm := qinstTextByte(pc+n+1)>>6, qinstTextByte(pc+n+1)&7
	if n += 2; !known || mod == 3 {
		return 0
	}
	if rm == 4 {
		if n++; qinstTextByte(pc+n-1)&7 == 5 && mod == 0 {
			n += 4
		}
	}
	switch {
	case mod == 1:
		n++
	case mod == 2, mod == 0 && rm == 5:
		n += 4
	}
	return n
}

// qinstTextByte is a byte of the text.
// Context: hook, writer.
func qinstTextByte(pc uintptr) byte { return *(*byte)(unsafe.Pointer(pc)) }
