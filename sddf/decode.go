package sddf

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"qinst.dev/sddf/spec"
)

// Bounds on what a descriptor may say, far above any real one.
const (
	maxDims  = 4   // brackets in a field type
	maxWords = 255 // words of an entry of a packed block
)

// decoder decodes msgpack values from a source. Every length is checked
// against the bytes that remain before anything is allocated, so that a few
// damaged bytes cannot ask for gigabytes.
type decoder struct {
	*msgpack.Decoder
	src *source
	// budget bounds what nested arrays of the current packet may allocate.
	budget int64
}

func newDecoder(r io.ReaderAt, size int64) decoder {
	src := &source{r: r, size: size}
	return decoder{Decoder: msgpack.NewDecoder(src), src: src}
}

// length rejects a count of elements of at least one byte each that the rest of
// the file cannot hold.
func (d *decoder) length(n int) (int, error) {
	if n < 0 {
		return 0, nil // msgpack's nil
	}
	if int64(n) > d.src.remaining() {
		return 0, io.ErrUnexpectedEOF
	}
	return n, nil
}

func (d *decoder) arrayLen() (int, error) {
	n, err := d.DecodeArrayLen()
	if err != nil {
		return 0, err
	}
	return d.length(n)
}

func (d *decoder) str() (string, error) {
	n, err := d.DecodeBytesLen()
	if err != nil {
		return "", err
	}
	if n, err = d.length(n); n == 0 || err != nil {
		return "", err
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(d.src, b); err != nil {
		return "", err
	}
	return string(b), nil
}

// skipValue passes one value of any kind. It counts the values still to come
// instead of recursing, so that deep nesting cannot exhaust the stack.
func (d *decoder) skipValue() error {
	for pending := int64(1); pending > 0; pending-- {
		more, err := d.skipHead()
		if err != nil {
			return err
		}
		pending += more
	}
	return nil
}

// skipHead passes one scalar, or the head of a container, and returns the
// number of values that the container holds.
func (d *decoder) skipHead() (int64, error) {
	c, err := d.PeekCode()
	if err != nil {
		return 0, err
	}
	switch {
	case msgpcode.IsFixedArray(c), c == msgpcode.Array16, c == msgpcode.Array32:
		n, err := d.arrayLen()
		return int64(n), err
	case msgpcode.IsFixedMap(c), c == msgpcode.Map16, c == msgpcode.Map32:
		n, err := d.DecodeMapLen()
		if err != nil {
			return 0, err
		}
		n, err = d.length(n)
		return 2 * int64(n), err
	case msgpcode.IsString(c), msgpcode.IsBin(c):
		n, err := d.DecodeBytesLen()
		if err != nil {
			return 0, err
		}
		return 0, d.src.skip(int64(n))
	case msgpcode.IsExt(c):
		_, n, err := d.DecodeExtHeader()
		if err != nil {
			return 0, err
		}
		return 0, d.src.skip(int64(n))
	}
	return 0, d.src.skip(scalarSize(c))
}

// scalarSize is the encoded size of the number, bool or nil that starts with c.
func scalarSize(c byte) int64 {
	switch c {
	case msgpcode.Uint8, msgpcode.Int8:
		return 2
	case msgpcode.Uint16, msgpcode.Int16:
		return 3
	case msgpcode.Uint32, msgpcode.Int32, msgpcode.Float:
		return 5
	case msgpcode.Uint64, msgpcode.Int64, msgpcode.Double:
		return 9
	}
	return 1
}

// scalar decodes a value of whatever scalar kind comes, as attributes have it:
// string, uint64, int64 (if negative), float64 or bool. Anything else is
// passed over and nil.
func (d *decoder) scalar() (any, error) {
	c, err := d.PeekCode()
	if err != nil {
		return nil, err
	}
	switch {
	case msgpcode.IsString(c):
		return d.str()
	case c == msgpcode.True, c == msgpcode.False:
		return d.DecodeBool()
	case c == msgpcode.Float, c == msgpcode.Double:
		return d.DecodeFloat64()
	case msgpcode.IsFixedNum(c) && int8(c) >= 0, c >= msgpcode.Uint8 && c <= msgpcode.Uint64:
		return d.DecodeUint64()
	case msgpcode.IsFixedNum(c), c >= msgpcode.Int8 && c <= msgpcode.Int64:
		v, err := d.DecodeInt64()
		if v >= 0 {
			return uint64(v), err // the writer's integer type does not matter
		}
		return v, err
	}
	return nil, d.skipValue()
}

// value decodes a value of a field's type: see [Packet.Values].
func (d *decoder) value(typ string) (any, error) {
	if elem, ok := strings.CutPrefix(typ, "[]"); ok {
		return d.array(elem)
	}
	switch typ {
	case spec.Bool:
		return d.DecodeBool()
	case spec.U8, spec.U16, spec.U32, spec.U64:
		return d.unsigned(typ)
	case spec.I32, spec.I64:
		return d.signed(typ)
	case spec.F64:
		return d.DecodeFloat64()
	case spec.Str:
		return d.str()
	case spec.Packed:
		return d.blob()
	}
	return nil, fmt.Errorf("unknown field type %q", typ)
}

func (d *decoder) unsigned(typ string) (uint64, error) {
	v, err := d.DecodeUint64()
	if err != nil {
		return 0, err
	}
	if limit := unsignedMax(typ); v > limit {
		return 0, fmt.Errorf("%d is no %s", v, typ)
	}
	return v, nil
}

func unsignedMax(typ string) uint64 {
	switch typ {
	case spec.U8:
		return math.MaxUint8
	case spec.U16:
		return math.MaxUint16
	case spec.U32:
		return math.MaxUint32
	}
	return math.MaxUint64
}

func (d *decoder) signed(typ string) (int64, error) {
	v, err := d.DecodeInt64()
	if err != nil {
		return 0, err
	}
	if typ == spec.I32 && v != int64(int32(v)) {
		return 0, fmt.Errorf("%d is no %s", v, typ)
	}
	return v, nil
}

func (d *decoder) blob() (Blob, error) {
	n, err := d.DecodeBytesLen()
	if err != nil {
		return Blob{}, err
	}
	b := Blob{Off: d.src.offset(), Len: int64(max(n, 0))}
	return b, d.src.skip(b.Len)
}

func (d *decoder) array(elem string) (any, error) {
	n, err := d.arrayLen()
	if err != nil {
		return nil, err
	}
	switch elem {
	case spec.U8, spec.U16, spec.U32, spec.U64:
		return fill(n, func() (uint64, error) { return d.unsigned(elem) })
	case spec.I32, spec.I64:
		return fill(n, func() (int64, error) { return d.signed(elem) })
	case spec.F64:
		return fill(n, d.DecodeFloat64)
	case spec.Bool:
		return fill(n, d.DecodeBool)
	case spec.Str:
		return fill(n, d.str)
	}
	// Each nested array costs its slice and the interface around it.
	if d.budget -= 64 * int64(n); d.budget < 0 {
		return nil, fmt.Errorf("nested arrays too large")
	}
	return fill(n, func() (any, error) { return d.value(elem) })
}

func fill[T any](n int, next func() (T, error)) ([]T, error) {
	out := make([]T, n)
	for i := range out {
		v, err := next()
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}
