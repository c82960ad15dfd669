package text_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"qinst.dev/internal/format/text"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

var small = spec.Record{Tag: 11, Name: "small", Fields: []spec.Field{{Name: "n", Type: spec.I64}}}

// rich is a file with everything that the format has.
func rich(t interface{ Fatal(...any) }, f func(w *sddf.Writer)) []byte {
	var out bytes.Buffer
	w := sddf.NewWriter(&out, "a producer", []spec.Record{
		{Tag: 9, Name: "every type", Doc: `a "doc"`,
			Attrs: []spec.Attr{{Key: "family", Value: "x=1"}, {Key: "level", Value: uint64(3)}}, Fields: []spec.Field{
				{Name: "b", Type: spec.Bool}, {Name: "u", Type: spec.U64, Unit: "bytes",
					Attrs: []spec.Attr{{Key: "min", Value: int64(-1)}, {Key: "text", Value: "12"}}},
				{Name: "i", Type: spec.I64}, {Name: "f", Type: spec.F64}, {Name: "s", Type: spec.Str},
				{Name: "raw", Type: spec.Bytes},
				{Name: "at", Type: spec.Time}, {Name: "took", Type: spec.Duration}, {Name: "list", Type: "[]str"},
				{Name: "grid", Type: "[][]i16"},
				{Name: "raws", Type: "[]bytes"}, {Name: "bools", Type: "[]bool"}}},
		{Tag: 10, Name: "block", Fields: []spec.Field{{Name: "t", Type: spec.U64}, {Name: "e", Type: spec.Packed}},
			Layout: &spec.Layout{Delta: "t", Variants: []spec.Variant{
				{Kind: 1, Name: "numbers", Words: 2, Fields: []spec.BitField{{Name: "n", Bit: 0, Width: 24,
					Type: spec.Signed}, {Name: "x", Word: 1, Width: 64, Type: spec.Float}}},
				{Kind: 2, Name: "time", Words: 2, Fields: []spec.BitField{{Name: "t", Word: 1, Width: 64}}},
				{Kind: 3, Name: "carries", Words: 1, Fields: []spec.BitField{{Name: "size", Width: 24}}, Tail: "size"}}}},
		small,
	})
	w.Attribute("a key", "a value")
	w.Attribute("number", -5)
	w.Attribute("like a number", "5")
	w.Command("stop", spec.Attr{Key: "now", Value: true}, spec.Attr{Key: "nothing"})
	f(w)
	w.Segment()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func dump(t interface{ Fatal(...any) }, data []byte) string {
	var out strings.Builder
	if err := text.Dump(&out, bytes.NewReader(data), int64(len(data))); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A file's text is a file again, with the same text.
func TestBothWays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		data := rich(t, func(w *sddf.Writer) {
			s := rapid.String()
			grid := sddf.Array{Dims: []int{2, rapid.IntRange(0, 2).Draw(t, "columns")}}
			grid.Cells = make([]int16, 2*grid.Dims[1])
			f := rapid.Float64().Draw(t, "f")
			w.Data(9, rapid.Bool().Draw(t, "b"), rapid.Uint64().Draw(t, "u"), rapid.Int64().Draw(t, "i"), f,
				s.Draw(t, "s"),
				rapid.SliceOf(rapid.Byte()).Draw(t, "raw"), time.Unix(0, rapid.Int64().Draw(t, "at")),
				time.Duration(rapid.Int64().Draw(t, "took")),
				rapid.SliceOf(s).Draw(t, "list"), grid, rapid.SliceOf(rapid.SliceOf(rapid.Byte())).Draw(t, "raws"),
				rapid.SliceOf(rapid.Bool()).Draw(t, "bools"))
			w.Attribute(s.Draw(t, "key"), s.Draw(t, "attribute"))
			w.Data(10, uint64(1000), block(f, rapid.IntRange(-1<<23, 1<<23-1).Draw(t, "n")))
		})
		before := dump(t, data)
		var again bytes.Buffer
		if err := text.Parse(&again, strings.NewReader(before)); err != nil {
			t.Fatalf("%v\n%s", err, before)
		}
		if !bytes.Equal(again.Bytes(), data) {
			t.Fatalf("the file differs; its text was\n%s\nand is\n%s", before, dump(t, again.Bytes()))
		}
	})
}

// block has an entry of each kind; the last carries a packet.
func block(x float64, n int) (b []byte) {
	packet, _ := sddf.AppendInner(nil, &small, n)
	for _, w := range []uint64{7<<32 | 1<<24 | uint64(n)&0xffffff, math.Float64bits(x), 2 << 24, 1 << 40,
		3<<24 | uint64(len(packet))} {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	b = append(b, packet...)
	return append(b, make([]byte, -len(b)&7)...)
}

func TestFloats(t *testing.T) {
	t.Parallel()
	data := rich(t, func(w *sddf.Writer) {
		for _, f := range []float64{0, math.Copysign(0, -1), 1, 1e300, math.Inf(1), math.Inf(-1), math.NaN()} {
			w.Attribute("f", f)
		}
	})
	var again bytes.Buffer
	if err := text.Parse(&again, strings.NewReader(dump(t, data))); err != nil {
		t.Fatal(err)
	}
	if a, b := dump(t, data), dump(t, again.Bytes()); a != b {
		t.Errorf("was\n%s\nis\n%s", a, b)
	}
}

// What is not a text of a file is an error with its line.
func TestParseRejects(t *testing.T) {
	t.Parallel()
	head := "header format=SDDF version=4 producer=x\n"
	desc := head + "descriptor r tag=1 doc=\"\"\nfield r name=n type=u8 unit=\"\" doc=\"\"\n"
	for in, want := range map[string]string{
		"":                              "no header line",
		"data x\n":                      "line 1: found \"data\", expected a header line first",
		head + "data x n=1\n":           "line 2: no descriptor of \"x\"",
		desc + "data r n=256\n":         "256 is no u8",
		desc + "data r m=1\n":           "found \"m\", expected the field \"n\"",
		desc + "data r n=1 n=2\n":       "2 values, expected the 1",
		desc + "entry r t=1\n":          "entry of \"r\" outside",
		head + "field r name=n\n":       "outside of its descriptor",
		head + "nonsense\n":             "expected header, attribute",
		head + "attribute x value=\"\n": "string in quotes",
		head + "descriptor r tag=1 doc=\"\"\nattribute a value=1\n": "has no field",
	} {
		err := text.Parse(new(bytes.Buffer), strings.NewReader(in))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", in, err, want)
		}
	}
}

// Damage is told, and what follows in the next segment is there.
func TestDumpDamage(t *testing.T) {
	t.Parallel()
	data := rich(t, func(w *sddf.Writer) { w.Attribute("before", 1) })
	at := bytes.Index(data, []byte("before")) - 3
	data[at] = 0xc1
	var out strings.Builder
	err := text.Dump(&out, bytes.NewReader(data), int64(len(data)))
	var damage *sddf.DamageError
	if !errors.As(err, &damage) || damage.Off != int64(at) || damage.End <= damage.Off ||
		damage.End == int64(len(data)) {
		t.Fatalf("%v", err)
	}
	if s := out.String(); !strings.Contains(s, "damage error=") || strings.Count(s, "header ") != 2 {
		t.Errorf("%s", s)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(dump(f, rich(f, func(w *sddf.Writer) { w.Data(10, uint64(1), block(1, -1)) })))
	f.Fuzz(func(t *testing.T, in string) {
		var out bytes.Buffer
		if text.Parse(&out, strings.NewReader(in)) != nil {
			return
		}
		// What it writes can be read.
		var again strings.Builder
		if err := text.Dump(&again, bytes.NewReader(out.Bytes()), int64(out.Len())); err != nil &&
			!strings.Contains(err.Error(), "redefined") {
			t.Fatalf("%v", err)
		}
	})
}
