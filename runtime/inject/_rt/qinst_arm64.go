package runtime

import "internal/runtime/atomic"

// Numbers of the system calls that the tool makes, and what else differs between
// machines. package internal/runtime/syscall/linux has few of them, as the runtime itself
// needs few.

const (
	qinstSysFcntl     = 25
	qinstSysUnlinkat  = 35
	qinstSysFallocate = 47
	qinstSysFaccess   = 48
	qinstSysFchmodat  = 53
	qinstSysOpenat    = 56
	qinstSysRead      = 63
	qinstSysWritev    = 66
	qinstSysReadlink  = 78
	qinstSysPrctl     = 167
	qinstSysClock     = 113
	qinstSysGetrusage = 165
	qinstSysGetpid    = 172
	qinstSysGetppid   = 173
	qinstSysSocket    = 198
	qinstSysBind      = 200
	qinstSysListen    = 201
	qinstSysConnect   = 203
	qinstSysMmap      = 222
	qinstSysMadvise   = 233
	qinstSysAccept    = 242
)

// qinstPublish makes what was stored before visible to whoever sees v.
// Context: start, probe, hook, goroutine, sampler.
//
//go:nosplit
func qinstPublish(p *uintptr, v uintptr) { atomic.StoreReluintptr(p, v) }
