package runtime

import "internal/runtime/atomic"

// Numbers of the tool's system calls, and other differences between machines. Package
// internal/runtime/syscall/linux has only the few numbers that the runtime needs.

const (
	qinstSysFcntl     = 25
	qinstSysIoctl     = 29
	qinstSysUnlinkat  = 35
	qinstSysFallocate = 47
	qinstSysFaccess   = 48
	qinstSysFchmodat  = 53
	qinstSysOpenat    = 56
	qinstSysGetdents  = 61
	qinstSysRead      = 63
	qinstSysWritev    = 66
	qinstSysReadlink  = 78
	qinstSysPrctl     = 167
	qinstSysClock     = 113
	qinstSysClockRes  = 114
	qinstSysGetrusage = 165
	qinstSysGetpid    = 172
	qinstSysGetppid   = 173
	qinstSysSocket    = 198
	qinstSysBind      = 200
	qinstSysListen    = 201
	qinstSysConnect   = 203
	qinstSysMmap      = 222
	qinstSysMadvise   = 233
	qinstSysPerf      = 241
	qinstSysAccept    = 242
)

// qinstPublish stores v so that every thread that sees it sees all earlier stores.
// Context: start, probe, hook, goroutine, writer, sampler.
//
//go:nosplit
func qinstPublish(p *uintptr, v uintptr) { atomic.StoreReluintptr(p, v) }
