package goobj

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
)

// Kinds of symbols that debuggers read; see cmd/internal/objabi/symkind.go.
const (
	kindDebug    = 12 // the first of them
	kindFunc     = 14 // a function: its name, parameters and variables
	kindAbstract = 15 // one that was inlined
	kindLines    = 20 // the line table of a function
)

const blockFiles = 2 // names of files, in the order of their numbers in line tables

// Debug are changes of a package's data for debuggers.
type Debug struct {
	// Results that the source calls Result and a number are called ~r and a number, as the compiler
	// calls those without a name. If it does not have two bytes they keep their names.
	Result string

	// Functions with this prefix after the package's name get names of the runtime's: debuggers
	// do not stop in these. With the package's it has as many bytes as fakeRuntime.
	Helper string

	// Name is the name of a function that the source calls by another one. If it is not as long,
	// the function keeps that.
	Name func(string) string

	// Lines of these files are not lines of functions of others: all, or if there is a list, those.
	Lines map[string][]int
}

const (
	unnamed     = "~r"
	fakeRuntime = "runtime._" // what follows the point must not be a capital letter
)

// Tell changes the data for debuggers. All bytes stay where they are: shorter data are padded, and
// data that do not fit are left unchanged.
func (o *Object) Tell(d Debug) error {
	result := regexp.MustCompile(regexp.QuoteMeta(d.Result) + `\d+\x00\x01`) // the last byte says that it is a result
	helper := regexp.MustCompile(`^[^\x00]*\.` + regexp.QuoteMeta(d.Helper))
	drop := map[uint64][]int{}
	for at := o.block[blockFiles]; at+8 <= o.block[blockFiles+1]; at += 8 {
		name, err := o.name(at)
		if err != nil {
			return err
		}
		if lines, ok := d.Lines[name]; ok {
			drop[(at-o.block[blockFiles])/8+1] = lines
		}
	}
	for at := o.block[blockSymbols]; at < o.block[blockRefs]; at += symbolSize {
		kind := o.b[at+symbolKind]
		if kind != kindFunc && kind != kindAbstract && kind != kindLines {
			continue
		}
		data, err := o.data((at - o.block[blockSymbols]) / symbolSize)
		if err != nil {
			return err
		}
		switch {
		case len(data) == 0:
		case kind == kindLines:
			if text := userLines(data, drop); text != nil && len(text) <= len(data) {
				copy(data, text)
			}
		default:
			for _, r := range result.FindAllIndex(data, -1) {
				if len(d.Result) == len(unnamed) {
					copy(data[r[0]:], unnamed)
				}
			}
			name, _, _ := bytes.Cut(data[1:], []byte{0})
			if to := d.Name(string(name)); len(to) == len(name) {
				copy(name, to)
			}
			if n := len(helper.Find(data[1:])); n >= len(fakeRuntime) {
				copy(data[1:], fakeRuntime)
			}
		}
	}
	return nil
}

// Instructions of a line table's program, and constants of the compiler's; see
// cmd/internal/obj/dwarf.go.
const (
	lineExtended, lineCopy, lineAdvancePC, lineAdvance, lineFile, lineNegate = 0, 1, 2, 3, 4, 6
	lineBlock, lineConstPC, lineFixedPC, linePrologue, lineSpecial           = 7, 8, 9, 10, 11

	lineBase, lineRange = -4, 10
	lineMostPC          = (255 - lineSpecial) / lineRange // of an instruction of one byte

	lineHead = 11             // bytes of the instruction that sets the address
	lineEnd  = "\x00\x01\x01" // the instruction at the end
)

// row is a row of a line table.
type row struct {
	pc, file        uint64
	line            int64
	stmt, prologued bool
}

// userLines returns the program of a function's line table without the lines of drop, as long as it
// was. Their instructions then belong to the line before. If there is nothing to change, the
// program is not understood or would be longer, it returns nil.
func userLines(program []byte, drop map[uint64][]int) []byte {
	dropped := func(r row) bool {
		lines, ok := drop[r.file]
		return ok && (lines == nil || slices.Contains(lines, int(r.line)))
	}
	if len(program) < lineHead+len(lineEnd) || program[0] != lineExtended ||
		!bytes.HasSuffix(program, []byte(lineEnd)) {
		return nil
	}
	rows, rest, ok := lineRows(program[lineHead : len(program)-len(lineEnd)])
	if !ok || !slices.ContainsFunc(rows, dropped) {
		return nil
	}
	first := slices.IndexFunc(rows, func(r row) bool { return !dropped(r) })
	if first < 0 {
		return nil // one of theirs
	}
	rows[first].pc = rows[0].pc
	end := rows[len(rows)-1].pc + rest
	text := slices.Clone(program[:lineHead])
	was := row{line: 1, file: 1, stmt: true}
	for _, r := range rows[first:] {
		if dropped(r) {
			if !r.prologued {
				continue
			}
			r.file, r.line = was.file, was.line // where breakpoints of functions are
		}
		text = appendRow(text, was, r)
		was = r
	}
	text = append(text, lineAdvancePC)
	text = binary.AppendUvarint(text, end-was.pc)
	if n := len(program) - len(lineEnd) - len(text); n >= 0 {
		text = append(text, strings.Repeat(string(rune(lineBlock)), n)...) // says nothing
	}
	return append(text, lineEnd...)
}

// lineRows runs a program up to its end, which is rest bytes after the last row.
func lineRows(program []byte) (rows []row, rest uint64, ok bool) {
	r := row{line: 1, file: 1, stmt: true}
	var last uint64
	for len(program) > 0 {
		op := program[0]
		program = program[1:]
		n := 0
		switch op {
		case lineCopy:
		case lineAdvancePC, lineFile:
			var v uint64
			if v, n = binary.Uvarint(program); n <= 0 {
				return nil, 0, false
			}
			if op == lineFile {
				r.file = v
			} else {
				r.pc += v
			}
		case lineAdvance:
			var v int64
			if v, n = sleb(program); n <= 0 {
				return nil, 0, false
			}
			r.line += v
		case lineNegate:
			r.stmt = !r.stmt
		case lineConstPC:
			r.pc += lineMostPC
		case lineFixedPC:
			if n = 2; len(program) < n {
				return nil, 0, false
			}
			r.pc += uint64(binary.LittleEndian.Uint16(program))
		case linePrologue:
			r.prologued = true
		case lineBlock:
		default:
			if op < lineSpecial {
				return nil, 0, false
			}
			r.pc += uint64(op-lineSpecial) / lineRange
			r.line += int64(op-lineSpecial)%lineRange + lineBase
		}
		program = program[n:]
		if op == lineCopy || op >= lineSpecial {
			rows = append(rows, r)
			r.prologued, last = false, r.pc
		}
	}
	return rows, r.pc - last, len(rows) > 0
}

// appendRow appends the instructions that make a row after another one.
func appendRow(b []byte, was, r row) []byte {
	if r.file != was.file {
		b = binary.AppendUvarint(append(b, lineFile), r.file)
	}
	if r.prologued {
		b = append(b, linePrologue)
	}
	if r.stmt != was.stmt {
		b = append(b, lineNegate)
	}
	pc, line := r.pc-was.pc, r.line-was.line
	if line < lineBase || line >= lineBase+lineRange {
		b = appendSleb(append(b, lineAdvance), line)
		line = 0
	}
	op := func() uint64 { return lineSpecial + uint64(line-lineBase) + lineRange*pc }
	switch {
	case pc <= lineMostPC && op() <= 255:
	case pc <= 2*lineMostPC && op() <= 255+lineRange*lineMostPC:
		b = append(b, lineConstPC)
		pc -= lineMostPC
	default:
		b = binary.AppendUvarint(append(b, lineAdvancePC), pc)
		pc = 0
	}
	return append(b, byte(op()))
}

// sleb reads a signed number, and returns how many bytes it has, 0 if it has no end.
func sleb(b []byte) (v int64, n int) {
	for shift := 0; n < len(b) && shift < 64; shift += 7 {
		c := b[n]
		n++
		v |= int64(c&0x7f) << shift
		if c < 0x80 {
			if c&0x40 != 0 && shift+7 < 64 {
				v |= -1 << (shift + 7)
			}
			return v, n
		}
	}
	return 0, 0
}

func appendSleb(b []byte, v int64) []byte {
	for v < -64 || v > 63 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v)&0x7f)
}
