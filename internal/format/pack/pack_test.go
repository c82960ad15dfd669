package pack_test

import (
	"bytes"
	"io"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/format/pack"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// plain is a file of some blocks in two segments.
func plain(seed uint64, blocks int) []byte {
	var out bytes.Buffer
	w := sddf.NewWriter(&out, "t", spec.Records)
	w.Attribute("program", "p")
	for i := range blocks {
		if i == blocks/2 {
			w.Segment()
		}
		block := make([]byte, 8*(i%4000))
		for k := range block {
			seed = seed*6364136223846793005 + 1
			if block[k] = byte(k); k%8 == 4 {
				block[k] = byte(seed >> 60)
			}
		}
		w.Data(spec.TagEvents, 1, 2, i, 4, 5, 6, block)
	}
	w.Close()
	return out.Bytes()
}

func compress(t interface{ Fatal(...any) }, data []byte) []byte {
	var out bytes.Buffer
	if err := pack.Compress(&out, bytes.NewReader(data), int64(len(data))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What is presented are the packets that were written, at any offset; only the
// headers say more.
func TestBothWays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		data := plain(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 200).Draw(t, "blocks"))
		packed := compress(t, data)
		f, err := pack.Open(bytes.NewReader(packed), int64(len(packed)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size))
		if err != nil {
			t.Fatal(err)
		}
		want := plainWithHeaders(t, data)
		if !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, want %d", len(got), len(want))
		}
		if len(got) > 0 {
			off := rapid.IntRange(0, len(got)-1).Draw(t, "off")
			part := make([]byte, rapid.IntRange(0, len(got)-off).Draw(t, "n"))
			if n, err := f.ReadAt(part, int64(off)); n != len(part) || err != nil ||
				!bytes.Equal(part, got[off:off+n]) {
				t.Fatalf("%d bytes at %d: %d, %v", len(part), off, n, err)
			}
		}
	})
}

// plainWithHeaders is a file whose headers say that it is packed.
func plainWithHeaders(t *rapid.T, data []byte) (out []byte) {
	r, err := sddf.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	head := func(p *sddf.Packet) {
		out = sddf.AppendHeader(out, p.Name, append(p.Attrs, spec.Attr{Key: spec.AttrPacked, Value: pack.Codec})...)
	}
	head(r.Header())
	for p, err := range r.Packets() {
		if err != nil {
			t.Fatal(err)
		}
		if p.Kind == spec.Header {
			head(p)
		} else {
			out = append(out, data[p.Off:p.Off+p.Len]...)
		}
	}
	return out
}

// A damaged run costs itself; the next segment is there.
func TestDamagedRun(t *testing.T) {
	t.Parallel()
	packed := compress(t, plain(1, 300))
	for k := range 100 {
		packed[len(packed)/4+k] ^= 0x55
	}
	f, err := pack.Open(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := sddf.NewReader(f, f.Size)
	if err != nil {
		t.Fatal(err)
	}
	damage, blocks := 0, 0
	for p, err := range r.Packets() {
		if err != nil {
			damage++
		} else if p.Kind == spec.Data {
			blocks++
		}
	}
	if damage != 1 || blocks < 150 {
		t.Errorf("damage in %d places, %d blocks", damage, blocks)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(compress(f, plain(1, 3)))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := pack.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil || file.Size > 64<<20 {
			return
		}
		if _, err := io.Copy(io.Discard, io.NewSectionReader(file, 0, file.Size)); err != nil {
			t.Fatal(err)
		}
	})
}
