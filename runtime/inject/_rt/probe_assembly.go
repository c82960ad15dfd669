package runtime

import _ "unsafe" // for linkname

// Probes, in assembly. Code with probes refers to them by these names. From Go 1.27 on the linker
// allows that only where they are declared so. The functions that go on from there are in
// probe_enter.go and probe_sync.go.

//go:linkname qinst_enter
func qinst_enter(point uint32) uint64

//go:linkname qinst_exit
func qinst_exit(token uint64)

//go:linkname qinst_leave
func qinst_leave(token, trips uint64)

//go:linkname qinst_call
func qinst_call(point uint32) uint32

//go:linkname qinst_callee
func qinst_callee(point uint32, pc uintptr) uint32

//go:linkname qinst_sync
func qinst_sync(point uint32, object, queue uintptr)

//go:noescape
//go:linkname qinst_deferred
func qinst_deferred(point uint32, object, queue uintptr, method func())

//go:linkname qinst_jump
func qinst_jump()

//go:linkname qinst_told
func qinst_told(word uintptr, point uint32, callee uintptr) uint32
