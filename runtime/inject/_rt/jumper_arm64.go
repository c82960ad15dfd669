package runtime

import "unsafe"

// qinstRestore writes the bytes that were there.
// Context: jumper.
func qinstRestore(at uintptr, code uint64) { *(*uint32)(unsafe.Pointer(at)) = uint32(code) }

// qinstStubSize is the most that a stub takes.
const qinstStubSize = 64

// qinstWriteStub writes no stub.
// Context: jumper.
func qinstWriteStub(stub, at uintptr, code uint64, slot uintptr) bool { return false }
