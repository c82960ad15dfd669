package goobj

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A twin is a function that nothing calls: at run time a jump leads to it from the function of
// which it is the twin. The linker must keep it with that function, and must not find it by its
// name.

// Pair is a function and its twin, by their names.
type Pair struct{ Plain, Twin string }

// Kinds of relocations; see cmd/internal/objabi/reloctype.go.
const (
	relocOffset = 5       // of an address from the beginning of the text
	relocKeep   = 27      // nothing but a reference
	relocWeak   = 1 << 15 // not a reference: 0 stays where the symbol is not in the program
)

const (
	blockRelocIndex = 11
	blockRelocs     = 14
	relocSize       = 23 // offset, 32 bits, size, 8, kind, 16, addend, 64, and a symbol
	relocAddend     = 7
	relocPackage    = 15 // offset of the symbol's package, before its number, 32 bits each

	pairSize = 12

	pairFlag = 1 << 7 // of a function with a twin; the runtime has the flag and does not know it
	twinFlag = 1 << 6 // of a twin

	symbolABI = 8 // two bytes
	static    = 1<<16 - 1
)

// reloc is one to add to a symbol.
type reloc struct {
	symbol uint64 // its number
	at     uint32
	size   uint8
	kind   uint16
	target uint64
}

// Pairs ties twins to their functions: it makes each function keep its twin, hides the twin's name
// from the linker, marks both for the runtime, and fills a table, a variable of 32-bit words. What
// refers to a twin then refers to its function. The first two of three words for each pair get the
// offsets of both from the beginning of the text. A pair that is not in the program keeps the words
// that the source gives it, and so does one that is not in the object. The archive that it returns
// is another one.
//
// The third word gets the bits of an Entry. Where there are functions in which no jump can be
// written, these are returned in its place.
func Pairs(archive []byte, table string, pairs []Pair) (paired []byte, without []string, err error) {
	o, err := Open(archive)
	if err != nil {
		return nil, nil, err
	}
	at, err := o.numbers()
	if err != nil {
		return nil, nil, err
	}
	list, ok := at[table]
	if !ok {
		return nil, nil, fmt.Errorf("found no symbol %s", table)
	}
	words, err := o.data(list)
	if err != nil || len(words) < pairSize*len(pairs) {
		return nil, nil, fmt.Errorf("found a table of %d bytes for %d pairs: %w", len(words), len(pairs), err)
	}
	var added []reloc
	plains, names := map[uint64]uint64{}, map[string]string{} // by their twins
	for i, p := range pairs {
		plain, ok := at[p.Plain]
		twin, ok2 := at[p.Twin]
		if !ok || !ok2 {
			continue
		}
		code, err := o.data(plain)
		if err != nil {
			return nil, nil, err
		}
		fixed, err := o.firstReloc(plain)
		if err != nil {
			return nil, nil, err
		}
		entry := entryOf(code, fixed)
		if entry == NoJump {
			without = append(without, p.Plain)
		}
		third := words[pairSize*i+8:]
		binary.LittleEndian.PutUint32(third, binary.LittleEndian.Uint32(third)|uint32(entry))
		binary.LittleEndian.PutUint16(o.b[o.block[blockSymbols]+symbolSize*twin+symbolABI:], static)
		if err := errors.Join(o.mark(plain, pairFlag), o.mark(twin, twinFlag)); err != nil {
			return nil, nil, err
		}
		plains[twin], names[p.Twin] = plain, p.Plain
		added = append(added, reloc{plain, 0, 0, relocKeep, twin},
			reloc{list, uint32(pairSize * i), 4, relocOffset | relocWeak, plain},
			reloc{list, uint32(pairSize*i + 4), 4, relocOffset | relocWeak, twin})
	}
	if without != nil {
		return nil, without, nil
	}
	if err := errors.Join(o.copies(at, names, plains), o.refer(plains)); err != nil {
		return nil, nil, err
	}
	paired, err = o.withRelocs(archive, added)
	return paired, nil, err
}

// mark sets a flag of the function that is the i-th symbol.
func (o *Object) mark(i uint64, flag byte) error {
	info, err := o.info(i)
	if info != nil {
		info[infoFlag] |= flag
	}
	return err
}

// refer makes text and data refer to functions in place of their twins: a closure has one code,
// whatever text makes it, and nothing calls a twin. What debuggers read stays as it is.
func (o *Object) refer(plains map[uint64]uint64) error {
	for i := range (o.block[blockRefs] - o.block[blockSymbols]) / symbolSize {
		if o.kind(i) >= kindDebug {
			continue
		}
		from, to, err := o.relocs(i)
		if err != nil {
			return err
		}
		for ; from < to; from += relocSize {
			if o.word(from+relocPackage) != pkgSelf || o.word(from+relocAddend)|o.word(from+relocAddend+4) != 0 {
				continue // the tables of switches have places within functions
			}
			if plain, ok := plains[o.word(from+relocPackage+4)]; ok {
				binary.LittleEndian.PutUint32(o.b[from+relocPackage+4:], uint32(plain))
			}
		}
	}
	return nil
}

// numbers returns the numbers of the symbols that are referred to by them, by name.
func (o *Object) numbers() (map[string]uint64, error) {
	list := map[string]uint64{}
	for at := o.block[blockSymbols]; at < o.block[blockHashed]; at += symbolSize {
		name, err := o.name(at)
		if err != nil {
			return nil, err
		}
		list[name] = (at - o.block[blockSymbols]) / symbolSize
	}
	return list, nil
}

// relocs are the offsets at which a symbol's relocations begin and end.
func (o *Object) relocs(symbol uint64) (from, to uint64, err error) {
	at, end := o.block[blockRelocs], o.block[blockRelocs+1]
	index := o.block[blockRelocIndex] + 4*symbol
	if index+8 > o.block[blockRelocIndex+1] {
		return 0, 0, errors.New("found an index of relocations that does not fit")
	}
	from, to = at+relocSize*o.word(index), at+relocSize*o.word(index+4)
	if from > to || to > end {
		return 0, 0, errors.New("found relocations that are not in order")
	}
	return from, to, nil
}

// firstReloc is the offset of a symbol's first relocation, or one that no symbol has.
func (o *Object) firstReloc(symbol uint64) (first int, err error) {
	from, to, err := o.relocs(symbol)
	if err != nil {
		return 0, err
	}
	first = math.MaxInt
	for ; from < to; from += relocSize {
		first = min(first, int(o.word(from)))
	}
	return first, nil
}

// withRelocs returns the archive with more relocations, behind those that symbols have.
func (o *Object) withRelocs(archive []byte, added []reloc) ([]byte, error) {
	slices.SortStableFunc(added, func(a, b reloc) int { return int(a.symbol) - int(b.symbol) })
	index, relocs, next := o.block[blockRelocIndex], o.block[blockRelocs], o.block[blockRelocs+1]
	symbols := (o.block[blockRefs] - o.block[blockSymbols]) / symbolSize
	if o.block[blockRelocIndex+1]-index != 4*(symbols+1) || (next-relocs)%relocSize != 0 {
		return nil, errors.New("found an index of relocations that does not fit")
	}
	text := make([]byte, 0, next-relocs+uint64(len(added))*relocSize)
	var before, done uint64 // relocations added, and copied
	for i := range symbols + 1 {
		first := o.word(index + 4*i)
		if first < done || first > (next-relocs)/relocSize {
			return nil, errors.New("found relocations that are not in order")
		}
		text = append(text, o.b[relocs+done*relocSize:relocs+first*relocSize]...)
		done = first
		for ; len(added) > 0 && added[0].symbol+1 == i; added = added[1:] {
			text = added[0].append(text)
			before++
		}
		binary.LittleEndian.PutUint32(o.b[index+4*i:], uint32(first+before))
	}
	more := uint64(len(text)) - (next - relocs)
	for i := blockRelocs + 1; i <= blockEnd; i++ {
		binary.LittleEndian.PutUint32(o.b[offsetsAt+4*i:], uint32(o.block[i]+more))
	}
	return replaceIn(archive, o.b, slices.Concat(o.b[:relocs], text, o.b[next:]))
}

func (r *reloc) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, r.at)
	b = append(b, r.size)
	b = binary.LittleEndian.AppendUint16(b, r.kind)
	b = binary.LittleEndian.AppendUint64(b, 0)
	b = binary.LittleEndian.AppendUint32(b, pkgSelf)
	return binary.LittleEndian.AppendUint32(b, uint32(r.target))
}

// replaceIn returns the archive with another object in place of one that ends its member.
func replaceIn(archive, old, object []byte) ([]byte, error) {
	contents, err := member(archive, objectMember)
	if err != nil {
		return nil, err
	}
	from := bytes.Index(archive, contents)
	if !bytes.HasSuffix(contents, old) || from < memberHead {
		return nil, errors.New("found an object that does not end its member")
	}
	rest := archive[min(len(archive), from+len(contents)+len(contents)%2):]
	size := len(contents) - len(old) + len(object)
	out := slices.Concat(archive[:from+len(contents)-len(old)], object)
	if size%2 != 0 {
		out = append(out, 0)
	}
	field := out[from-memberHead:][48:58]
	copy(field, strconv.Itoa(size)+strings.Repeat(" ", len(field)))
	return append(out, rest...), nil
}
