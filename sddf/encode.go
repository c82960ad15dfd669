package sddf

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"qinst.dev/sddf/spec"
)

// What the functions below append are whole packets, with their checksums.

// Preamble returns a header and the descriptors of recs, the bytes that every
// file of them starts with.
func Preamble(producer string, recs []spec.Record) []byte {
	b := AppendHeader(nil, producer)
	for i := range recs {
		b = AppendDescriptor(b, &recs[i])
	}
	return b
}

// AppendHeader appends a header packet.
func AppendHeader(b []byte, producer string, attrs ...spec.Attr) []byte {
	start := len(b)
	b = appendPacket(b, 5, spec.Header)
	b = appendStr(b, spec.Magic)
	b = appendUint(b, spec.Version)
	b = appendStr(b, producer)
	return sealed(appendAttrs(b, attrs), start)
}

// AppendAttribute appends an attribute packet.
func AppendAttribute(b []byte, key string, value any) ([]byte, error) {
	start := len(b)
	b, err := appendScalar(appendStr(appendPacket(b, 3, spec.Attribute), key), value)
	return sealed(b, start), err
}

// AppendCommand appends a command packet.
func AppendCommand(b []byte, name string, args ...spec.Attr) []byte {
	start := len(b)
	return sealed(appendAttrs(appendStr(appendPacket(b, 3, spec.Command), name), args), start)
}

// AppendCompressed appends a packet whose bytes are packets of the given size.
func AppendCompressed(b []byte, codec string, size int, bytes []byte) []byte {
	start := len(b)
	b = appendStr(appendPacket(b, 4, spec.Compressed), codec)
	b, _ = AppendSums(appendBytes(appendUint(b, uint64(size)), bytes), start)
	return b
}

// AppendDescriptor appends a descriptor packet.
func AppendDescriptor(b []byte, r *spec.Record) []byte {
	start := len(b)
	b = appendPacket(b, 6, spec.Descriptor)
	b = appendUint(b, uint64(r.Tag))
	return sealed(appendDescription(b, r), start)
}

// appendDescription appends the part of a descriptor after the tag.
func appendDescription(b []byte, r *spec.Record) []byte {
	b = appendStr(b, r.Name)
	b = appendAttrs(b, append([]spec.Attr{{Key: "doc", Value: r.Doc}}, r.Attrs...))
	b = appendArray(b, len(r.Fields))
	for _, f := range r.Fields {
		n := 4
		if len(f.Attrs) > 0 {
			n = 5
		}
		b = appendArray(b, n)
		b = appendStrs(b, f.Name, f.Type, f.Unit, f.Doc)
		if n == 5 {
			b = appendAttrs(b, f.Attrs)
		}
	}
	return appendLayout(b, r.Layout)
}

// appendLayout is nil or [delta, [[kind, name, words, doc, [[name, word, bit, width, unit, doc,
// type] ...], tail] ...]]. Empty elements at the end of an array are omitted.
func appendLayout(b []byte, l *spec.Layout) []byte {
	if l == nil {
		return appendNil(b)
	}
	b = appendStr(appendArray(b, 2), l.Delta)
	b = appendArray(b, len(l.Variants))
	for _, v := range l.Variants {
		n := 5
		if v.Tail != "" {
			n = 6
		}
		b = appendInt(appendArray(b, n), int64(v.Kind))
		b = appendStr(b, v.Name)
		b = appendUint(b, uint64(v.Words))
		b = appendStr(b, v.Doc)
		b = appendArray(b, len(v.Fields))
		for _, f := range v.Fields {
			b = appendBitField(b, f)
		}
		if n == 6 {
			b = appendStr(b, v.Tail)
		}
	}
	return b
}

func appendBitField(b []byte, f spec.BitField) []byte {
	n := 6
	if f.Type != spec.Unsigned {
		n = 7
	}
	b = appendStr(appendArray(b, n), f.Name)
	for _, v := range []int{f.Word, f.Bit, f.Width} {
		b = appendUint(b, uint64(v))
	}
	b = appendStrs(b, f.Unit, f.Doc)
	if n == 7 {
		b = appendStr(b, f.Type)
	}
	return b
}

func appendPacket(b []byte, n int, kind spec.PacketKind) []byte {
	return appendUint(appendArray(b, n), uint64(kind))
}

func appendStrs(b []byte, list ...string) []byte {
	for _, s := range list {
		b = appendStr(b, s)
	}
	return b
}

func appendAttrs(b []byte, attrs []spec.Attr) []byte {
	b = appendMap(b, len(attrs))
	for _, a := range attrs {
		b = appendStr(b, a.Key)
		b, _ = appendScalar(b, a.Value)
	}
	return b
}

// appendScalar appends a value of an attribute, nil if it is not a scalar.
func appendScalar(b []byte, v any) ([]byte, error) {
	switch x := v.(type) {
	case nil:
		return appendNil(b), nil
	case string:
		return appendStr(b, x), nil
	case bool:
		return appendBool(b, x), nil
	}
	if i, ok := signedOf(v); ok {
		return appendInt(b, i), nil
	}
	if u, ok := unsignedOf(v); ok {
		return appendUint(b, u), nil
	}
	if f, ok := floatOf(v); ok {
		return appendFloat64(b, f), nil
	}
	return appendNil(b), fmt.Errorf("sddf: a %T is no scalar", v)
}

// AppendValues appends the encoding of one value for each of fields, without a packet around
// them. It returns an error for the first value that is not of its field's type. A value may be
// of any Go type as for [Writer.Data].
func AppendValues(dst []byte, fields []spec.Field, values ...any) ([]byte, error) {
	if len(values) != len(fields) {
		return dst, fmt.Errorf("sddf: %d values for %d fields", len(values), len(fields))
	}
	b := dst
	for i, f := range fields {
		var err error
		if b, err = appendValue(b, f.Type, values[i]); err != nil {
			return dst, fmt.Errorf("sddf: field %q: %w", f.Name, err)
		}
	}
	return b, nil
}

func appendValue(b []byte, typ string, v any) ([]byte, error) {
	if elem, ok := strings.CutPrefix(typ, "[]"); ok {
		return appendArrayValue(b, elem, v)
	}
	switch typ {
	case spec.Bool:
		if x, ok := v.(bool); ok {
			return appendBool(b, x), nil
		}
	case spec.Str:
		if x, ok := v.(string); ok {
			return appendStr(b, x), nil
		}
	case spec.Bytes, spec.Packed:
		if x, ok := v.([]byte); ok {
			return appendBytes(b, x), nil
		}
	case spec.U8, spec.U16, spec.U32, spec.U64:
		x, ok := unsignedOf(v)
		if i, signed := signedOf(v); !ok && signed && i >= 0 {
			x, ok = uint64(i), true
		}
		if ok && x <= unsignedMax(typ) {
			return appendUint(b, x), nil
		}
	case spec.I8, spec.I16, spec.I32, spec.I64, spec.Time, spec.Duration:
		x, ok := signedOf(v)
		if u, unsigned := unsignedOf(v); !ok && unsigned && u <= math.MaxInt64 {
			x, ok = int64(u), true
		}
		if most := signedMax(typ); ok && x <= most && x >= -most-1 {
			return appendInt(b, x), nil
		}
	case spec.F32, spec.F64:
		if x, ok := floatOf(v); ok && typ == spec.F64 {
			return appendFloat64(b, x), nil
		} else if ok {
			return appendFloat32(b, float32(x)), nil
		}
	}
	return b, fmt.Errorf("%T %v is no %s", v, v, typ)
}

func signedOf(v any) (int64, bool) {
	switch x := v.(type) {
	case int:
		return int64(x), true
	case int8:
		return int64(x), true
	case int16:
		return int64(x), true
	case int32:
		return int64(x), true
	case int64:
		return x, true
	case time.Duration:
		return int64(x), true
	case time.Time:
		return x.UnixNano(), true
	}
	return 0, false
}

func unsignedOf(v any) (uint64, bool) {
	switch x := v.(type) {
	case uint:
		return uint64(x), true
	case uint8:
		return uint64(x), true
	case uint16:
		return uint64(x), true
	case uint32:
		return uint64(x), true
	case uint64:
		return x, true
	case uintptr:
		return uint64(x), true
	}
	return 0, false
}

func floatOf(v any) (float64, bool) {
	switch x := v.(type) {
	case float32:
		return float64(x), true
	case float64:
		return x, true
	}
	return 0, false
}

// Array is an array of several dimensions.
type Array struct {
	Dims  []int // extent of each
	Cells any   // a slice of all elements, the last index running fastest
}

func appendArrayValue(b []byte, elem string, v any) ([]byte, error) {
	if a, ok := v.(Array); ok {
		cell := strings.TrimLeft(elem, "[]")
		if dims := (len(elem) - len(cell)) / 2; dims == 0 || dims+1 != len(a.Dims) {
			return b, fmt.Errorf("%d extents for []%s", len(a.Dims), elem)
		}
		b = appendArray(appendArray(b, 2), len(a.Dims))
		cells := 1
		for _, n := range a.Dims {
			b = appendUint(b, uint64(n))
			cells *= n
		}
		if v := reflect.ValueOf(a.Cells); v.Kind() != reflect.Slice || v.Len() != cells {
			return b, fmt.Errorf("a %T for an array of %v", a.Cells, a.Dims)
		}
		return appendArrayValue(b, cell, a.Cells)
	}
	switch x := v.(type) {
	case []bool:
		return appendAll(b, elem, x)
	case []int8:
		return appendAll(b, elem, x)
	case []int16:
		return appendAll(b, elem, x)
	case []int32:
		return appendAll(b, elem, x)
	case []int64:
		return appendAll(b, elem, x)
	case []int:
		return appendAll(b, elem, x)
	case []uint8:
		return appendAll(b, elem, x)
	case []uint16:
		return appendAll(b, elem, x)
	case []uint32:
		return appendAll(b, elem, x)
	case []uint64:
		return appendAll(b, elem, x)
	case []uint:
		return appendAll(b, elem, x)
	case []float32:
		return appendAll(b, elem, x)
	case []float64:
		return appendAll(b, elem, x)
	case []string:
		return appendAll(b, elem, x)
	case [][]byte:
		return appendAll(b, elem, x)
	case []time.Time:
		return appendAll(b, elem, x)
	case []time.Duration:
		return appendAll(b, elem, x)
	}
	return b, fmt.Errorf("a %T is no []%s", v, elem)
}

func appendAll[T any](b []byte, elem string, xs []T) (_ []byte, err error) {
	b = appendArray(b, len(xs))
	for _, x := range xs {
		if b, err = appendValue(b, elem, x); err != nil {
			return b, err
		}
	}
	return b, nil
}
