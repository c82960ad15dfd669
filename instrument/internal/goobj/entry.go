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

// Bits of the number of first bytes that may also stand elsewhere, and be followed there by a jump
// to the rest. It is 0 where there are no such.
const (
	MovesAt   = 24
	mostMoves = 15
)

// jumpSize is the size of a jump to anywhere in the text, on amd64.
const jumpSize = 5

// entryOf looks at the machine code of a function. fixed is the offset of its first relocation.
func entryOf(code []byte, fixed int) Entry {
	switch {
	case len(code) < jumpSize:
		return NoJump
	case testsStack(code):
		return JumpAny
	case branches(code):
		return NoJump
	}
	return JumpOnce | Entry(moves(code, fixed))<<MovesAt
}

// moves is how many first bytes of a function do the same elsewhere, as many as a jump has or more.
func moves(code []byte, fixed int) (n int) {
	for n < jumpSize {
		in, err := x86asm.Decode(code[n:], 64)
		if err != nil {
			return 0
		}
		for _, arg := range in.Args {
			switch arg := arg.(type) {
			case x86asm.Rel:
				return 0
			case x86asm.Mem:
				if arg.Base == x86asm.RIP {
					return 0
				}
			}
		}
		n += in.Len
	}
	if n > min(fixed, mostMoves) {
		return 0
	}
	return n
}

// testsStack reports whether a function begins with the test of its stack.
func testsStack(code []byte) bool {
	switch binary.LittleEndian.Uint32(code) {
	case 0x10663b49, // CMPQ SP, 16(R14)
		0x24648d4c, 0x24a48d4c: // LEAQ -n(SP), R12
		return true
	}
	return false
}

// branches reports whether a branch in a function leads to one of its first bytes, or whether that
// is not known.
func branches(code []byte) bool {
	for at := 0; at < len(code); {
		in, err := x86asm.Decode(code[at:], 64)
		if err != nil {
			return true
		}
		at += in.Len
		if rel, ok := in.Args[0].(x86asm.Rel); ok && in.Op != x86asm.CALL {
			if to := at + int(rel); to >= 0 && to < jumpSize {
				return true
			}
		}
	}
	return false
}
