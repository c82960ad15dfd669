package pablo_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"qinst.dev/internal/format/pablo"
	"qinst.dev/internal/format/text"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// sample is a file as the tools of the time wrote it.
const sample = `SDDFA
/*
 * "run date" "Tue Jul 08 1997"
 * "nodes" "4"
 */ ;;

#4:
// "description" "what ran"
"executable information" {
	// "Time" "Time of the record"
	double	"time stamp";
	int	"nodes"[];
	char	"path"[][];
	float	"ratio";
	int	"matrix"[][][];
};;

"executable information" { 0.125, [5] { 0,1, 2,3,9999 }, [2][4] { "./a\000", "./bc" }, -1.5e-3, [1][2][2] { 1, 2, 3, 4 } };;
"executable information" { 1e+300, [0] { }, [0][0] { }, 0, [0][1][1] {} };;

%7: ;;
`

func convert(t interface{ Fatal(...any) }, in []byte, binary, big bool) []byte {
	var out bytes.Buffer
	if err := pablo.Write(&out, bytes.NewReader(in), int64(len(in)), binary, big); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func back(t interface{ Fatal(...any) }, in []byte) []byte {
	var out bytes.Buffer
	if err := pablo.Read(&out, bytes.NewReader(in)); err != nil {
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

// A file of the time is read, and comes back the same in all forms.
func TestSample(t *testing.T) {
	t.Parallel()
	now := back(t, []byte(sample))
	want := `header format=SDDF version=4 producer=pablo
attribute "run date" value="Tue Jul 08 1997"
attribute nodes value=4
descriptor "executable information" tag=4 doc="" description="what ran"
field "executable information" name="time stamp" type=f64 unit="" doc="" Time="Time of the record"
field "executable information" name=nodes type="[]i32" unit="" doc=""
field "executable information" name=path type="[]str" unit="" doc=""
field "executable information" name=ratio type=f32 unit="" doc=""
field "executable information" name=matrix type="[][][]i32" unit="" doc=""
data "executable information" "time stamp"=0.125 nodes=[0 1 2 3 9999] path=[./a ./bc] ratio=-0.0015 matrix=1x2x2[1 2 3 4]
data "executable information" "time stamp"=1e+300 nodes=[] path=[] ratio=0.0 matrix=0x1x1[]
command 7
`
	got := strings.Replace(dump(t, now), "-0.001500000013038516", "-0.0015", 1)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, form := range []struct{ binary, big bool }{{false, false}, {true, false}, {true, true}} {
		old := convert(t, now, form.binary, form.big)
		if again := back(t, old); dump(t, again) != dump(t, now) {
			t.Errorf("%+v: got\n%s", form, dump(t, again))
		}
	}
}

// The header of the binary form, and a descriptor in it, are as documented.
func TestBinaryForm(t *testing.T) {
	t.Parallel()
	now := back(t, []byte("#1:\n\"x\" {\n\tint \"n\";\n};;\n\"x\" { 258 };;\n"))
	old := convert(t, now, true, true)
	want := "SDDFB\x13\x00\x00\x00\x00\x00\x00\x01\x02\x04\x04\x04\x08\x10" +
		"\x00\x00\x00\x2a\x00\x00\x00\x01\x00\x00\x00\x00" + "\x00\x00\x00\x01" + "\x00\x00\x00\x0dSDDF producer" +
		"\x00\x00\x00\x05pablo" +
		"\x00\x00\x00\x3e\x00\x00\x00\x02\x00\x00\x00\x01" + "\x00\x00\x00\x01x" + "\x00\x00\x00\x00" +
		"\x00\x00\x00\x01" + "\x00\x00\x00\x01n" +
		"\x00\x00\x00\x01" + "\x00\x00\x00\x09SDDF type" + "\x00\x00\x00\x03i32" + "\x00\x00\x00\x01" +
		"\x00\x00\x00\x00" +
		"\x00\x00\x00\x10\x00\x00\x00\x03\x00\x00\x00\x01" + "\x00\x00\x01\x02"
	if string(old) != want {
		t.Errorf("got\n%q\nwant\n%q", old, want)
	}
}

var record = spec.Record{Tag: 300, Name: "every type", Doc: "a doc",
	Attrs: []spec.Attr{{Key: "like a number", Value: "5"}, {Key: "number", Value: uint64(5)}}, Fields: []spec.Field{
		{Name: "b", Type: spec.Bool}, {Name: "u8", Type: spec.U8}, {Name: "u32", Type: spec.U32, Unit: "bytes"},
		{Name: "u64", Type: spec.U64}, {Name: "i16", Type: spec.I16},
		{Name: "i64", Type: spec.I64}, {Name: "f", Type: spec.F64}, {Name: "s", Type: spec.Str},
		{Name: "raw", Type: spec.Bytes}, {Name: "at", Type: spec.Time},
		{Name: "list", Type: "[]u64"}, {Name: "strs", Type: "[]str"}, {Name: "grid", Type: "[][]i64"},
		{Name: "bools", Type: "[]bool"}, {Name: "cube", Type: "[][][]f32"}}}

// What goes through Pablo's forms comes back with its types and values.
func TestBothWays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		w := sddf.NewWriter(&out, "a producer", []spec.Record{record})
		w.Attribute("text", rapid.String().Draw(t, "text"))
		noNUL := rapid.Map(rapid.String(), func(s string) string { return strings.TrimRight(s, "\x00") })
		grid := make([]int64, 2*rapid.IntRange(0, 3).Draw(t, "rows"))
		for i := range grid {
			grid[i] = rapid.Int64().Draw(t, "cell")
		}
		w.Data(300, rapid.Bool().Draw(t, "b"), rapid.Uint8().Draw(t, "u8"), rapid.Uint32().Draw(t, "u32"),
			rapid.Uint64().Draw(t, "u64"), rapid.Int16().Draw(t, "i16"),
			rapid.Int64().Draw(t, "i64"), rapid.Float64().Draw(t, "f"), rapid.String().Draw(t, "s"),
			rapid.SliceOf(rapid.Byte()).Draw(t, "raw"), time.Unix(0, rapid.Int64().Draw(t, "at")),
			rapid.SliceOf(rapid.Uint64()).Draw(t, "list"), rapid.SliceOf(noNUL).Draw(t, "strs"),
			sddf.Array{Dims: []int{len(grid) / 2, 2}, Cells: grid},
			rapid.SliceOf(rapid.Bool()).Draw(t, "bools"),
			sddf.Array{Dims: []int{1, 1, 2}, Cells: []float32{rapid.Float32().Draw(t, "f32"), 1.5}})
		w.Command("stop", spec.Attr{Key: "a key", Value: rapid.String().Draw(t, "arg")},
			spec.Attr{Key: "n", Value: int64(-1)})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for _, form := range []struct{ binary, big bool }{{false, false}, {true, false}, {true, true}} {
			old := convert(t, out.Bytes(), form.binary, form.big)
			if a, b := dump(t, out.Bytes()), dump(t, back(t, old)); a != b {
				t.Fatalf("%+v: was\n%s\nis\n%s\nas\n%s", form, a, b, old)
			}
		}
	})
}

// Segments and streams have their headers, and each its descriptors.
func TestHeaders(t *testing.T) {
	t.Parallel()
	rec := spec.Record{Tag: 1, Name: "block", Fields: []spec.Field{{Name: "e", Type: spec.Packed}},
		Layout: &spec.Layout{Variants: []spec.Variant{{Kind: -1, Name: "v", Words: 1}}}}
	file := sddf.AppendHeader(nil, "p", spec.Attr{Key: spec.AttrStream, Value: uint64(9)})
	for i := range uint64(3) {
		if i > 0 {
			file = sddf.AppendHeader(file, "p", spec.Attr{Key: spec.AttrStream, Value: uint64(9)},
				spec.Attr{Key: spec.AttrSegment, Value: i})
		}
		file = sddf.AppendDescriptor(file, &rec)
		file, _ = sddf.AppendRecord(file, &rec, make([]byte, 8*i))
	}
	again := back(t, convert(t, file, false, false))
	if a, b := dump(t, file), dump(t, again); a != b {
		t.Errorf("was\n%s\nis\n%s", a, b)
	}
}

// What has no form there is refused by name; entries become packets.
func TestTowardsPablo(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := sddf.NewWriter(&out, "p", []spec.Record{{Tag: 1, Name: "r",
		Fields: []spec.Field{{Name: "blobs", Type: "[]bytes"}}}})
	w.Close()
	err := pablo.Write(new(bytes.Buffer), bytes.NewReader(out.Bytes()), int64(out.Len()), false, false)
	if err == nil || !strings.Contains(err.Error(), `record "r": field "blobs": []bytes has no form`) {
		t.Errorf("%v", err)
	}
	out.Reset()
	w = sddf.NewWriter(&out, "p", spec.Records)
	block := []byte{7, 0, 0, 1, 16, 0, 0, 0, 7, 0, 0, 2, 32, 0, 0, 0}
	w.Data(spec.TagEvents, 1, 2, 0, uint64(1<<40), 5, 0, block)
	w.Close()
	s := string(convert(t, out.Bytes(), false, false))
	for _, want := range []string{`"events" { 0, 1, 0, 2,`, `"events: enter" { [2] { 256, 16 }, [2] { 0, 7 } };;`,
		`"events: exit" { [2] { 256, 48 }, [2] { 0, 7 } };;`} {
		if !strings.Contains(s, want) && !strings.Contains(strings.ReplaceAll(s,
			"[2] { 0, 1 }, [2] { 0, 2 }, [2] { 0, 0 }", "0, 1, 0, 2, 0, 0"), want) {
			t.Errorf("no %s in\n%s", want, s[strings.Index(s, `"events" {`):])
		}
	}
}

func TestRejects(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"PK\x03\x04":                   "not a file of Pablo's",
		"SDDFA\n\"x\" { 1 };;":         `line 2: no descriptor of "x"`,
		"#1:\n\"x\" { long \"n\"; };;": `found the type "long"`,
		"#1:\n\"x\" { int \"n\"; };; \"x\" { 99999999999 };;": "expected an int",
		"#1:\n\"x\" { int \"n\"[]; };; \"x\" { [3] { 1 } };;": "1 cells, expected 3",
		"#1:\n\"x\" {": "end of the file",
		"SDDFB\x13":    "a header of less than",
	} {
		err := pablo.Read(new(bytes.Buffer), strings.NewReader(in))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", in, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(sample))
	f.Add(convert(f, back(f, []byte(sample)), true, true))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		if pablo.Read(&out, bytes.NewReader(in)) != nil {
			return
		}
		var again strings.Builder
		if err := text.Dump(&again, bytes.NewReader(out.Bytes()), int64(out.Len())); err != nil {
			t.Fatalf("%v", err)
		}
	})
}
