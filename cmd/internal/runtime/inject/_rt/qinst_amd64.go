package runtime

// Numbers of the tool's system calls, and other differences between machines. Package
// internal/runtime/syscall/linux has only the few numbers that the runtime needs.

const (
	qinstSysRead      = 0
	qinstSysMmap      = 9
	qinstSysIoctl     = 16
	qinstSysWritev    = 20
	qinstSysMadvise   = 28
	qinstSysGetpid    = 39
	qinstSysSocket    = 41
	qinstSysConnect   = 42
	qinstSysBind      = 49
	qinstSysListen    = 50
	qinstSysFcntl     = 72
	qinstSysGetrusage = 98
	qinstSysGetppid   = 110
	qinstSysPrctl     = 157
	qinstSysGetdents  = 217
	qinstSysClock     = 228
	qinstSysClockRes  = 229
	qinstSysOpenat    = 257
	qinstSysUnlinkat  = 263
	qinstSysReadlink  = 267
	qinstSysFchmodat  = 268
	qinstSysFaccess   = 269
	qinstSysFallocate = 285
	qinstSysAccept    = 288
	qinstSysPerf      = 298
)

// qinstPublish stores v so that every thread that sees it sees all earlier stores. This
// machine orders stores.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstPublish(p *uintptr, v uintptr) { *p = v }
