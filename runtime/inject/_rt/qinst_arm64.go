package runtime

import "internal/runtime/atomic"

const (
	qinstSysRead      = 63
	qinstSysMmap      = 222
	qinstSysWritev    = 66
	qinstSysMadvise   = 233
	qinstSysGetpid    = 172
	qinstSysFcntl     = 25
	qinstSysGetrusage = 165
	qinstSysGetppid   = 173
	qinstSysClock     = 113
	qinstSysOpenat    = 56
	qinstSysUnlinkat  = 35
	qinstSysReadlink  = 78
	qinstSysFaccess   = 48
	qinstSysFallocate = 47
)

// qinstPublish makes what was stored before visible to whoever sees v.
//
//go:nosplit
func qinstPublish(p *uintptr, v uintptr) { atomic.StoreReluintptr(p, v) }
