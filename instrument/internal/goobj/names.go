package goobj

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Indexes of blocks, in their order in the file.
const (
	blockSymbols   = 3 // defined, referred to by index
	blockHashed    = 4 // two of symbols that the linker knows by their content
	blockNonPkg    = 6 // defined, referred to by name
	blockRefs      = 7 // not defined
	blockRefsEnd   = 8
	blockAuxIndex  = 12
	blockDataIndex = 13
	blockAux       = 15
	blockData      = 16
	blockRefNames  = 17
	blockEnd       = 18
)

const (
	symbolSize  = 21 // of a definition: length and offset of the name, 32 bits each, then these:
	symbolKind  = 10 // a byte
	refNameSize = 16 // a symbol, then length and offset of the name
	refNameAt   = 8
	auxSize     = 9 // a kind, then a symbol: package and index, 32 bits each
	auxFuncInfo = 1
	infoFlag    = 9 // offset of the flags in a function's record, a byte
	infoLine    = 12

	kindText = 1 // of symbols: code
	pkgSelf  = 1<<31 - 5
)

// Func is the name of a function in an object.
type Func struct {
	Name  string
	Line  int  // where it begins; 0 if only its name is there
	Index bool // defined, and referred to by index, or known by its content: the linker does not look for its name
	Named bool // defined, and referred to by name
}

// Object is the object in an archive.
type Object struct {
	b     []byte
	block [blocks + 1]uint64 // offsets
}

// Open finds the object in an archive.
func Open(archive []byte) (*Object, error) {
	b, err := object(archive)
	if err != nil {
		return nil, err
	}
	o := &Object{b: b}
	for i := range blocks {
		o.block[i] = o.word(uint64(offsetsAt) + 4*uint64(i))
	}
	symbols := o.block[blockRefs] - o.block[blockSymbols]
	for i, size := range map[int]uint64{blockSymbols: symbolSize, blockHashed: symbolSize, blockHashed + 1: symbolSize,
		blockNonPkg: symbolSize, blockRefs: symbolSize, blockRefNames: refNameSize} {
		if n := o.block[i+1] - o.block[i]; n%size != 0 {
			return nil, fmt.Errorf("found a block of %d bytes with entries of %d", n, size)
		}
	}
	// The indexes have an entry for each symbol that is defined, and one for the end.
	for _, i := range []int{blockAuxIndex, blockDataIndex} {
		if n := o.block[i+1] - o.block[i]; n != 4*(symbols/symbolSize+1) {
			return nil, fmt.Errorf("found an index of %d bytes for %d symbols", n, symbols/symbolSize)
		}
	}
	return o, nil
}

func (o *Object) word(at uint64) uint64 { return uint64(binary.LittleEndian.Uint32(o.b[at:])) }

// name returns the name whose length and offset are at an offset.
func (o *Object) name(at uint64) (string, error) {
	n, from := o.word(at), o.word(at+4)
	if size := uint64(len(o.b)); n > size || from > size-n {
		return "", errors.New("found a symbol without a name")
	}
	return string(o.b[from : from+n]), nil
}

// Funcs returns the functions that are defined in the object, and the names of all symbols that
// are not: those of functions that were inlined are among them.
func (o *Object) Funcs() ([]Func, error) {
	var list []Func
	for at := o.block[blockSymbols]; at < o.block[blockRefsEnd]; at += symbolSize {
		defined := at < o.block[blockRefs]
		if defined && o.b[at+symbolKind] != kindText {
			continue
		}
		name, err := o.name(at)
		if err != nil {
			return nil, err
		}
		f := Func{Name: name, Index: at < o.block[blockNonPkg], Named: defined && at >= o.block[blockNonPkg]}
		if defined {
			if f.Line, err = o.line((at - o.block[blockSymbols]) / symbolSize); err != nil {
				return nil, err
			}
		}
		list = append(list, f)
	}
	return list, nil
}

// line returns the line at which the function begins that is the i-th symbol, 0 if it is not
// known.
func (o *Object) line(i uint64) (int, error) {
	info, err := o.info(i)
	if info == nil {
		return 0, err
	}
	return int(int32(binary.LittleEndian.Uint32(info[infoLine:]))), nil
}

// info returns the record of the function that is the i-th symbol, nil if it has none.
func (o *Object) info(i uint64) ([]byte, error) {
	index := o.block[blockAuxIndex] + 4*i
	from, to := o.word(index), o.word(index+4)
	if n := (o.block[blockAux+1] - o.block[blockAux]) / auxSize; from > to || to > n {
		return nil, errors.New("found a symbol whose auxiliary symbols are not there")
	}
	for ; from < to; from++ {
		at := o.block[blockAux] + from*auxSize
		if o.b[at] != auxFuncInfo || o.word(at+1) != pkgSelf {
			continue
		}
		data, err := o.data(o.word(at + 5))
		if err != nil || len(data) < infoLine+4 {
			return nil, errors.Join(errors.New("found a function without its record"), err)
		}
		return data, nil
	}
	return nil, nil
}

// data returns the data of the i-th symbol.
func (o *Object) data(i uint64) ([]byte, error) {
	index := o.block[blockDataIndex] + 4*i
	if index+8 > o.block[blockDataIndex+1] {
		return nil, errors.New("found no such symbol")
	}
	from, to := o.word(index), o.word(index+4)
	if n := o.block[blockData+1] - o.block[blockData]; from > to || to > n {
		return nil, errors.New("found a symbol without data")
	}
	return o.b[o.block[blockData]+from : o.block[blockData]+to], nil
}

// Rename gives functions that the object refers to by index, and functions that are not defined in
// it, other names, none of which may be longer. It is an error if the linker looks for one
// of the functions by its name, or if the bytes of a name have another use: then nothing is
// changed.
//
// Two functions may have one name afterwards. The linker reads symbols that are referred to by
// index into a list, whatever their names are; a search by name finds the last that has it.
func (o *Object) Rename(names map[string]string) error {
	renamed, kept, err := o.uses(names)
	if err != nil {
		return err
	}
	taken := make([]bool, len(o.b)) // the bytes of names that stay
	for _, at := range kept {
		for i := range o.word(at) {
			taken[o.word(at+4)+i] = true
		}
	}
	for _, at := range renamed {
		for i := range o.word(at) {
			if taken[o.word(at+4)+i] {
				return errors.New("a name is part of another")
			}
		}
	}
	texts := map[uint64]string{} // by offset; many may use one
	for _, at := range renamed {
		name, err := o.name(at)
		if err != nil {
			return err
		}
		texts[at] = names[name]
	}
	for at, to := range texts {
		copy(o.b[o.word(at+4):], to)
		binary.LittleEndian.PutUint32(o.b[at:], uint32(len(to)))
	}
	return nil
}

// uses returns where the names of functions to rename are stored, and where other names are that
// may lie at the same bytes.
func (o *Object) uses(names map[string]string) (renamed, kept []uint64, err error) {
	note := func(from, to, size, first uint64, mine func(at uint64, name string) bool) {
		for at := from; at < to && err == nil; at += size {
			var name string
			if name, err = o.name(at + first); err != nil {
				return
			}
			to, ok := names[name]
			switch {
			case !ok:
			case !mine(at, name):
				err = fmt.Errorf("the linker looks for %s by its name", name)
			case len(to) > len(name):
				err = fmt.Errorf("%s is longer than %s", to, name)
			default:
				renamed = append(renamed, at+first)
				continue
			}
			kept = append(kept, at+first)
		}
	}
	always := func(uint64, string) bool { return true }
	never := func(uint64, string) bool { return false }
	note(o.block[blockSymbols], o.block[blockNonPkg], symbolSize, 0, always)
	note(o.block[blockNonPkg], o.block[blockRefs], symbolSize, 0, never)
	note(o.block[blockRefs], o.block[blockRefsEnd], symbolSize, 0, always)
	note(o.block[blockRefNames], o.block[blockEnd], refNameSize, refNameAt, never)
	return renamed, kept, err
}
