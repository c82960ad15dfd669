package sddf

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strings"
	"unsafe"

	"qinst.dev/sddf/spec"
)

// Bounds on the contents of a descriptor, far above any real one.
const (
	maxDims  = 8   // brackets in a field type
	maxWords = 255 // words of an entry of a packed block
)

// decoder decodes values. Every length is checked against the bytes that remain
// before anything is allocated, so that a few damaged bytes cannot ask for
// gigabytes.
type decoder struct {
	source
	bins []bin // of the packet at hand, if it has checksums
}

func wrong(k class, want string) error { return fmt.Errorf("found %v, expected %s", k, want) }

// expect reads the head of a value of a class and returns its value or length.
func (d *decoder) expect(want class) (uint64, error) {
	k, v, err := d.head()
	if err == nil && k != want {
		err = wrong(k, want.String())
	}
	return v, err
}

func (d *decoder) arrayLen() (int, error) {
	n, err := d.expect(classArray)
	return int(n), err
}

func (d *decoder) mapLen() (int, error) {
	n, err := d.expect(classMap)
	if 2*n > uint64(d.remaining()) && err == nil {
		err = io.ErrUnexpectedEOF
	}
	return int(n), err
}

func (d *decoder) str() (string, error) {
	n, err := d.expect(classStr)
	if n == 0 || err != nil {
		return "", err
	}
	b := make([]byte, n)
	if err := d.read(b); err != nil {
		return "", err
	}
	return unsafe.String(&b[0], len(b)), nil // b is not shared
}

func (d *decoder) bytes() ([]byte, error) {
	n, err := d.expect(classBytes)
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	return b, d.read(b)
}

// skipValue passes one value of any kind. It counts the values still to come
// instead of recursing, so that deep nesting cannot exhaust the stack.
func (d *decoder) skipValue() error {
	for pending := uint64(1); pending > 0; pending-- {
		k, v, err := d.head()
		if err != nil {
			return err
		}
		switch k {
		case classArray:
			pending += v
		case classMap:
			pending += 2 * v
		case classStr, classBytes, classExt:
			if err := d.skip(int64(v)); err != nil {
				return err
			}
		}
	}
	return nil
}

// skipElement passes one element of a packet. The content of a bin is not in the packet's checksum.
func (d *decoder) skipElement() error {
	if d.summing && d.need(1) == nil {
		if k, _, _, _ := form(d.buf[d.pos]); k == classBytes {
			_, err := d.blob()
			return err
		}
	}
	return d.skipValue()
}

// skipRest passes the last n elements of a packet.
func (d *decoder) skipRest(n int) error {
	for ; n > 0; n-- {
		if err := d.skipElement(); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) skipN(n int) error {
	for ; n > 0; n-- {
		if err := d.skipValue(); err != nil {
			return err
		}
	}
	return nil
}

// scalar decodes a value of whatever scalar kind comes, as attributes have it:
// string, uint64, int64 (if negative), float64 or bool. Anything else is
// passed over and nil.
func (d *decoder) scalar() (any, error) {
	at := d.here()
	k, v, err := d.head()
	if err != nil {
		return nil, err
	}
	switch k {
	case classNil:
		return nil, nil
	case classBool:
		return v != 0, nil
	case classUint:
		return v, nil
	case classInt:
		return int64(v), nil
	case classFloat32:
		return float64(math.Float32frombits(uint32(v))), nil
	case classFloat64:
		return math.Float64frombits(v), nil
	}
	d.back(at)
	if k == classStr {
		return d.str()
	}
	return nil, d.skipValue()
}

// attrs decodes a map of attributes.
func (d *decoder) attrs() (list []spec.Attr, err error) {
	n, err := d.mapLen()
	if err != nil {
		return nil, err
	}
	for range n {
		var a spec.Attr
		if a.Key, err = d.str(); err != nil {
			return nil, err
		}
		if a.Value, err = d.scalar(); err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// value decodes a value of a field's type: see [Packet.Values].
func (d *decoder) value(typ string) (any, error) {
	switch typ {
	case spec.Bool:
		return d.boolean()
	case spec.U8, spec.U16, spec.U32, spec.U64:
		return d.unsigned(typ)
	case spec.I8, spec.I16, spec.I32, spec.I64, spec.Time, spec.Duration:
		return d.signed(typ)
	case spec.F32, spec.F64:
		return d.float()
	case spec.Str:
		return d.str()
	case spec.Bytes:
		return d.content()
	case spec.Packed:
		return d.blob()
	}
	if elem, ok := strings.CutPrefix(typ, "[]"); ok {
		return d.array(elem)
	}
	return nil, fmt.Errorf("unknown field type %q", typ)
}

func (d *decoder) boolean() (bool, error) {
	v, err := d.expect(classBool)
	return v != 0, err
}

func (d *decoder) unsigned(typ string) (uint64, error) {
	v, err := d.expect(classUint)
	if err == nil && v > unsignedMax(typ) {
		err = fmt.Errorf("%d is no %s", v, typ)
	}
	return v, err
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
	k, v, err := d.head()
	switch {
	case err != nil:
		return 0, err
	case k != classUint && k != classInt:
		return 0, wrong(k, "integer")
	case k == classUint && v > math.MaxInt64:
		return 0, fmt.Errorf("%d is no %s", v, typ)
	}
	if i, most := int64(v), signedMax(typ); i > most || i < -most-1 {
		return 0, fmt.Errorf("%d is no %s", i, typ)
	}
	return int64(v), nil
}

func signedMax(typ string) int64 {
	switch typ {
	case spec.I8:
		return math.MaxInt8
	case spec.I16:
		return math.MaxInt16
	case spec.I32:
		return math.MaxInt32
	}
	return math.MaxInt64
}

func (d *decoder) float() (float64, error) {
	k, v, err := d.head()
	switch {
	case err != nil:
		return 0, err
	case k == classFloat32:
		return float64(math.Float32frombits(uint32(v))), nil
	case k == classFloat64:
		return math.Float64frombits(v), nil
	}
	return 0, wrong(k, "float")
}

// blob passes a bin among the elements of a packet.
func (d *decoder) blob() (Blob, error) {
	n, err := d.expect(classBytes)
	if err != nil {
		return Blob{}, err
	}
	b := Blob{Off: d.offset(), Len: int64(n)}
	if d.summing {
		d.bins = append(d.bins, bin{Blob: b, value: -1})
	}
	return b, d.leave(b.Len)
}

// content reads one.
func (d *decoder) content() ([]byte, error) {
	if !d.summing {
		return d.bytes()
	}
	n, err := d.expect(classBytes)
	if err != nil {
		return nil, err
	}
	d.fold()
	outside := d.sum
	d.sum = 0
	b := make([]byte, n)
	if err := d.read(b); err != nil {
		return nil, err
	}
	d.fold()
	d.bins = append(d.bins, bin{Blob: Blob{sum: d.sum}, seen: true, value: -1})
	d.sum = outside
	return b, nil
}

// present skips the next n values and comes back, to verify that they are all there. It returns
// how many bytes they are.
func (d *decoder) present(n int) (size int64, err error) {
	at, summing := d.here(), d.summing
	d.summing = false // the bytes come again
	err = d.skipN(n)
	size = d.offset() - at.off
	d.back(at)
	d.summing = summing
	return size, err
}

// array decodes the elements of an array, or of one of several dimensions.
func (d *decoder) array(elem string) (any, error) {
	if strings.HasPrefix(elem, "[]") {
		return d.dimensions(elem)
	}
	n, err := d.arrayLen()
	if err != nil {
		return nil, err
	}
	if _, err := d.present(n); err != nil {
		return nil, err
	}
	switch elem {
	case spec.U8, spec.U16, spec.U32, spec.U64:
		return fill(n, func() (uint64, error) { return d.unsigned(elem) })
	case spec.I8, spec.I16, spec.I32, spec.I64, spec.Time, spec.Duration:
		return fill(n, func() (int64, error) { return d.signed(elem) })
	case spec.F32, spec.F64:
		return fill(n, d.float)
	case spec.Bool:
		return fill(n, d.boolean)
	case spec.Str:
		return fill(n, d.str)
	case spec.Bytes:
		return fill(n, d.bytes)
	}
	return nil, fmt.Errorf("unknown field type %q", elem)
}

// dimensions decodes [[extent ...], [cell ...]].
func (d *decoder) dimensions(elem string) (any, error) {
	cell := strings.TrimLeft(elem, "[]")
	dims := 1 + (len(elem)-len(cell))/2
	if extra, err := d.tuple("array", 2); err != nil || extra != 0 {
		return nil, cmp.Or(err, errors.New("array of more than extents and cells"))
	}
	n, err := d.arrayLen()
	if err != nil {
		return nil, err
	}
	if n != dims {
		return nil, fmt.Errorf("%d extents, expected %d", n, dims)
	}
	var a Array
	cells := uint64(1)
	for range n {
		extent, err := d.unsigned(spec.U32)
		if err != nil {
			return nil, err
		}
		a.Dims = append(a.Dims, int(extent))
		if hi, lo := bits.Mul64(cells, extent); hi != 0 {
			return nil, errors.New("array too large")
		} else {
			cells = lo
		}
	}
	at := d.here()
	if n, err = d.arrayLen(); err != nil {
		return nil, err
	}
	if uint64(n) != cells {
		return nil, fmt.Errorf("%d cells, expected %d", n, cells)
	}
	d.back(at)
	if a.Cells, err = d.array(cell); err != nil {
		return nil, err
	}
	return a, nil
}

// DecodeValues is the inverse of [AppendValues]: it decodes data into one value for each field,
// in the types of [Packet.Values]. The offset of a [Blob] is the one in data. Bytes after the
// last value are an error, because they show that other fields were encoded.
func DecodeValues(data []byte, fields []spec.Field) ([]any, error) {
	var d decoder
	d.r, d.size = bytes.NewReader(data), int64(len(data))
	values := make([]any, len(fields))
	for i, f := range fields {
		var err error
		if values[i], err = d.value(f.Type); err != nil {
			return nil, fmt.Errorf("sddf: field %q: %w", f.Name, noEOF(err))
		}
	}
	if n := d.remaining(); n > 0 {
		return nil, fmt.Errorf("sddf: found %d bytes behind the last of %d values, expected none", n, len(fields))
	}
	return values, nil
}

func fill[T any](n int, next func() (T, error)) ([]T, error) {
	if n == 0 {
		return nil, nil
	}
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
