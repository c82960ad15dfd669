package tracetest

import (
	"cmp"
	"slices"
	"strings"

	"qinst.dev/sddf/spec"
)

// tables are what entries refer to by number.
type tables struct {
	functions names
	reasons   names
	texts     names
	stacks    []stack
}

// names are numbered from 1 on in the order of their first use.
type names []string

func (ns *names) number(name string) uint64 {
	i := slices.Index(*ns, name)
	if i < 0 {
		i = len(*ns)
		*ns = append(*ns, name)
	}
	return uint64(i + 1)
}

// firstPC is the program counter of the first function.
const firstPC = 0x1000

func (t *tables) pc(function string) uint64 { return firstPC - 1 + t.functions.number(function) }

// stack is a stack of calls.
type stack struct {
	functions []string
	line      uint32 // of all frames; 0: frame k has line k+1
	parks     bool   // a goroutine waits in it, and so is in the runtime
}

// write writes the tables. They come after the event buffers on purpose, because readers must
// accept that order.
func (t *tables) write(f *file) {
	for i, name := range t.functions {
		f.put(spec.TagFunction, uint64(firstPC+i), name, "test.go", uint32(i+1))
	}
	for i, r := range t.reasons {
		f.put(spec.TagReason, uint32(i+1), r)
	}
	for i, s := range t.texts {
		f.put(spec.TagText, uint32(i+1), s)
	}
	for i, s := range t.stacks {
		s.write(f, uint32(i))
	}
}

func (s *stack) write(f *file, i uint32) {
	first := 0x8000 + 100*uint64(i)
	var pcs []uint64
	if s.parks {
		pcs = []uint64{first + 99}
		f.put(spec.TagFrame, pcs[0], uint32(0), "runtime.gopark", "runtime/proc.go", uint32(1))
	}
	for k, name := range s.functions {
		file := "test.go"
		if strings.HasPrefix(name, "runtime.") {
			file = "runtime/test.go"
		}
		pc := first + uint64(k)
		f.put(spec.TagFrame, pc, uint32(0), name, file, cmp.Or(s.line, uint32(k+1)))
		pcs = append(pcs, pc)
	}
	f.put(spec.TagStack, i+1, pcs)
}
