package salvage_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"qinst.dev/internal/format/salvage"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// The synthetic ring: two chunks, two blocks and four pages of counts behind its head.
const (
	chunkAt, chunkSize, chunkHead = 4096, 256, 64
	blockAt, blockSize            = 8192, 1024
	directoryAt, pageAt, pageSize = 12288, 12800, 64
	chunkBase                     = 0x7f0000000000
	ledgerAt, ledgerSize          = pageAt + 4*pageSize, 64
)

// makeRing makes a ring: chunk 0 is full, number 3 of thread 1; thread 2 has filled
// one event into chunk 1, number 0. Point 0 was hit 5 and 6 times, and
// extensions dropped one of its events; point 4 was hit 7 times, and ledgers counted 9
// and 2 hits of point 3; the file ends in the second one.
func makeRing() []byte {
	ring := make([]byte, ledgerAt+2*ledgerSize+32)
	put := func(at int, v uint64) { binary.LittleEndian.PutUint64(ring[at:], v) }
	for word, v := range map[int]uint64{
		spec.RingWordMagic: spec.RingMagic, spec.RingWordVersion: spec.RingVersion, spec.RingWordPID: 1 << 30,
		spec.RingWordStream:    77,
		spec.RingWordChunkBase: chunkBase, spec.RingWordChunkAt: chunkAt, spec.RingWordChunkSize: chunkSize,
		spec.RingWordChunkHead: chunkHead, spec.RingWordChunks: 2,
		spec.RingWordBlockAt: blockAt, spec.RingWordBlockSize: blockSize, spec.RingWordBlocks: 2,
		spec.RingWordPoints:      5,
		spec.RingWordDirectoryAt: directoryAt, spec.RingWordPageAt: pageAt, spec.RingWordPageSize: pageSize,
		spec.RingWordPages:  4,
		spec.RingWordBlockP: 8, spec.RingWordBlockChunk: 16, spec.RingWordBlockLost: 24, spec.RingWordBlockDeep: 32,
		spec.RingWordChunkBytes: 0, spec.RingWordChunkNum: 4, spec.RingWordChunkTID: 8, spec.RingWordChunkProc: 12,
		spec.RingWordChunkSeq: 16, spec.RingWordChunkTicks: 24, spec.RingWordChunkG: 32, spec.RingWordTurn: 1,
		spec.RingWordLedgerAt: ledgerAt, spec.RingWordLedgerSize: ledgerSize, spec.RingWordLedgers: 4,
		spec.RingWordClock: 5000,
	} {
		put(8*word, v)
	}
	put(chunkAt, 16|1<<32)
	put(chunkAt+8, 9)
	put(chunkAt+16, 3)
	put(chunkAt+chunkHead, 1<<32|spec.EvEnter<<24)
	put(chunkAt+chunkHead+8, 1<<32|spec.EvExit<<24)
	second := chunkAt + chunkSize
	put(second, 2<<32)
	put(second+8, 9)
	put(second+chunkHead, 1<<32|spec.EvEnter<<24)
	put(second+chunkHead+8, 0xdead) // not recorded
	put(blockAt+blockSize+8, chunkBase+chunkSize+chunkHead+8)
	put(blockAt+blockSize+16, chunkBase+chunkSize)
	put(blockAt+blockSize+24, 4)
	put(directoryAt, 1|spec.RingSharedPage|1<<32) // threads together, and one thread; then none, and points 4 to 7
	put(directoryAt+8, 2<<32)
	put(pageAt, 5)
	put(pageAt+8, 1)
	put(pageAt+pageSize, 6)
	put(pageAt+pageSize+8, 2)
	put(ledgerAt+ledgerSize+24, 9)
	put(ledgerAt+2*ledgerSize+24, 2)
	put(pageAt+3*pageSize, 7)
	return ring
}

// makeFile makes the file of that ring: it has blocks 2 and, half of it, 3 of thread 1.
func makeFile(ring string) []byte {
	b := sddf.AppendHeader(nil, "t", spec.Attr{Key: spec.AttrStream, Value: 77},
		spec.Attr{Key: spec.AttrSegment, Value: 0})
	for i := range spec.Records {
		b = sddf.AppendDescriptor(b, &spec.Records[i])
	}
	b, _ = sddf.AppendAttribute(b, "ring", ring)
	for seq := range 2 {
		b, _ = sddf.AppendRecord(b, &spec.Records[spec.TagEvents-1], 1, 9, 2+seq, 100, 1, 0, make([]byte, 16))
	}
	return b[:len(b)-3]
}

func open(t *testing.T, file, ring []byte) (*salvage.File, error) {
	dir := t.TempDir()
	ringPath, path := filepath.Join(dir, "qinst.1"), filepath.Join(dir, "f.sddf")
	if err := os.WriteFile(ringPath, ring, 0o600); err != nil {
		t.Fatal(err)
	}
	if file == nil {
		file = makeFile(ringPath)
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := salvage.OpenWith(path, ringPath)
	if err == nil {
		t.Cleanup(func() { f.Close() })
	}
	return f, err
}

func read(t *testing.T, f *salvage.File) (lines []string) {
	r, err := sddf.NewReader(f, f.Size)
	if err != nil {
		t.Fatal(err)
	}
	for p, err := range r.Packets() {
		if err != nil {
			t.Fatal(err)
		}
		if p.Kind != spec.Data {
			continue
		}
		line := p.Name
		for i, v := range p.Values {
			switch b := v.(type) {
			case uint64:
				if name := p.Record.Fields[i].Name; name == "thread" || name == "seq" || name == "lost" {
					line += " " + name + string(rune('0'+b))
				}
			case sddf.Blob:
				block, err := r.ReadBlob(nil, b)
				if err != nil {
					t.Fatal(err)
				}
				sddf.Entries(p.Record.Layout, block, 0,
					func(e *sddf.Entry) error { line += " " + e.Variant.Name; return nil })
				if p.Name == "counts" {
					line += string(rune('0'+block[8]/10)) + string(rune('0'+block[8]%10)) + string(rune('0'+block[16]))
					line += fmt.Sprintf(" %d:%d", block[24], block[32])
				}
				if p.Name == "reduced" {
					line = "reduced" + string(rune('0'+block[8])) + " reduced"
				}
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// What the file has half is taken from the ring, what it has whole is not taken
// again, and what a thread had not recorded does not appear.
func TestRecover(t *testing.T) {
	t.Parallel()
	f, err := open(t, nil, makeRing())
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(read(t, f), "\n")
	want := "events thread1 seq2\nevents thread1 seq3 enter exit\nevents thread2 seq0 enter\nclock\nreduced1 reduced\ncounts count count count112 3:11\nend lost4"
	// the first block's entries are zeros, of no kind
	if got != want || f.Recovered != 2 || f.Points != 3 {
		t.Errorf("%v\ngot\n%s\nwant\n%s", f, got, want)
	}
}

// burstsFile is a file of that ring without its end, in which procedure 3 stands twice, and whose
// bursts were written when fewer of its activations had run without probes. flags are its flags,
// and operates says that it has an operation.
func burstsFile(mode string, flags uint32, records uint64, operates bool) []byte {
	b := sddf.AppendHeader(nil, "t", spec.Attr{Key: spec.AttrStream, Value: 77},
		spec.Attr{Key: spec.AttrSegment, Value: 0})
	for i := range spec.Records {
		b = sddf.AppendDescriptor(b, &spec.Records[i])
	}
	b, _ = sddf.AppendAttribute(b, "mode", mode)
	zeros, last, owner := make([]uint32, 3), spec.PointProc, uint32(2)
	if operates {
		last, owner = spec.PointSync, 1
	}
	b, _ = sddf.AppendRecord(b, &spec.Records[spec.TagProbes-1], uint32(2), "p", []string{""}, make([]uint64, 3),
		[]string{"call", "proc", last},
		zeros, []uint32{1, 1, owner}, zeros, zeros, []uint32{spec.FlagTwice, flags, 0}, zeros, []uint32{0, 1, 2},
		[]uint32{0, 1, 2}, zeros)
	for plain := range records {
		var found []byte
		for _, w := range []uint64{2, 0, 8, 32, 24, 3, 1 + plain, 6, 18, 2} {
			found = binary.LittleEndian.AppendUint64(found, w)
		}
		b, _ = sddf.AppendRecord(b, &spec.Records[spec.TagBursts-1], uint64(100), 40+plain, found)
	}
	return b
}

// lastBursts is the last record of bursts: how many there were, and the entries.
func lastBursts(t *testing.T, f *salvage.File) (n uint64, words []uint64) {
	r, err := sddf.NewReader(f, f.Size)
	if err != nil {
		t.Fatal(err)
	}
	for p, err := range r.Packets() {
		if err != nil {
			t.Fatal(err)
		}
		if p.Kind == spec.Data && p.Name == "bursts" {
			block, err := r.ReadBlob(nil, p.Values[2].(sddf.Blob))
			if err != nil {
				t.Fatal(err)
			}
			n, words = p.Values[1].(uint64), nil
			for ; len(block) > 0; block = block[8:] {
				words = append(words, binary.LittleEndian.Uint64(block))
			}
		}
	}
	return n, words
}

// The ring knows how many activations ran without probes, and the file what bursts found. With
// mode=count ledgers have all entries, and there are no bursts. Of a small procedure they always
// have all. A program that came to its end, and not to the end of its file, has said in the ring
// why and how it ended.
func TestEnded(t *testing.T) {
	t.Parallel()
	for word, want := range map[uint64]string{
		0:                   "killed -1 5000",
		1<<32 | 3:           "exit 3 4000",
		3<<32 | 143:         "signal 143 4000",
		5<<32 | (1<<32 - 1): "end of the host program -1 4000",
		99 << 32:            "killed -1 5000",
	} {
		ring := makeRing()
		binary.LittleEndian.PutUint64(ring[8*spec.RingWordEnd:], word)
		binary.LittleEndian.PutUint64(ring[8*spec.RingWordEndAt:], 4000)
		f, err := open(t, nil, ring)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sddf.NewReader(f, f.Size)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for p, err := range r.Records() {
			if err == nil && p.Name == "end" {
				got = fmt.Sprint(p.Field("reason"), " ", p.Field("status"), " ", p.Field("ticks"))
			}
		}
		if got != want {
			t.Errorf("word %#x: found %q, expected %q", word, got, want)
		}
	}
}

// A part that was emptied to be begun anew, and in which nothing is yet: the other one is the
// trace, whichever of the two is named. An older trace with the name of a part is not taken for it.
func TestJustBegun(t *testing.T) {
	t.Parallel()
	for _, named := range []string{"f.sddf", "f.sddf.more"} {
		for _, empty := range []string{"f.sddf", "f.sddf.more"} {
			for _, older := range []bool{false, true} {
				dir := t.TempDir()
				now := time.Now()
				for _, name := range []string{"f.sddf", "f.sddf.more"} {
					text, at := makeFile(filepath.Join(dir, "qinst.1")), now
					if name == empty {
						text = nil
					} else if older {
						at = now.Add(-time.Second)
					}
					path := filepath.Join(dir, name)
					if err := cmp.Or(os.WriteFile(path, text, 0o600), os.Chtimes(path, at, at)); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.WriteFile(filepath.Join(dir, "qinst.1"), makeRing(), 0o600); err != nil {
					t.Fatal(err)
				}
				f, err := salvage.Open(filepath.Join(dir, named))
				if empty == named && older {
					if err == nil || !strings.Contains(err.Error(), "empty, expected an SDDF file") {
						t.Errorf("%s is empty beside an older file: %v, expected an error", named, err)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s, %s is empty: %v", named, empty, err)
					continue
				}
				if got := read(t, f); len(got) < 5 || f.Recovered != 2 {
					t.Errorf("%s, %s is empty: found %q, %v", named, empty, got, f)
				}
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

func TestBursts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode     string
		flags    uint32
		records  uint64
		operates bool
		bursts   uint64
		found    []uint64
	}{
		{"trace", spec.FlagTwice, 2, false, 41, []uint64{2, 0, 8, 32, 24, 3, 11, 6, 18, 2}},
		{"trace", spec.FlagTwice, 0, false, 0, []uint64{3, 11, 0, 0, 0}},
		{"trace", spec.FlagTwice, 2, true, 41, []uint64{2, 0, 8, 32, 24, 3, 2 | spec.Uncounted, 6, 18, 2}},
		{"trace", spec.FlagTwice, 0, true, 0, nil},
		{"count", spec.FlagTwice, 2, false, 41, []uint64{2, 0, 8, 32, 24, 3, 2, 6, 18, 2}},
		{"count", spec.FlagTwice, 0, false, 0, nil},
		{"trace", spec.FlagTwice | spec.FlagSmall, 2, false, 41, []uint64{2, 0, 8, 32, 24, 3, 2, 6, 18, 2}},
		{"trace", spec.FlagTwice | spec.FlagSmall, 0, false, 0, nil},
	} {
		f, err := open(t, burstsFile(c.mode, c.flags, c.records, c.operates), makeRing())
		if err != nil {
			t.Fatal(err)
		}
		if n, got := lastBursts(t, f); n != c.bursts || !slices.Equal(got, c.found) || f.Ring == "" {
			t.Errorf("mode %s, flags %#x, %d records in the file, operations %t: %d bursts, %v; expected %d, %v", c.mode,
				c.flags, c.records, c.operates, n, got, c.bursts, c.found)
		}
	}
}

// A file cut at any byte is read, with what the ring has.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	ring := makeRing()
	dir := t.TempDir()
	whole := makeFile(filepath.Join(dir, "qinst.1"))
	for n := 1; n < len(whole); n += 1 + n/16 {
		f, err := open(t, whole[:n], ring)
		if err != nil {
			if !strings.Contains(err.Error(), "not an SDDF file") {
				t.Fatalf("cut at %d: %v", n, err)
			}
			continue
		}
		if lines := read(t, f); f.Ring != "" && (len(lines) == 0 || lines[len(lines)-1] != "end lost4") {
			// Where the descriptors are cut the records have none.
			r, _ := sddf.NewReader(f, f.Size)
			known := 0
			for p := range r.Packets() {
				if p.Kind == spec.Descriptor {
					known++
				}
			}
			if known == len(spec.Records) {
				t.Fatalf("cut at %d: %q", n, lines)
			}
		}
	}
}

// Another program's ring, a short one, or nonsense leave the file as it is.
func TestForeignRings(t *testing.T) {
	t.Parallel()
	file := makeFile("x")
	file = file[:len(file)-60]
	other := makeRing()
	other[8*spec.RingWordStream]++
	magic := makeRing()
	magic[0]++
	for name, ring := range map[string][]byte{"other": other, "magic": magic, "empty": {}, "short": makeRing()[:100]} {
		f, err := open(t, file, ring)
		if err != nil || f.Ring != "" || f.Size != int64(len(file)) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
}

// Whatever the ring says, it is read without a panic.
func FuzzRing(f *testing.F) {
	f.Add(uint16(8*spec.RingWordChunks), uint64(1)<<40)
	f.Add(uint16(8*spec.RingWordBlocks), uint64(1)<<62)
	f.Add(uint16(chunkAt), uint64(1)<<31)
	f.Fuzz(func(t *testing.T, at uint16, v uint64) {
		ring := makeRing()
		binary.LittleEndian.PutUint64(ring[int(at)%(len(ring)-8):], v)
		file, err := open(t, nil, ring)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, io.NewSectionReader(file, 0, file.Size)); err != nil {
			t.Fatal(err)
		}
	})
}
