package sddf

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"qinst.dev/sddf/spec"
)

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
)

// readTag reads "name,unit=...,doc=..."; the text of doc is the rest.
func readTag(f *spec.Field, tag string) error {
	name, rest, _ := strings.Cut(tag, ",")
	if name != "" {
		f.Name = name
	}
	for rest != "" {
		var item string
		if doc, ok := strings.CutPrefix(rest, "doc="); ok {
			f.Doc = doc
			return nil
		}
		item, rest, _ = strings.Cut(rest, ",")
		unit, ok := strings.CutPrefix(item, "unit=")
		if !ok {
			return fmt.Errorf("found %q in the tag, expected unit= or doc=", item)
		}
		f.Unit = unit
	}
	return nil
}

// op is the encoding of a scalar. It is data and not a function, because otherwise the value and
// the buffer would escape to the heap.
type op uint8

const (
	opNone op = iota
	opBool
	opInt
	opInt8
	opInt16
	opInt32
	opInt64
	opUint8
	opUint16
	opUint32
	opUint64
	opFloat32
	opFloat64
	opString
	opBytes
	opTime
)

func appendOp(b []byte, o op, p unsafe.Pointer) []byte {
	switch o {
	case opBool:
		return appendBool(b, *(*bool)(p))
	case opInt:
		return appendInt(b, int64(*(*int)(p)))
	case opInt8:
		return appendInt(b, int64(*(*int8)(p)))
	case opInt16:
		return appendInt(b, int64(*(*int16)(p)))
	case opInt32:
		return appendInt(b, int64(*(*int32)(p)))
	case opInt64:
		return appendInt(b, *(*int64)(p))
	case opUint8:
		return appendUint(b, uint64(*(*uint8)(p)))
	case opUint16:
		return appendUint(b, uint64(*(*uint16)(p)))
	case opUint32:
		return appendUint(b, uint64(*(*uint32)(p)))
	case opUint64:
		return appendUint(b, *(*uint64)(p))
	case opFloat32:
		return appendFloat32(b, *(*float32)(p))
	case opFloat64:
		return appendFloat64(b, *(*float64)(p))
	case opString:
		return appendStr(b, *(*string)(p))
	case opBytes:
		return appendBytes(b, *(*[]byte)(p))
	case opTime:
		return appendInt(b, (*time.Time)(p).UnixNano())
	}
	return appendNil(b)
}

var scalars = map[reflect.Kind]struct {
	typ string
	op  op
}{
	reflect.Bool: {spec.Bool, opBool}, reflect.String: {spec.Str, opString},
	reflect.Int: {spec.I64, opInt}, reflect.Int8: {spec.I8, opInt8}, reflect.Int16: {spec.I16, opInt16},
	reflect.Int32: {spec.I32, opInt32}, reflect.Int64: {spec.I64, opInt64},
	reflect.Uint: {spec.U64, opUint64}, reflect.Uint8: {spec.U8, opUint8}, reflect.Uint16: {spec.U16, opUint16},
	reflect.Uint32: {spec.U32, opUint32}, reflect.Uint64: {spec.U64, opUint64}, reflect.Uintptr: {spec.U64, opUint64},
	reflect.Float32: {spec.F32, opFloat32}, reflect.Float64: {spec.F64, opFloat64},
}

// scalarOp returns opNone if the type is not a scalar.
func scalarOp(t reflect.Type) (typ string, o op) {
	switch {
	case t == timeType:
		return spec.Time, opTime
	case t == durationType:
		return spec.Duration, opInt64
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return spec.Bytes, opBytes
	}
	s := scalars[t.Kind()]
	if strconv.IntSize == 32 && (t.Kind() == reflect.Uint || t.Kind() == reflect.Uintptr) {
		s.op = opUint32
	}
	return s.typ, s.op
}

// step encodes one field of a struct: a scalar, a slice, or an array of so many
// cells.
type step struct {
	offset uintptr
	typ    reflect.Type
	op     op
	slice  bool
	dims   []int   // of an array, or of the arrays in a slice
	cells  int     // of such an array
	size   uintptr // of an element
}

// stepOf returns, for a Go type, the field's type and the encoding of a value.
func stepOf(t reflect.Type) (typ string, s step, err error) {
	s = step{typ: t}
	elem := t
	if typ, s.op = scalarOp(t); s.op != opNone {
		return typ, s, nil
	}
	if t.Kind() == reflect.Slice {
		s.slice, elem = true, t.Elem()
		typ = "[]"
	}
	for s.cells = 1; elem.Kind() == reflect.Array; elem = elem.Elem() {
		s.dims = append(s.dims, elem.Len())
		s.cells *= elem.Len()
		typ += "[]"
	}
	name, o := scalarOp(elem)
	if s.op, s.size = o, elem.Size(); o == opNone || elem == t {
		return "", s, fmt.Errorf("found a %v, expected a bool, an integer, a float, a string, a time, bytes, a slice or array of such, or a struct", t)
	}
	return typ + name, s, nil
}

func (s *step) append(b []byte, p unsafe.Pointer) []byte {
	if !s.slice && s.dims == nil {
		return appendOp(b, s.op, p)
	}
	n, extents := s.cells, len(s.dims)
	if s.slice {
		extents++
	}
	if extents > 1 {
		b = appendArray(appendArray(b, 2), extents)
	}
	if s.slice {
		length := len(*(*[]byte)(p)) // of elements, whatever they are
		if p = *(*unsafe.Pointer)(p); extents > 1 {
			b = appendUint(b, uint64(length))
		}
		n *= length
	}
	if extents > 1 {
		for _, d := range s.dims {
			b = appendUint(b, uint64(d))
		}
	}
	b = appendArray(b, n)
	for i := range n {
		b = appendOp(b, s.op, unsafe.Add(p, uintptr(i)*s.size))
	}
	return b
}

// store puts a decoded value into a variable of the corresponding Go type, or of one that can
// hold it.
func store(to reflect.Value, v any) error {
	if a, ok := v.(Array); ok {
		cells := reflect.ValueOf(a.Cells)
		if to.Kind() == reflect.Slice && len(a.Dims) > 0 && a.Dims[0] <= cells.Len() {
			to.Set(reflect.MakeSlice(to.Type(), a.Dims[0], a.Dims[0]))
		}
		return storeCells(to, cells)
	}
	from := reflect.ValueOf(v)
	switch k := to.Kind(); {
	case to.Type() == timeType:
		if ns, ok := v.(int64); ok {
			to.Set(reflect.ValueOf(time.Unix(0, ns)))
			return nil
		}
	case k == reflect.Slice && from.Kind() == reflect.Slice:
		if from.CanConvert(to.Type()) {
			to.Set(from.Convert(to.Type()))
			return nil
		}
		to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
		return storeCells(to, from)
	case k == reflect.Array && from.Kind() == reflect.Slice:
		return storeCells(to, from)
	case to.CanInt() && from.CanInt() && !to.OverflowInt(from.Int()):
		to.SetInt(from.Int())
		return nil
	case to.CanInt() && from.CanUint() && from.Uint() < 1<<63 && !to.OverflowInt(int64(from.Uint())):
		to.SetInt(int64(from.Uint()))
		return nil
	case to.CanUint() && from.CanUint() && !to.OverflowUint(from.Uint()):
		to.SetUint(from.Uint())
		return nil
	case to.CanUint() && from.CanInt() && from.Int() >= 0 && !to.OverflowUint(uint64(from.Int())):
		to.SetUint(uint64(from.Int()))
		return nil
	case to.CanFloat() && from.CanFloat():
		to.SetFloat(from.Float())
		return nil
	case k == from.Kind() && (k == reflect.String || k == reflect.Bool):
		to.Set(from.Convert(to.Type()))
		return nil
	}
	return fmt.Errorf("%T %v does not fit a %v", v, v, to.Type())
}

// storeCells fills a slice or array, of arrays too, in order.
func storeCells(to, cells reflect.Value) error {
	next := 0
	var fill func(to reflect.Value) error
	fill = func(to reflect.Value) error {
		if to.Kind() == reflect.Array || to.Kind() == reflect.Slice {
			for i := range to.Len() {
				if err := fill(to.Index(i)); err != nil {
					return err
				}
			}
			return nil
		}
		if next++; next > cells.Len() {
			return fmt.Errorf("%d elements, expected more", cells.Len())
		}
		return store(to, cells.Index(next-1).Interface())
	}
	if err := fill(to); err != nil {
		return err
	}
	if next != cells.Len() {
		return fmt.Errorf("%d elements, expected %d", cells.Len(), next)
	}
	return nil
}
