package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// qinstReduceStart starts the reducer.
// The buffers that are full by then are the reducer's too: after this the writer takes
// none.
// Context: goroutine.
//
//go:linkname qinstReduceStart qinst_reduce_start
func qinstReduceStart(run func()) bool {
	r := &qinstReduce
	if qinstStarted == 0 || qinstSet.mode == "count" || r.state != qinstReduceNone {
		return false
	}
	r.peeks = qinstAnonymous(qinstMaxRecorders * unsafe.Sizeof(qinstPeek{}))
	if r.peeks == 0 {
		return false
	}
	r.run = run
	atomic.Store(&r.state, qinstReduceWorks) // after this the reducer takes the buffers
	startTemplateThread()                    // see qinstReduceWake
	go qinstReducer()
	return true
}

// qinstExtensions are the names of the extensions that the user asked for.
// Context: goroutine.
//
//go:linkname qinstExtensions qinst_reduce_names
func qinstExtensions() string {
	if qinstStarted == 0 {
		return ""
	}
	return qinstSet.extensions
}
