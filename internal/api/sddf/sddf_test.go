package sddf_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"
	"pgregory.net/rapid"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// read returns all packets of a file, and the error that ended it, nil for a
// whole file.
func read(t testing.TB, data []byte) ([]*sddf.Packet, error) {
	t.Helper()
	r, err := sddf.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	var ps []*sddf.Packet
	for {
		p, err := r.Next()
		if err == io.EOF {
			return ps, nil
		}
		if err != nil {
			return ps, err
		}
		kept := *p // the reader uses it again
		kept.Values = append([]any(nil), p.Values...)
		ps = append(ps, &kept)
	}
}

// Descriptors survive the way through a file.
func TestDescriptors(t *testing.T) {
	t.Parallel()
	ps, err := read(t, sddf.Preamble("p", spec.Records))
	if err != nil || len(ps) != len(spec.Records) {
		t.Fatalf("%d packets, %v", len(ps), err)
	}
	for i, p := range ps {
		if !reflect.DeepEqual(*p.Record, normal(spec.Records[i])) {
			t.Errorf("record %q: got %+v, want %+v", p.Name, *p.Record, spec.Records[i])
		}
	}
}

// normal makes empty lists nil, as the reader does.
func normal(r spec.Record) spec.Record {
	if r.Layout != nil {
		l := *r.Layout
		l.Variants = append([]spec.Variant{}, l.Variants...)
		for i := range l.Variants {
			if len(l.Variants[i].Fields) == 0 {
				l.Variants[i].Fields = nil
			}
		}
		r.Layout = &l
	}
	return r
}

var allTypes = spec.Record{Tag: 300, Name: "all", Fields: []spec.Field{
	{Name: "b", Type: spec.Bool}, {Name: "u8", Type: spec.U8}, {Name: "u32", Type: spec.U32},
	{Name: "u64", Type: spec.U64},
	{Name: "i32", Type: spec.I32}, {Name: "i64", Type: spec.I64}, {Name: "f", Type: spec.F64},
	{Name: "s", Type: spec.Str},
	{Name: "us", Type: "[]u64"}, {Name: "ss", Type: "[]str"},
	{Name: "i8", Type: spec.I8, Unit: "apples", Attrs: []spec.Attr{{Key: "min", Value: int64(-5)}}},
	{Name: "f32", Type: spec.F32},
	{Name: "bytes", Type: spec.Bytes}, {Name: "time", Type: spec.Time}, {Name: "dur", Type: spec.Duration},
	{Name: "grid", Type: "[][]i16"},
}}

// decode(encode(x)) == x.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b, u8, u32, u64 := rapid.Bool().Draw(t, "b"), rapid.Uint32Max(255).Draw(t, "u8"), rapid.Uint32().Draw(t, "u32"),
			rapid.Uint64().Draw(t, "u64")
		i32, i64, f, s := rapid.Int32().Draw(t, "i32"), rapid.Int64().Draw(t, "i64"), rapid.Float64().Draw(t, "f"),
			rapid.String().Draw(t, "s")
		us, ss := rapid.SliceOf(rapid.Uint64()).Draw(t, "us"), rapid.SliceOf(rapid.String()).Draw(t, "ss")
		var out bytes.Buffer
		w := sddf.NewWriter(&out, "t", nil)
		w.Define(allTypes)
		w.Attribute("k", i64)
		i8, f32, raw := rapid.Int8().Draw(t, "i8"), rapid.Float32().Draw(t, "f32"),
			rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		grid := sddf.Array{Dims: []int{rapid.IntRange(0, 3).Draw(t, "rows"), 2}}
		cells := make([]int16, 2*grid.Dims[0])
		for i := range cells {
			cells[i] = rapid.Int16().Draw(t, "cell")
		}
		grid.Cells = cells
		w.Data(300, b, u8, u32, u64, i32, i64, f, s, us, ss, i8, f32, raw, time.Unix(0, i64), time.Duration(i64), grid)
		w.Command("stop", spec.Attr{Key: "why", Value: s})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := sddf.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		var got []any
		for {
			p, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			switch p.Kind {
			case spec.Data:
				got = append(got, p.Values...)
			case spec.Attribute:
				got = append(got, p.Value)
			case spec.Command:
				got = append(got, p.Name, p.Attrs[0].Key, p.Attrs[0].Value)
			}
		}
		attr := any(i64)
		if i64 >= 0 {
			attr = uint64(i64)
		}
		want := []any{attr, b, uint64(u8), uint64(u32), u64, int64(i32), i64, f, s, us, ss, int64(i8), float64(f32),
			raw, i64, i64, grid, "stop", "why", s}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got %#v, want %#v", got, want)
		}
	})
}

// Every width of integer reads the same: the program's writer uses fixed ones.
func TestIntegerWidths(t *testing.T) {
	t.Parallel()
	rec := spec.Record{Tag: 300, Name: "n", Fields: []spec.Field{{Name: "u", Type: spec.U32},
		{Name: "i", Type: spec.I64}}}
	encoders := []func(*msgpack.Encoder, int64){
		func(e *msgpack.Encoder, n int64) { e.EncodeInt(n) },
		func(e *msgpack.Encoder, n int64) { e.EncodeInt8(int8(n)) },
		func(e *msgpack.Encoder, n int64) { e.EncodeInt16(int16(n)) },
		func(e *msgpack.Encoder, n int64) { e.EncodeInt32(int32(n)) },
		func(e *msgpack.Encoder, n int64) { e.EncodeInt64(n) },
		func(e *msgpack.Encoder, n int64) { e.EncodeUint8(uint8(n)) },
		func(e *msgpack.Encoder, n int64) { e.EncodeUint16(uint16(n)) },
		func(e *msgpack.Encoder, n int64) { e.EncodeUint32(uint32(n)) },
		func(e *msgpack.Encoder, n int64) { e.EncodeUint64(uint64(n)) },
	}
	for i, f := range encoders {
		buf := bytes.NewBuffer(sddf.Preamble("t", []spec.Record{rec}))
		start := buf.Len()
		e := msgpack.NewEncoder(buf)
		e.EncodeArrayLen(4)
		f(e, int64(spec.Data))
		e.EncodeUint64(300)
		f(e, 101)
		f(e, 102)
		file, err := sddf.AppendSums(buf.Bytes(), start)
		if err != nil {
			t.Fatal(err)
		}
		ps, err := read(t, file)
		if err != nil || len(ps) != 2 || fmt.Sprint(ps[1].Values) != "[101 102]" {
			t.Errorf("encoder %d: %v", i, err)
		}
	}
}

func TestWriterRejects(t *testing.T) {
	t.Parallel()
	w := sddf.NewWriter(io.Discard, "t", []spec.Record{allTypes})
	if err := w.Data(1); err == nil {
		t.Error("unknown tag accepted")
	}
	w = sddf.NewWriter(io.Discard, "t", []spec.Record{allTypes})
	if err := w.Data(300, "no bool"); err == nil || w.Close() == nil {
		t.Error("wrong values accepted")
	}
}

// Damage costs what follows it, never what came before.
func TestDamage(t *testing.T) {
	t.Parallel()
	good := theExample().write()
	whole, err := read(t, good)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, tail string }{
		{"packet kind", "\x92\x09\x01"},
		{"not an array", "\xc0"},
		{"length beyond the file", "\xdd\xff\xff\xff\xff"},
		{"string beyond the file", "\x93\x01\xdb\xff\xff\xff\xff"},
		{"redefinition", "\x96\x02\x07\xa1x\x80\x90\xc0"},
		{"bin beyond the file", "\x94\x03\x07\x64\xc6\xff\xff\xff\xff"},
		{"nesting", "\x93\x03\x63" + string(bytes.Repeat([]byte{0x91}, 100000))},
	} {
		ps, err := read(t, append(append([]byte{}, good...), c.tail...))
		var damage *sddf.DamageError
		if !errors.As(err, &damage) || damage.Off != int64(len(good)) || len(ps) != len(whole) {
			t.Errorf("%s: %d packets of %d, %v", c.name, len(ps), len(whole), err)
		}
	}
}

// Fields of later writers are skipped.
func TestForwardCompatible(t *testing.T) {
	t.Parallel()
	good := theExample().write()
	more := sealed(t, "\x95\x03\x07\x64\xc4\x00\xc0") + // one more value than fields
		sealed(t, "\x96\x03\x07\x64\xc4\x00\xc0\xc4\x03abc") + // two more, one with a checksum of its own
		sealed(t, "\x94\x03\xcd\x03\xe8\x81\xa1k\x91\x01\xa1v") // a record without descriptor
	ps, err := read(t, append(good, more...))
	if err != nil || len(ps) != 7 {
		t.Fatalf("%d packets, %v", len(ps), err)
	}
	if ps[6].Record != nil {
		t.Error("unknown record has a descriptor")
	}
}

// sealed is a packet with its checksums.
func sealed(t *testing.T, packet string) string {
	b, err := sddf.AppendSums([]byte(packet), 0)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// unsealed is a file as it was before there were checksums and checks.
func unsealed(t *testing.T, file []byte) (old []byte) {
	r, err := sddf.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	old = append(old, file[:r.Header().Body()]...)
	old[7] = spec.LastUnchecked
	for p, err := range r.Packets() {
		if err != nil {
			t.Fatal(err)
		}
		if p.Kind != spec.Check {
			old = append(old, file[p.Off:p.Off+p.Body()]...)
		}
	}
	return old
}

// A file of the version before is read; one of the next is refused in a line.
func TestVersions(t *testing.T) {
	t.Parallel()
	now := theExample().write()
	old := unsealed(t, now)
	oldest := append([]byte("\x94\x00\xa4SDDF\x01\xa2ex"), old[bytes.Index(old, []byte("\xa2ex\x80"))+4:]...)
	a, errA := read(t, now)
	for _, file := range [][]byte{old, oldest} {
		if b, err := read(t, file); errA != nil || err != nil || len(a) != len(b)+1 {
			t.Errorf("%d packets, %v; of version %d: %d, %v", len(a), errA, file[7], len(b), err)
		}
	}
	for _, version := range []byte{0, 3, 5} {
		old[7] = version
		_, err := read(t, old)
		if want := fmt.Sprintf("SDDF version %d, expected version 4, or 1 to 2", version); err == nil ||
			err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A small hostile file cannot ask for much memory.
func TestMemoryBound(t *testing.T) {
	pre := sddf.Preamble("t", []spec.Record{allTypes,
		{Tag: 301, Name: "n", Fields: []spec.Field{{Name: "x", Type: "[][]str"}}}})
	for _, tail := range []string{
		"\x93\x03\xcd\x01\x2d\xdd\x00\x01\x00\x00" + string(bytes.Repeat([]byte{0x90}, 1<<16)),
		"\x93\x01\xdb\x7f\xff\xff\xff",
		"\x93\x03\xcd\x01\x2d\xdd\x7f\xff\xff\xff",
		// attributes
		strings.Repeat(sealed(t, "\x93\x01\xa1k\xc0"), 1<<14),
		// commands
		strings.Repeat(sealed(t, "\x93\x04\xa1k\x81\xa1k\xc0"), 1<<13),
		// the same, damaged
		strings.Repeat("\x93\x01\xa1k\xc0", 1<<14),
		// fields of one name
		sealed(t, "\x96\x02\xcd\x01\x30\xa1x\x80\xdc\x20\x00"+strings.Repeat("\x94\xa1f\xa2u8\xa0\xa0", 1<<13)+"\xc0"),
		// headers
		strings.Repeat("\x95\x00\xa4SDDF\x02\xa0\x80", 1<<13),
		// likewise
		strings.Repeat(sealed(t, "\x95\x00\xa4SDDF\x04\xa0\x80"), 1<<13),
		// texts that overlap
		sealed(t, "\x93\x03\xcd\x03\xe8\x91\xc0") + strings.Repeat("\x92\x03\xdb\x00\x00\xff\xff", 1<<13),
	} {
		data := append(append([]byte{}, pre...), tail...)
		var a, b runtime.MemStats
		runtime.ReadMemStats(&a)
		if r, err := sddf.NewReader(bytes.NewReader(data), int64(len(data))); err == nil {
			for range r.Records() {
			}
		}
		runtime.ReadMemStats(&b)
		if got, limit := b.TotalAlloc-a.TotalAlloc, uint64(16*len(data)+64<<10); got > limit {
			t.Errorf("%d bytes allocated for %d bytes of input, limit %d", got, len(data), limit)
		}
	}
}

// counting counts the bytes that are read.
type counting struct {
	*bytes.Reader
	n int64
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.Reader.ReadAt(p, off)
	c.n += int64(n)
	return n, err
}

// A hostile file is read a bounded number of times, however often it is damaged.
func TestSearchBound(t *testing.T) {
	t.Parallel()
	pre := sddf.Preamble("t", []spec.Record{allTypes})
	long := sealed(t, "\x93\x01\xda\x40\x00"+strings.Repeat("a", 1<<14)+"\xc0")
	for name, part := range map[string]string{
		"packets that claim much":            "\x92\x03\xdb\x00\x00\xff\xff",
		"damaged and good ones by turns":     "\x92\x03\xdb\x00\x00\xff\xff" + sealed(t, "\x93\x01\xa1k\xc0"),
		"wrong checksums":                    "\x93\x01\xa1k\xc0\xce\x00\x00\x00\x00",
		"heads within a long packet":         long[:5] + strings.Repeat("\x93\x01\xda\x40\x00", 1<<10),
		"headers with wrong checksums":       "\x95\x00\xa4SDDF\x04\xa0\x80\xce\x00\x00\x00\x00",
		"a wrong checksum, and a long one":   "\x93\x01\xa1k\xc0\xce\x00\x00\x00\x00" + long,
		"wrong checksums in front of a half": "\x93\x01\xa1k\xc0\xce\x00\x00\x00\x00" + long[:len(long)/2],
	} {
		data := append(bytes.Clone(pre), strings.Repeat(part, 1<<20/len(part))...)
		file := &counting{Reader: bytes.NewReader(data)}
		r, err := sddf.NewReader(file, int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		damage := 0
		for _, err := range r.Packets() {
			if err != nil {
				damage++
			}
		}
		if damage == 0 || file.n > 64*int64(len(data)) {
			t.Errorf("%s: %d damaged parts; read %d bytes of a file of %d", name, damage, file.n, len(data))
		}
		t.Logf("%s: %d damaged parts; read %d times", name, damage, file.n/int64(len(data)))
	}
}

func TestEntries(t *testing.T) {
	t.Parallel()
	l := &spec.Layout{Delta: "t", Variants: []spec.Variant{
		{Kind: 1, Name: "one", Words: 1, Fields: []spec.BitField{{Name: "x", Bit: 4, Width: 4}}},
		{Kind: 2, Name: "abs", Words: 2, Fields: []spec.BitField{{Name: "t", Word: 1, Width: 64}}},
	}}
	words := []uint64{5<<32 | 1<<24 | 0xab, 2 << 24, math.MaxUint32 + 9, 1<<32 | 1<<24 | 0x10, 3 << 24}
	var block []byte
	for _, w := range words {
		for s := 0; s < 64; s += 8 {
			block = append(block, byte(w>>s))
		}
	}
	var got []string
	err := sddf.Entries(l, block, 100, func(e *sddf.Entry) error {
		got = append(got, fmt.Sprint(e.Variant.Name, e.Time, e.Values))
		return nil
	})
	want := fmt.Sprint([]string{"one105 [10]", "abs4294967304 [4294967304]", "one4294967305 [1]"})
	if fmt.Sprint(got) != want || err == nil {
		t.Errorf("got %v and %v, want %v and an error for kind 3", got, err, want)
	}
}

func FuzzReader(f *testing.F) {
	f.Add(theExample().write())
	f.Add(sddf.Preamble("p", spec.Records))
	f.Add([]byte("\x94\x00\xa4SDDF\x01\xa0"))
	f.Add(carrying(f, false))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := sddf.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for p := range r.Records() {
			if p == nil || p.Record.Layout == nil {
				continue
			}
			for _, v := range p.Values {
				if b, ok := v.(sddf.Blob); ok {
					block, err := r.ReadBlob(nil, b)
					var damage *sddf.DamageError
					if errors.As(err, &damage) {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					sddf.Entries(p.Record.Layout, block, 0, func(*sddf.Entry) error { return nil })
				}
			}
		}
	})
}
