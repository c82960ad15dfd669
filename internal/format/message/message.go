// Package message decodes what programs encode themselves: fields of bytes whose unit says that
// they are a msgpack value, as package qinst.dev/sddf/msgpack writes them. Their types are nowhere
// in the file, so that the values are those that the encoding has: nil, bool, int64, uint64,
// float64, string, []byte, time.Time, [List] and [Map].
package message

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// List is an array.
type List []any

// Map is a map, in the order of the file: that of a struct's fields.
type Map []Pair

// Pair is a key of a map with its value.
type Pair struct{ Key, Value any }

// maxDepth bounds how deep values are nested, because a file may nest as deep as it is long.
const maxDepth = 64

// Of replaces the packet's values that are messages by their decoded form. A value that cannot be
// decoded stays as bytes.
func Of(p *sddf.Packet) []any {
	if p.Record == nil {
		return p.Values
	}
	values := p.Values
	for i, f := range p.Record.Fields {
		b, ok := p.Values[i].([]byte)
		if !ok || f.Unit != spec.Msgpack {
			continue
		}
		if v, err := Decode(b); err == nil {
			if &values[0] == &p.Values[0] {
				values = append([]any(nil), p.Values...)
			}
			values[i] = v
		}
	}
	return values
}

// Decode decodes one value, which must be all there is.
func Decode(b []byte) (any, error) {
	r := bytes.NewReader(b)
	d := decoder{msgpack.NewDecoder(r), r}
	v, err := d.value(0)
	if err == nil && r.Len() > 0 {
		err = fmt.Errorf("found %d bytes behind the value", r.Len())
	}
	return v, err
}

// decoder takes arrays and maps apart itself, because the library's own way makes room for as many
// elements as a damaged length says, and nests without a bound.
type decoder struct {
	*msgpack.Decoder
	rest *bytes.Reader
}

func (d *decoder) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("nested too deep")
	}
	code, err := d.PeekCode()
	switch {
	case err != nil:
		return nil, err
	case msgpcode.IsFixedArray(code) || code == msgpcode.Array16 || code == msgpcode.Array32:
		n, err := d.DecodeArrayLen()
		if err != nil || n > d.rest.Len() {
			return nil, errors.Join(err, errors.New("an array longer than its bytes"))
		}
		list := make(List, n)
		for i := range list {
			if list[i], err = d.value(depth + 1); err != nil {
				return nil, err
			}
		}
		return list, nil
	case msgpcode.IsFixedMap(code) || code == msgpcode.Map16 || code == msgpcode.Map32:
		n, err := d.DecodeMapLen()
		if err != nil || n > d.rest.Len()/2 {
			return nil, errors.Join(err, errors.New("a map longer than its bytes"))
		}
		m := make(Map, n)
		for i := range m {
			if m[i].Key, err = d.value(depth + 1); err != nil {
				return nil, err
			}
			if m[i].Value, err = d.value(depth + 1); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	v, err := d.DecodeInterface()
	switch x := reflect.ValueOf(v); x.Kind() { // the encoding's widths say nothing
	case reflect.Int8, reflect.Int16, reflect.Int32:
		v = x.Int()
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		v = x.Uint()
	case reflect.Float32:
		v = x.Float()
	}
	return v, err
}

// String is the value as JSON, which reads like a literal of Go's.
func (l List) String() string { return text(l) }

// String is the value as JSON.
func (m Map) String() string { return text(m) }

func text(v json.Marshaler) string {
	b, err := v.MarshalJSON()
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(b)
}

// MarshalJSON implements json.Marshaler.
func (l List) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, v := range l {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := write(&b, v); err != nil {
			return nil, err
		}
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// MarshalJSON implements json.Marshaler. Keys that are no strings become such.
func (m Map) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, p := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		key, ok := p.Key.(string)
		if !ok {
			key = fmt.Sprint(p.Key)
		}
		if err := write(&b, key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := write(&b, p.Value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// write writes JSON; what that cannot say becomes a string. Bytes are hexadecimal, as in other
// fields.
func write(b *bytes.Buffer, v any) error {
	switch x := v.(type) {
	case []byte:
		v = fmt.Sprintf("%x", x)
	case float64:
		if math.IsInf(x, 0) || math.IsNaN(x) {
			v = strings.TrimPrefix(fmt.Sprint(x), "+")
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	b.Write(text)
	return nil
}
