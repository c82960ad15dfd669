package goobj

import (
	"bytes"
	"maps"
)

// copies adds to the functions by their twins the literals that a twin has with what was inlined
// into it. Their functions have the same: the compiler calls both by the function that they stand
// in, and a program may know them by their code. Those whose code is not the same are left out.
// pairs are the names of functions by those of their twins.
func (o *Object) copies(at map[string]uint64, pairs map[string]string, plains map[uint64]uint64) error {
	found := map[uint64]uint64{}
	for name, n := range at {
		if _, ok := plains[n]; ok || o.kind(n) != kindText {
			continue
		}
		for i, c := range name {
			if plain, ok := pairs[name[:i]]; ok && c == '.' {
				if p, ok := at[plain+name[i:]]; ok && o.kind(p) == kindText {
					found[n] = p
				}
			}
		}
	}
	// One that refers to others is the same only if these are.
	for before := -1; before != len(found); {
		before = len(found)
		for n, plain := range found {
			same, err := o.same(n, plain, func(target uint64) uint64 {
				if p, ok := found[target]; ok {
					return p
				}
				if p, ok := plains[target]; ok {
					return p
				}
				return target
			})
			if err != nil {
				return err
			}
			if !same {
				delete(found, n)
			}
		}
	}
	maps.Copy(plains, found)
	return nil
}

// kind is the kind of the i-th symbol.
func (o *Object) kind(i uint64) byte { return o.b[o.block[blockSymbols]+i*symbolSize+symbolKind] }

// same reports whether two symbols have the same data, and refer to the same symbols, of this
// object by way of a function.
func (o *Object) same(a, b uint64, of func(uint64) uint64) (bool, error) {
	dataA, err := o.data(a)
	if err != nil {
		return false, err
	}
	dataB, err := o.data(b)
	if err != nil || !bytes.Equal(dataA, dataB) {
		return false, err
	}
	from, to, err := o.relocs(a)
	if err != nil {
		return false, err
	}
	other, end, err := o.relocs(b)
	if err != nil || end-other != to-from {
		return false, err
	}
	for ; from < to; from, other = from+relocSize, other+relocSize {
		const number = relocPackage + 4
		x, y := o.word(from+number), o.word(other+number)
		if o.word(from+relocPackage) == pkgSelf {
			x, y = of(x), of(y)
		}
		if x != y || !bytes.Equal(o.b[from:from+number], o.b[other:other+number]) {
			return false, nil
		}
	}
	return true, nil
}
