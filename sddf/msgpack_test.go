package sddf_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
	"pgregory.net/rapid"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// The encoding is msgpack, in its shortest forms: a library writes the same bytes
// and reads ours.
func TestMsgpack(t *testing.T) {
	sizes := []int{0, 1, 15, 16, 31, 32, 255, 256, 65535, 65536}
	rapid.Check(t, func(t *rapid.T) {
		u, i := rapid.Uint64().Draw(t, "u")>>rapid.IntRange(0, 63).Draw(t, "shift"), rapid.Int64().Draw(t, "i")>>rapid.IntRange(0, 63).Draw(t, "shift")
		f, f32, b := rapid.Float64().Draw(t, "f"), rapid.Float32().Draw(t, "f32"), rapid.Bool().Draw(t, "b")
		n := rapid.SampledFrom(sizes).Draw(t, "n")
		s, raw, list := string(bytes.Repeat([]byte{'x'}, n)), make([]byte, n), make([]uint64, n)
		fields := []spec.Field{{Name: "u", Type: spec.U64}, {Name: "i", Type: spec.I64}, {Name: "f", Type: spec.F64}, {Name: "f32", Type: spec.F32},
			{Name: "b", Type: spec.Bool}, {Name: "s", Type: spec.Str}, {Name: "raw", Type: spec.Bytes}, {Name: "list", Type: "[]u64"}}
		got, err := sddf.AppendValues(nil, fields, u, i, f, f32, b, s, raw, list)
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		e := msgpack.NewEncoder(&want)
		e.EncodeUint(u)
		e.EncodeInt(i)
		e.EncodeFloat64(f)
		e.EncodeFloat32(f32)
		e.EncodeBool(b)
		e.EncodeString(s)
		e.EncodeBytes(raw)
		e.EncodeArrayLen(n)
		for range list {
			e.EncodeUint(0)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("got % .60x, want % .60x", got, want.Bytes())
		}
	})
}

// Values that no field of the type can hold are refused.
func TestRanges(t *testing.T) {
	for _, c := range []struct {
		typ string
		v   any
		ok  bool
	}{
		{spec.U8, 255, true}, {spec.U8, 256, false}, {spec.U8, -1, false}, {spec.I8, -128, true}, {spec.I8, 128, false}, {spec.I8, uint64(127), true},
		{spec.I64, uint64(math.MaxUint64), false}, {spec.U64, uint64(math.MaxUint64), true}, {spec.F32, 1.5, true}, {spec.F64, 1, false},
		{spec.Str, []byte("x"), false}, {spec.Bytes, "x", false}, {"[]u8", []int{1, 2}, true}, {"[]u8", []int{1, 256}, false},
		{"[][]u8", sddf.Array{Dims: []int{1, 2}, Cells: []int{1, 2}}, true}, {"[][]u8", sddf.Array{Dims: []int{2}, Cells: []int{1, 2}}, false},
	} {
		_, err := sddf.AppendValues(nil, []spec.Field{{Name: "x", Type: c.typ}}, c.v)
		if (err == nil) != c.ok {
			t.Errorf("%s %v: %v", c.typ, c.v, err)
		}
	}
}
