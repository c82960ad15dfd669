package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// Numbers of the tool's system calls, and other differences between machines. Package
// internal/runtime/syscall/linux has only the few numbers that the runtime needs.

const (
	qinstSysGetcwd      = 17
	qinstSysFcntl       = 25
	qinstSysIoctl       = 29
	qinstSysFlock       = 32
	qinstSysUnlinkat    = 35
	qinstSysTruncate    = 46
	qinstSysFallocate   = 47
	qinstSysFchmodat    = 53
	qinstSysFchownat    = 54
	qinstSysOpenat      = 56
	qinstSysGetdents    = 61
	qinstSysRead        = 63
	qinstSysWritev      = 66
	qinstSysPwrite      = 68
	qinstSysReadlink    = 78
	qinstSysStat        = 79
	qinstSysFstat       = 80
	qinstSysUnshare     = 97
	qinstSysClock       = 113
	qinstSysClockRes    = 114
	qinstSysTgkill      = 131
	qinstSysSigmask     = 135
	qinstSysSetreuid    = 145
	qinstSysSetuid      = 146
	qinstSysSetresuid   = 147
	qinstSysGetrusage   = 165
	qinstSysPrctl       = 167
	qinstSysUname       = 160
	qinstSysGetpid      = 172
	qinstSysGetppid     = 173
	qinstSysGeteuid     = 175
	qinstSysSocket      = 198
	qinstSysBind        = 200
	qinstSysListen      = 201
	qinstSysConnect     = 203
	qinstSysGetsockname = 204
	qinstSysGetpeername = 205
	qinstSysGetsockopt  = 209
	qinstSysMunmap      = 215
	qinstSysMremap      = 216
	qinstSysMmap        = 222
	qinstSysMprotect    = 226
	qinstSysMadvise     = 233
	qinstSysPerf        = 241
	qinstSysAccept      = 242
	qinstSysPrlimit     = 261
	qinstSysPidOpen     = 434
	qinstSysCloseRange  = 436
	qinstSysPidGet      = 438

	qinstStatMode = 16 // offset in a struct stat
	qinstStatUser = 24 // the same
)

// qinstPublish stores v so that every thread that sees it sees all earlier stores.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstPublish(p *uintptr, v uintptr) { atomic.StoreReluintptr(p, v) }

// qinstLongTicks is how long a system call takes in which whoever made it waits: some 10 us, where
// the clock has 25 to 50 MHz, as on most machines.
const qinstLongTicks = 1 << 9

// qinstEndsAtomic reports whether an instruction ends at pc that is atomic: one of LSE's that load,
// change and store, that swap, or that compare and swap. Nothing before first is read.
// Context: hook, writer.
func qinstEndsAtomic(pc, first uintptr) bool {
	if pc-4 < first {
		return false
	}
	word := *(*uint32)(unsafe.Pointer(pc - 4))
	return word&0x3F200C00 == 0x38200000 || word&0x3FA07C00 == 0x08A07C00
}
