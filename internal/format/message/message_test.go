package message_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"qinst.dev/internal/format/message"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

func encoded(t testing.TB, v any) []byte {
	t.Helper()
	b, err := msgpack.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDecode(t *testing.T) {
	t.Parallel()
	type inner struct {
		Z int
		A []byte
	}
	for _, c := range []struct {
		value any
		want  string
	}{
		{nil, "<nil>"},
		{uint64(math.MaxUint64), "18446744073709551615"},
		{-7, "-7"},
		{"a text", "a text"},
		{[]string{"x", "y"}, `["x","y"]`},
		{inner{3, []byte{1, 255}}, `{"Z":3,"A":"01ff"}`},
		{map[int]any{5: []any{true, nil, 2.5, math.Inf(1)}}, `{"5":[true,null,2.5,"Inf"]}`},
		{[]time.Time{time.Unix(1, 2).UTC()}, `["1970-01-01T00:00:01.000000002Z"]`},
	} {
		got, err := message.Decode(encoded(t, c.value))
		if s := fmt.Sprint(got); err != nil || s != c.want {
			t.Errorf("%v: found %s, %v, expected %s", c.value, s, err, c.want)
		}
	}
}

// A value that is no message, or no whole one, is an error: a length does not make room for more
// than there are bytes, nor a nested value a deep stack.
func TestDamaged(t *testing.T) {
	t.Parallel()
	whole := encoded(t, map[string]any{"k": []int{1, 2, 3}})
	for n := range whole {
		if v, err := message.Decode(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes: found %v, expected an error", n, len(whole), v)
		}
	}
	for name, b := range map[string][]byte{
		"a long array":    {0xdd, 0xff, 0xff, 0xff, 0xff},
		"a long map":      {0xdf, 0xff, 0xff, 0xff, 0xff},
		"long bytes":      {0xc6, 0xff, 0xff, 0xff, 0xff},
		"deep arrays":     bytes.Repeat([]byte{0x91}, 1<<20),
		"unknown type":    {0xd4, 9, 1},
		"never used code": {0xc1},
		"two values":      {1, 2},
	} {
		if v, err := message.Decode(b); err == nil {
			t.Errorf("%s: found %v, expected an error", name, v)
		}
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	fields := []spec.Field{{Name: "a", Type: spec.Bytes, Unit: spec.Msgpack}, {Name: "b", Type: spec.Bytes},
		{Name: "c", Type: spec.Bytes, Unit: spec.Msgpack}}
	p := &sddf.Packet{Record: &spec.Record{Fields: fields},
		Values: []any{encoded(t, []int{1}), encoded(t, 2), []byte{0xc1}}}
	if got := fmt.Sprint(message.Of(p)...); got != "[1] [2] [193]" {
		t.Errorf("found %s, expected what the first says, and the bytes of the others", got)
	}
	if _, ok := p.Values[0].([]byte); !ok {
		t.Error("the packet's own values have changed")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encoded(f, map[string]any{"k": []any{1, "x", time.Unix(1, 0), []byte{1}}}))
	f.Fuzz(func(_ *testing.T, b []byte) {
		if v, err := message.Decode(b); err == nil {
			_ = fmt.Sprint(v)
		}
	})
}
