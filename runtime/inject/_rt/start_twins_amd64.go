package runtime

import "unsafe"

// qinstJumpSize is the size of a jump.
const qinstJumpSize = 5

// qinstWriteJump writes a jump.
// Context: start, jumper.
func qinstWriteJump(at, to uintptr) {
	*(*uint32)(unsafe.Pointer(at + 1)) = uint32(to - (at + qinstJumpSize))
	*(*byte)(unsafe.Pointer(at)) = 0xe9
}

// qinstTestsStack reports whether a procedure's first bytes are a test of its stack.
// Context: start.
func qinstTestsStack(code uint64) bool {
	switch uint32(code) {
	case 0x10663b49, 0x24648d4c, 0x24a48d4c:
		return true
	}
	return false
}
