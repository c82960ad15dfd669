package runtime

// Numbers of the system calls that the tool makes, and what else differs between
// machines. package internal/runtime/syscall/linux has few of them, as the runtime itself
// needs few.

const (
	qinstSysRead      = 0
	qinstSysMmap      = 9
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
	qinstSysClock     = 228
	qinstSysOpenat    = 257
	qinstSysUnlinkat  = 263
	qinstSysReadlink  = 267
	qinstSysFchmodat  = 268
	qinstSysFaccess   = 269
	qinstSysFallocate = 285
	qinstSysAccept    = 288
)

// qinstPublish makes what was stored before visible to whoever sees v. Stores
// are ordered on this machine.
// Context: start, probe, hook, goroutine, sampler.
//
//go:nosplit
func qinstPublish(p *uintptr, v uintptr) { *p = v }
