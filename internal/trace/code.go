package trace

import (
	"maps"
	"slices"
	"sort"

	"qinst.dev/internal/names"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// rawCode are a file's records about functions and lines of the program.
type rawCode struct {
	functions map[uint64]Function
	frames    map[uint64][]Frame // by return address, innermost first
	stacks    []rawStack
	paths     []rawNodes
	codes     []rawNodes
}

func newRawCode() rawCode {
	return rawCode{functions: map[uint64]Function{}, frames: map[uint64][]Frame{}}
}

// rawStack is a stack as it is recorded.
type rawStack struct {
	number uint64
	pcs    []uint64
}

// rawNodes are paths, or codes, with numbers from first on.
type rawNodes struct {
	first uint64
	nodes sddf.Blob
}

// maxNodes is far above the number that a program has room for.
const maxNodes = 1 << 20

// maxDepth bounds the calls that lead to a code.
const maxDepth = 1 << 10

// row processes a record.
func (c *rawCode) row(t *Trace, r *row) {
	switch r.Record.Tag {
	case spec.TagFunction:
		f := Function{r.u("pc"), t.name(r.s("name")), r.s("file"), int(r.u("line"))}
		if !r.bad && t.room(len(c.functions)) {
			c.functions[f.PC] = f
		}
	case spec.TagStack:
		if n, pcs := r.u("number"), r.us("pc"); !r.bad && n < maxStacks && t.room(len(c.stacks)) {
			c.stacks = append(c.stacks, rawStack{n, pcs})
		}
	case spec.TagPath:
		if first, b := r.u("first"), get[sddf.Blob](r, "paths"); !r.bad && first > 0 {
			c.paths = append(c.paths, rawNodes{first, b})
		}
	case spec.TagCode:
		if first, b := r.u("first"), get[sddf.Blob](r, "codes"); !r.bad && first > 0 {
			c.codes = append(c.codes, rawNodes{first, b})
		}
	case spec.TagFrame:
		pc, level := r.u("pc"), r.u("level")
		f := Frame{names.Procedure(t.name(r.s("function"))), r.s("file"), int(r.u("line"))}
		if list := c.frames[pc]; !r.bad && level == uint64(len(list)) && t.room(len(c.frames)) {
			c.frames[pc] = append(list, f)
		}
	}
}

// finish makes the tables.
func (c *rawCode) finish(t *Trace) {
	c.nameLiterals(t)
	for _, f := range c.functions {
		t.Functions = append(t.Functions, f)
	}
	sort.Slice(t.Functions, func(i, j int) bool { return t.Functions[i].PC < t.Functions[j].PC })
	c.stackTable(t)
	c.pathTable(t)
	c.codeTable(t)
}

// nameLiterals gives function literals that stand in several places their names in the source.
func (c *rawCode) nameLiterals(t *Trace) {
	l := literalsOf(&t.tables)
	for pc, f := range c.functions {
		f.Name = l.source(f.Name, f.File, f.Line)
		c.functions[pc] = f
	}
	for _, list := range c.frames {
		for i := range list {
			f := &list[i]
			f.Function = l.source(f.Function, f.File, f.Line)
		}
	}
}

// pathTable reads the paths. Each is to come from one with a smaller number.
func (c *rawCode) pathTable(t *Trace) {
	for _, r := range c.paths {
		number := r.first - 1
		t.entries(&spec.Paths, r.nodes, func(v []uint64) {
			number++
			if number >= maxNodes || v[0] >= number || v[1] >= uint64(len(t.Points)) {
				t.losses.Records++
				return
			}
			for uint64(len(t.Paths)) <= number {
				t.Paths = append(t.Paths, Path{Point: NoPoint})
			}
			t.Paths[number] = Path{PathID(v[0]), PointID(v[1]), v[2] != 0}
		})
	}
}

// codeTable reads the codes. Each is to come from one with a smaller number.
func (c *rawCode) codeTable(t *Trace) {
	var depths []uint16            // a program's stacks are cut far below the bound
	inlined := map[CodeID]uint64{} // the return addresses at which functions are inlined
	for _, r := range c.codes {
		number := r.first - 1
		t.entries(&spec.Codes, r.nodes, func(v []uint64) {
			number++
			if number >= maxNodes || v[0] >= number || v[0] < uint64(len(depths)) && depths[v[0]] >= maxDepth {
				t.losses.Records++
				return
			}
			for uint64(len(t.Codes)) <= number {
				t.Codes, depths = append(t.Codes, Code{}), append(depths, 0)
			}
			depths[number] = depths[v[0]] + 1
			t.Codes[number] = Code{CodeID(v[0]), c.functions[v[3]].Name, int(v[1]), v[5] != 0, v[2] != 0}
			if delete(inlined, CodeID(number)); v[4] != 0 {
				inlined[CodeID(number)] = v[3]
			}
		})
	}
	for _, code := range slices.Sorted(maps.Keys(inlined)) {
		c.unfold(t, code, c.frames[inlined[code]])
	}
}

// unfold makes a code that of the innermost of the functions that are inlined there. Codes after
// all others stand for the calls around it.
func (c *rawCode) unfold(t *Trace, code CodeID, frames []Frame) {
	if len(frames) > maxInlined || len(t.Codes)+len(frames) > 2*maxNodes {
		t.losses.Records++
		return
	}
	from, atomic, plain := t.Codes[code].From, t.Codes[code].Atomic, t.Codes[code].Plain
	for level, f := range slices.Backward(frames) {
		next := Code{from, f.Function, f.Line, atomic && level == 0, plain}
		if level == 0 {
			t.Codes[code] = next
			break
		}
		from = CodeID(len(t.Codes))
		t.Codes = append(t.Codes, next)
	}
}

// maxInlined is far above the number of functions that a compiler inlines into each other.
const maxInlined = 256

// maxStacks is the largest number that fits an event's field.
const maxStacks = 1 << (64 - spec.AddressBits)

// stackTable resolves the stacks; number 0 is left empty.
func (c *rawCode) stackTable(t *Trace) {
	for _, s := range c.stacks {
		for uint64(len(t.Stacks)) <= s.number {
			t.Stacks = append(t.Stacks, nil)
		}
		var st Stack
		for _, pc := range s.pcs {
			st = append(st, c.frames[pc]...)
		}
		t.Stacks[s.number] = st
	}
}
