package goobj

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"
)

// A jump may be written over the first bytes of a function only if no branch leads to them, but for
// the one that begins anew when the stack has grown.

// Entry is what can be done with the first bytes of a function.
type Entry uint32

// The kinds. Between the test of its stack and the end of a jump no thread can be stopped by the
// runtime, so that a jump may be written at any stop of the world.
const (
	NoJump   Entry = 0       // another branch leads there, or there is no room
	JumpOnce Entry = 1 << 30 // a jump may be written before the function has run
	JumpAny  Entry = 3 << 30 // a jump may be written, and removed, while the world is stopped
)

// jumpSizes are the sizes of a jump to anywhere in the text.
var jumpSizes = map[string]int{"amd64": 5, "arm64": 4}

// entryOf looks at the machine code of a function.
func entryOf(code []byte, arch string) Entry {
	switch size := jumpSizes[arch]; {
	case size == 0 || len(code) < size:
		return NoJump
	case testsStack(code, arch):
		return JumpAny
	case arch == "amd64" && branchesAMD64(code, size), arch == "arm64" && branchesARM64(code):
		return NoJump
	}
	return JumpOnce
}

// testsStack reports whether a function begins with the test of its stack, where g is R14 or R28.
func testsStack(code []byte, arch string) bool {
	switch word := binary.LittleEndian.Uint32(code); arch {
	case "amd64":
		return word == 0x10663b49 || // CMPQ SP, 16(R14)
			word == 0x24648d4c || word == 0x24a48d4c // LEAQ -n(SP), R12
	case "arm64":
		return word == 0xf9400b90 // MOVD 16(g), R16
	}
	return false
}

// branchesAMD64 reports whether a branch in a function leads to one of its first bytes, or whether
// that is not known.
func branchesAMD64(code []byte, size int) bool {
	for at := 0; at < len(code); {
		in, err := x86asm.Decode(code[at:], 64)
		if err != nil {
			return true
		}
		at += in.Len
		if rel, ok := in.Args[0].(x86asm.Rel); ok && in.Op != x86asm.CALL {
			if to := at + int(rel); to >= 0 && to < size {
				return true
			}
		}
	}
	return false
}

// branchesARM64 does likewise. The fields of branches are those of the architecture's manual, C4.1.
func branchesARM64(code []byte) bool {
	for at := 0; at+4 <= len(code); at += 4 {
		word := binary.LittleEndian.Uint32(code[at:])
		var words int32
		switch {
		case word>>26 == 0x05: // B
			words = int32(word<<6) >> 6
		case word>>25 == 0x2a, word>>25&0x3f == 0x1a: // B.cond, CBZ, CBNZ
			words = int32(word<<8) >> 13
		case word>>25&0x3f == 0x1b: // TBZ, TBNZ
			words = int32(word<<13) >> 18
		default:
			continue
		}
		if at+4*int(words) == 0 {
			return true
		}
	}
	return false
}
