package runtime

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
