// Package sddf writes and reads self-describing trace files. The format is
// described in docs/SDDF.md and, as tables, in package spec.
package sddf

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/vmihailenco/msgpack/v5"

	"qinst.dev/sddf/spec"
)

// Preamble returns the header packet and the descriptors of recs, the bytes
// that every file of them starts with.
func Preamble(producer string, recs []spec.Record) []byte {
	var buf bytes.Buffer
	e := newEncoder(&buf)
	e.open(4, spec.Header)
	e.str(spec.Magic)
	e.uint(spec.Version)
	e.str(producer)
	for i := range recs {
		e.descriptor(&recs[i])
	}
	return buf.Bytes()
}

// AppendValues appends the encoding of one value for each of fields, without a
// packet around them. It reports the first value whose type is not its field's.
func AppendValues(dst []byte, fields []spec.Field, values ...any) ([]byte, error) {
	if len(values) != len(fields) {
		return dst, fmt.Errorf("sddf: %d values for %d fields", len(values), len(fields))
	}
	buf := bytes.NewBuffer(dst)
	e := newEncoder(buf)
	for i, f := range fields {
		if err := e.value(f.Type, values[i]); err != nil {
			return dst, fmt.Errorf("sddf: field %q: %w", f.Name, err)
		}
	}
	return buf.Bytes(), nil
}

// encoder keeps the codec in one place. Writing to a bytes.Buffer cannot fail,
// so its short methods drop the codec's error.
type encoder struct{ *msgpack.Encoder }

func newEncoder(buf *bytes.Buffer) encoder { return encoder{msgpack.NewEncoder(buf)} }

func (e encoder) open(n int, kind spec.PacketKind) {
	e.EncodeArrayLen(n)
	e.uint(uint64(kind))
}

func (e encoder) str(s string)  { e.EncodeString(s) }
func (e encoder) uint(v uint64) { e.EncodeUint(v) }

func (e encoder) descriptor(r *spec.Record) {
	e.open(6, spec.Descriptor)
	e.uint(uint64(r.Tag))
	e.str(r.Name)
	e.EncodeMapLen(1)
	e.str("doc")
	e.str(r.Doc)
	e.EncodeArrayLen(len(r.Fields))
	for _, f := range r.Fields {
		e.EncodeArrayLen(4)
		e.str(f.Name)
		e.str(f.Type)
		e.str(f.Unit)
		e.str(f.Doc)
	}
	e.layout(r.Layout)
}

// layout is nil or [delta, [[kind, name, words, doc, [[name, word, bit, width, unit, doc] ...]] ...]].
func (e encoder) layout(l *spec.Layout) {
	if l == nil {
		e.EncodeNil()
		return
	}
	e.EncodeArrayLen(2)
	e.str(l.Delta)
	e.EncodeArrayLen(len(l.Variants))
	for _, v := range l.Variants {
		e.EncodeArrayLen(5)
		e.EncodeInt(int64(v.Kind))
		e.str(v.Name)
		e.uint(uint64(v.Words))
		e.str(v.Doc)
		e.EncodeArrayLen(len(v.Fields))
		for _, f := range v.Fields {
			e.EncodeArrayLen(6)
			e.str(f.Name)
			e.uint(uint64(f.Word))
			e.uint(uint64(f.Bit))
			e.uint(uint64(f.Width))
			e.str(f.Unit)
			e.str(f.Doc)
		}
	}
}

func (e encoder) value(typ string, v any) error {
	if elem, ok := strings.CutPrefix(typ, "[]"); ok {
		return e.array(elem, v)
	}
	switch x := v.(type) {
	case bool:
		if typ == spec.Bool {
			return e.EncodeBool(x)
		}
	case uint32:
		if typ == spec.U8 || typ == spec.U16 || typ == spec.U32 {
			return e.EncodeUint(uint64(x))
		}
	case uint64:
		if typ == spec.U64 {
			return e.EncodeUint(x)
		}
	case int32:
		if typ == spec.I32 {
			return e.EncodeInt(int64(x))
		}
	case int64:
		if typ == spec.I64 {
			return e.EncodeInt(x)
		}
	case float64:
		if typ == spec.F64 {
			return e.EncodeFloat64(x)
		}
	case string:
		if typ == spec.Str {
			return e.EncodeString(x)
		}
	case []byte:
		if typ == spec.Packed {
			return e.EncodeBytes(x)
		}
	}
	return fmt.Errorf("a %T is no %s", v, typ)
}

func (e encoder) array(elem string, v any) error {
	switch x := v.(type) {
	case []uint32:
		return encodeAll(e, elem, x)
	case []uint64:
		return encodeAll(e, elem, x)
	case []string:
		return encodeAll(e, elem, x)
	}
	return fmt.Errorf("a %T is no []%s", v, elem)
}

func encodeAll[T any](e encoder, elem string, xs []T) error {
	e.EncodeArrayLen(len(xs))
	for _, x := range xs {
		if err := e.value(elem, x); err != nil {
			return err
		}
	}
	return nil
}
