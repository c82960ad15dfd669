package pablo

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"qinst.dev/internal/format/text"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// maxDims is how many dimensions a field of Pablo's can have.
const maxDims = 3

// Keys of the attributes for properties that Pablo's types do not have.
const (
	keyDoc  = "doc"
	keyUnit = "unit"
	keyType = "SDDF type"
)

func pairs(doc, unit, typ string, attrs []spec.Attr) (out []pair) {
	for _, p := range []pair{{keyType, typ}, {keyUnit, unit}, {keyDoc, doc}} {
		if p.value != "" {
			out = append(out, p)
		}
	}
	for _, a := range attrs {
		out = append(out, pair{a.Key, plain(a.Value)})
	}
	return out
}

func unpairs(list []pair) (doc, unit, typ string, attrs []spec.Attr) {
	for _, p := range list {
		switch p.key {
		case keyDoc:
			doc = p.value
		case keyUnit:
			unit = p.value
		case keyType:
			typ = p.value
		default:
			attrs = append(attrs, spec.Attr{Key: p.key, Value: unplain(p.value)})
		}
	}
	return doc, unit, typ, attrs
}

// plain is the text of an attribute's value, unplain the value of a text.
func plain(v any) string {
	s, ok := v.(string)
	switch {
	case !ok:
		return text.Free(v)
	case text.IsString(s) && !strings.HasPrefix(s, `"`):
		return s
	}
	return strconv.Quote(s)
}

func unplain(s string) any {
	if text.IsString(s) && !strings.HasPrefix(s, `"`) {
		return s
	}
	v, err := text.ParseFree(s)
	if err != nil {
		return s
	}
	return v
}

// split takes a field type into its element's type and the number of dimensions.
func split(typ string) (cell string, dims int) {
	cell = strings.TrimLeft(typ, "[]")
	return cell, (len(typ) - len(cell)) / 2
}

// mapped returns the image of a type: a type, and the number of dimensions added.
func mapped(cell string) (typ Type, more int) {
	switch cell {
	case spec.F32:
		return Float, 0
	case spec.F64:
		return Double, 0
	case spec.Str:
		return Char, 1
	case spec.Bytes:
		return Int, 1
	case spec.U32, spec.U64, spec.I64, spec.Time, spec.Duration:
		return Int, 1
	}
	return Int, 0
}

func fieldOf(f spec.Field) (field, error) {
	cell, dims := split(f.Type)
	typ, more := mapped(cell)
	if dims+more > maxDims || dims > 0 && cell == spec.Bytes {
		return field{}, fmt.Errorf("field %q: %s has no form in Pablo's format", f.Name, f.Type)
	}
	return field{pairs(f.Doc, f.Unit, f.Type, f.Attrs), f.Name, typ, dims + more}, nil
}

// fits reports whether a field can have come from a type.
func fits(typ string, f field) bool {
	if sddf.Check(&spec.Record{Name: "x", Fields: []spec.Field{{Name: "x", Type: typ}}}) != nil {
		return false
	}
	g, err := fieldOf(spec.Field{Name: "x", Type: typ})
	return err == nil && g.typ == f.typ && g.dims == f.dims
}

// plainType returns the type of a field without an attribute for its type.
func plainType(f field) string {
	dims := f.dims
	cell := [...]string{spec.U8, spec.I32, spec.F32, spec.F64}[f.typ]
	if f.typ == Char && dims > 0 {
		cell, dims = spec.Str, dims-1
	}
	return strings.Repeat("[]", dims) + cell
}

// toPablo converts a value of a field's type.
func toPablo(typ string, v any) (out value, err error) {
	cell, dims := split(typ)
	var cells reflect.Value
	switch x := v.(type) {
	case sddf.Array:
		for _, n := range x.Dims {
			out.dims = append(out.dims, int32(n))
		}
		cells = reflect.ValueOf(x.Cells)
	default:
		if cells = reflect.ValueOf(v); dims == 1 {
			out.dims = []int32{int32(cells.Len())}
		}
	}
	n := 1
	at := func(int) any { return v }
	if dims > 0 {
		n, at = cells.Len(), func(i int) any { return cells.Index(i).Interface() }
	}
	switch cell {
	case spec.Str:
		return strs(out, n, dims, at)
	case spec.Bytes:
		b := v.([]byte)
		out.dims = []int32{int32(len(b))}
		for _, c := range b {
			out.ints = append(out.ints, int32(c))
		}
		return out, nil
	}
	if t, more := mapped(cell); t == Int && more == 1 {
		out.dims = append(out.dims, 2)
	}
	for i := range n {
		switch x := at(i).(type) {
		case bool:
			var b int32
			if x {
				b = 1
			}
			out.ints = append(out.ints, b)
		case uint64:
			out.integer(cell, x)
		case int64:
			out.integer(cell, uint64(x))
		case float64:
			out.floats = append(out.floats, x)
		}
	}
	return out, nil
}

func (v *value) integer(cell string, x uint64) {
	if _, more := mapped(cell); more == 1 {
		v.ints = append(v.ints, int32(x>>32))
	}
	v.ints = append(v.ints, int32(x))
}

// strs puts strings into rows of one length.
func strs(out value, n, dims int, at func(int) any) (value, error) {
	width := 0
	for i := range n {
		s := at(i).(string)
		width = max(width, len(s))
		if dims > 0 && strings.HasSuffix(s, "\x00") {
			return out, errors.New("a string that ends in NUL has no form in an array")
		}
	}
	out.dims = append(out.dims, int32(width))
	var b strings.Builder
	for i := range n {
		s := at(i).(string)
		b.WriteString(s)
		b.WriteString(strings.Repeat("\x00", width-len(s)))
	}
	out.chars = b.String()
	return out, nil
}

// fromPablo converts a value to the type that its field has.
func fromPablo(typ string, f field, v value) (any, error) {
	cell, dims := split(typ)
	extents := v.dims
	if more := f.dims - dims; more > 0 {
		extents = v.dims[:len(v.dims)-more]
	}
	var cells []any
	switch t, more := mapped(cell); {
	case cell == spec.Bytes:
		b := make([]byte, len(v.ints))
		for i, x := range v.ints {
			b[i] = byte(x)
		}
		return b, nil
	case cell == spec.Str:
		width := int(v.dims[len(v.dims)-1])
		for i := 0; i+width <= len(v.chars) && (width > 0 || i == 0); i += max(width, 1) {
			s := v.chars[i : i+width]
			if dims > 0 {
				s = strings.TrimRight(s, "\x00")
			}
			cells = append(cells, s)
		}
		if n := product(extents); width == 0 && dims > 0 {
			cells = nil
			for range min(n, 1<<20) {
				cells = append(cells, "")
			}
		}
	case t == Int && more == 1:
		if n := len(v.dims); v.dims[n-1] != 2 {
			return nil, fmt.Errorf("%d ints for %s, expected 2", v.dims[n-1], cell)
		}
		for i := 0; i+1 < len(v.ints); i += 2 {
			x := uint64(uint32(v.ints[i]))<<32 | uint64(uint32(v.ints[i+1]))
			cells = append(cells, integer(cell, x))
		}
	case f.typ == Char: // u8 of old files
		for _, c := range []byte(v.chars) {
			cells = append(cells, uint64(c))
		}
	case f.typ == Int:
		for _, x := range v.ints {
			if cell == spec.Bool {
				cells = append(cells, x != 0)
			} else {
				cells = append(cells, integer(cell, uint64(int64(x))))
			}
		}
	default:
		for _, x := range v.floats {
			cells = append(cells, x)
		}
	}
	return shape(cell, dims, extents, cells)
}

func integer(cell string, x uint64) any {
	switch cell {
	case spec.I8, spec.I16, spec.I32, spec.I64, spec.Time, spec.Duration:
		return int64(x)
	case spec.U16, spec.U8:
		return x & math.MaxUint16
	}
	return x
}

func product(dims []int32) int {
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	return n
}

// shape makes a scalar, a slice or an array of cells.
func shape(cell string, dims int, extents []int32, cells []any) (any, error) {
	if dims == 0 {
		if len(cells) != 1 {
			return nil, fmt.Errorf("%d values, expected one", len(cells))
		}
		return cells[0], nil
	}
	var list any
	switch cell {
	case spec.Bool:
		list = slice[bool](cells)
	case spec.Str:
		list = slice[string](cells)
	case spec.F32, spec.F64:
		list = slice[float64](cells)
	case spec.U8, spec.U16, spec.U32, spec.U64:
		list = slice[uint64](cells)
	default:
		list = slice[int64](cells)
	}
	if dims == 1 {
		return list, nil
	}
	a := sddf.Array{Cells: list}
	for _, n := range extents {
		a.Dims = append(a.Dims, int(n))
	}
	return a, nil
}

func slice[T any](cells []any) []T {
	out := make([]T, len(cells))
	for i, c := range cells {
		out[i], _ = c.(T)
	}
	return out
}
