package runtime

import "unsafe"

// qinstRestore writes the bytes that were there.
// Context: jumper.
func qinstRestore(at uintptr, code uint64) {
	*(*uint32)(unsafe.Pointer(at + 1)) = uint32(code >> 8)
	*(*byte)(unsafe.Pointer(at)) = byte(code)
}

// qinstStubSize is the most that a stub takes.
const qinstStubSize = 64

// qinstWriteStub writes a stub for the procedure that begins at a place with a test of its stack:
// the same test, so that an entry is counted once if the stack grows, an increment of its slot, and
// a jump behind the test. It returns false if it does not know the test. Context: jumper.
// Context: jumper.
func qinstWriteStub(stub, at uintptr, code uint64, slot uintptr) bool {
	// Of the procedure's first bytes that are written over only code is left.
	byteAt := func(i uintptr) byte {
		if i < 8 {
			return byte(code >> (8 * i))
		}
		return *(*byte)(unsafe.Pointer(at + i))
	}
	n := uintptr(4) // CMPQ SP, 16(R14)
	switch uint32(code) {
	case 0x24648d4c:
		n = 5 + 4 // LEAQ -n(SP), R12; CMPQ R12, 16(R14)
	case 0x24a48d4c:
		n = 8 + 4
	}
	put := func(b byte) {
		*(*byte)(unsafe.Pointer(stub)) = b
		stub++
	}
	put4 := func(v uint32) {
		for range 4 {
			put(byte(v))
			v >>= 8
		}
	}
	for i := range n {
		put(byteAt(i))
	}
	var grows uintptr // to where the stack grows
	switch {
	case byteAt(n) == 0x76: // JLS, near
		grows, n = at+n+2+uintptr(int8(byteAt(n+1))), n+2
	case byteAt(n) == 0x0f && byteAt(n+1) == 0x86:
		rel := uint32(0)
		for i := range uintptr(4) {
			rel |= uint32(byteAt(n+2+i)) << (8 * i)
		}
		grows, n = at+n+6+uintptr(int32(rel)), n+6
	default:
		return false
	}
	put(0x0f)
	put(0x86)
	put4(uint32(grows - (stub + 4)))
	put(0x4d) // MOVQ ledger(R14), R12
	put(0x8b)
	put(0xa6)
	put4(qinstLedgerOffset)
	put(0x49) // INCQ slot(R12)
	put(0xff)
	put(0x84)
	put(0x24)
	put4(uint32(slot))
	put(0xe9)
	put4(uint32(at + n - (stub + 4)))
	return true
}
