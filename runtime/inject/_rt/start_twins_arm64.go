package runtime

import "unsafe"

// qinstJumpSize is the size of a jump.
const qinstJumpSize = 4

// qinstWriteJump writes a jump.
// Context: start, jumper.
func qinstWriteJump(at, to uintptr) {
	*(*uint32)(unsafe.Pointer(at)) = 0x14000000 | uint32(to-at)>>2&(1<<26-1)
}

// qinstTestsStack reports whether a procedure's first bytes are a test of its stack.
// Context: start.
func qinstTestsStack(code uint64) bool { return uint32(code) == 0xf9400b90 }
