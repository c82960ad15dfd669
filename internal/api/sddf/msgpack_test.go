package sddf_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
	"pgregory.net/rapid"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// The encoding is msgpack, in its shortest forms: a library writes the same bytes
// and reads ours.
func TestMsgpack(t *testing.T) {
	t.Parallel()
	sizes := []int{0, 1, 15, 16, 31, 32, 255, 256, 65535, 65536}
	rapid.Check(t, func(t *rapid.T) {
		u, i := rapid.Uint64().Draw(t, "u")>>rapid.IntRange(0, 63).Draw(t, "shift"),
			rapid.Int64().Draw(t, "i")>>rapid.IntRange(0, 63).Draw(t, "shift")
		f, f32, b := rapid.Float64().Draw(t, "f"), rapid.Float32().Draw(t, "f32"), rapid.Bool().Draw(t, "b")
		n := rapid.SampledFrom(sizes).Draw(t, "n")
		s, raw, list := string(bytes.Repeat([]byte{'x'}, n)), make([]byte, n), make([]uint64, n)
		fields := []spec.Field{{Name: "u", Type: spec.U64}, {Name: "i", Type: spec.I64}, {Name: "f", Type: spec.F64},
			{Name: "f32", Type: spec.F32},
			{Name: "b", Type: spec.Bool}, {Name: "s", Type: spec.Str}, {Name: "raw", Type: spec.Bytes},
			{Name: "list", Type: "[]u64"}}
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

// What DecodeValues returns encodes to the same bytes. A byte less or more is an error.
func TestDecodeValues(t *testing.T) {
	t.Parallel()
	types := []string{spec.U8, spec.U64, spec.I32, spec.Time, spec.F64, spec.Bool, spec.Str, spec.Bytes, "[]str",
		"[]u32", "[][]i64"}
	rapid.Check(t, func(t *rapid.T) {
		var fields []spec.Field
		var values []any
		for range rapid.IntRange(0, 20).Draw(t, "fields") {
			typ := rapid.SampledFrom(types).Draw(t, "type")
			n := rapid.IntRange(0, 40).Draw(t, "n")
			fields = append(fields, spec.Field{Name: "x", Type: typ})
			values = append(values, map[string]any{
				spec.U8: uint8(n), spec.U64: uint64(1) << n, spec.I32: int32(-n), spec.Time: int64(n) << 40,
				spec.F64: float64(n) / 8, spec.Bool: n > 9,
				spec.Str: string(make([]byte, n)), spec.Bytes: make([]byte, n),
				"[]str": slices.Repeat([]string{"s"}, n), "[]u32": make([]uint32, n),
				"[][]i64": sddf.Array{Dims: []int{2, n}, Cells: make([]int64, 2*n)},
			}[typ])
		}
		data, err := sddf.AppendValues(nil, fields, values...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := sddf.DecodeValues(data, fields)
		if err != nil {
			t.Fatal(err)
		}
		again, err := sddf.AppendValues(nil, fields, got...)
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%v, decoded to %v, which is % .60x, expected % .60x", err, got, again, data)
		}
		if _, err := sddf.DecodeValues(append(data, 0), fields); err == nil {
			t.Fatal("a byte more was taken")
		}
		if len(data) > 0 {
			if _, err := sddf.DecodeValues(data[:len(data)-1], fields); err == nil {
				t.Fatal("a byte less was taken")
			}
		}
	})
}

// Values that no field of the type can hold are refused.
func TestRanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ string
		v   any
		ok  bool
	}{
		{spec.U8, 255, true}, {spec.U8, 256, false}, {spec.U8, -1, false}, {spec.I8, -128, true}, {spec.I8, 128, false},
		{spec.I8, uint64(127), true},
		{spec.I64, uint64(math.MaxUint64), false}, {spec.U64, uint64(math.MaxUint64), true}, {spec.F32, 1.5, true},
		{spec.F64, 1, false},
		{spec.Str, []byte("x"), false}, {spec.Bytes, "x", false}, {"[]u8", []int{1, 2}, true},
		{"[]u8", []int{1, 256}, false},
		{"[][]u8", sddf.Array{Dims: []int{1, 2}, Cells: []int{1, 2}}, true},
		{"[][]u8", sddf.Array{Dims: []int{2}, Cells: []int{1, 2}}, false},
	} {
		_, err := sddf.AppendValues(nil, []spec.Field{{Name: "x", Type: c.typ}}, c.v)
		if (err == nil) != c.ok {
			t.Errorf("%s %v: %v", c.typ, c.v, err)
		}
	}
}
