package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"qinst.dev/internal/format/salvage"
	"qinst.dev/internal/format/text"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// damageable are the kept traces, without checksums as they are kept, and with them. Nobody may
// change them.
func damageable(t testing.TB) (bare, sealed map[string][]byte) {
	t.Helper()
	both, err := keptTraces()
	if err != nil {
		t.Fatal(err)
	}
	return both[0], both[1]
}

// keptTraces reads them once: to write checksums takes seconds.
var keptTraces = sync.OnceValues(func() (both [2]map[string][]byte, err error) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "kept", "*.sddf"))
	if err != nil || len(files) < 10 {
		return both, fmt.Errorf("found %d kept traces (%v), expected ten or more", len(files), err)
	}
	bare, sealed := map[string][]byte{}, map[string][]byte{}
	for _, file := range files {
		name := filepath.Base(file)
		if bare[name], sealed[name], err = readKept(file); err != nil {
			return both, fmt.Errorf("%s: %w", file, err)
		}
	}
	return [2]map[string][]byte{bare, sealed}, nil
})

// readKept returns a trace that is kept compressed: without checksums, and with them.
func readKept(file string) (bare, sealed []byte, err error) {
	f, err := salvage.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	bare = make([]byte, f.Size)
	if _, err := f.ReadAt(bare, 0); err != nil && err != io.EOF {
		return nil, nil, err
	}
	var lines, again bytes.Buffer
	if err := text.Dump(&lines, bytes.NewReader(bare), int64(len(bare))); err != nil {
		return nil, nil, err
	}
	err = text.Parse(&again, &lines)
	return bare, again.Bytes(), err
}

// times is how often a test with chance in it does its thing: more in a suite that has hours.
func times(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return usual
}

// TestFlippedBits flips single bits of real traces. Every one is reported: the page differs from
// that of the whole file in its losses, or there is an error.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	_, traces := damageable(t)
	n := times("QINST_FLIPS", 20)
	for name, data := range traces {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "x.sddf")
			losses := func(data []byte) string {
				if err := os.WriteFile(file, data, 0o666); err != nil {
					t.Fatal(err)
				}
				out, err := read(t, "profile", "-json", file)
				if err != nil {
					return "error: " + err.Error()
				}
				var page struct{ Losses json.RawMessage }
				if err := json.Unmarshal([]byte(out), &page); err != nil || page.Losses == nil {
					t.Fatalf("found no losses (%v) in\n%s", err, out)
				}
				return string(page.Losses)
			}
			whole := losses(data)
			if strings.HasPrefix(whole, "error") {
				t.Fatal(whole)
			}
			rnd := rand.New(rand.NewPCG(uint64(times("QINST_SEED", 1)), uint64(len(data))))
			for range n {
				at, bit := rnd.IntN(len(data)), rnd.IntN(8)
				flipped := bytes.Clone(data)
				flipped[at] ^= 1 << bit
				if got := losses(flipped); got == whole {
					t.Errorf("bit %d of byte %d flipped: not told of; losses %s", bit, at, got)
				}
			}
		})
	}
}

// TestMutatedFiles runs every command on damaged traces. None may panic, or take long.
func TestMutatedFiles(t *testing.T) {
	t.Parallel()
	const usual = 2
	n := times("QINST_MUTATIONS", usual)
	bare, sealed := damageable(t)
	for name, data := range bare {
		n := n
		if len(data) > 1<<20 {
			n /= 20 // every command takes seconds to read it
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(uint64(times("QINST_SEED", 2)), uint64(len(data))))
			file := filepath.Join(t.TempDir(), "x.sddf")
			for i := range n {
				mutated := mutate(rnd, data) // readers cannot detect that it is damaged
				if i%2 == 1 {
					mutated = mutate(rnd, sealed[name])
				}
				if err := os.WriteFile(file, mutated, 0o666); err != nil {
					t.Fatal(err)
				}
				runAll(t, fmt.Sprint("mutation ", i), file, name)
			}
		})
	}
}

// reading are commands that read a file, besides those whose output is kept. OUT is a file that is
// not there.
var reading = []string{
	"report -json", "report -markdown", "report -from 1us -to 1ms", "info", "info -check", "index",
	"profile -html -", "profile -pprof OUT", "profile -by loop", "profile -by goroutine", "profile -list main",
	"profile -diff FILE", "profile -runs FILE",
	"dump -json", "dump -mode=wire", "dump -mode=footprint", "dump -mode=events -json",
	"convert -to=text", "convert -to=json", "convert -to=sddfa", "convert -to=sddfb -o OUT", "convert -to=zstd -o OUT",
	"cut -from 1us -to 1ms -o OUT", "merge -o OUT FILE", "merge -by ticks -o OUT FILE", "salvage",
	"reduce -ext=profile", "reduce -ext=locks,goroutines,lifetimes",
	"critical -procs max", "critical -html -", "critical -requests", "critical -vcpu 2", "predict -procs 1,7",
	"predict -what-if gc=off -json", "predict -policy ps",
}

// runAll runs every command on a file, whatever it answers.
func runAll(t *testing.T, what, file, name string) {
	now := ""
	defer func() {
		if v := recover(); v != nil {
			kept := filepath.Join(os.TempDir(), "qinst-mutated-"+name)
			data, _ := os.ReadFile(file)
			_ = os.WriteFile(kept, data, 0o666)
			t.Fatalf("%s: %s: panic: %v; the file is %s", what, now, v, kept)
		}
	}()
	keptViewsOf(t, name, file)
	out := filepath.Join(t.TempDir(), "out")
	for _, now = range reading {
		args := strings.Fields(strings.NewReplacer("OUT", out, "FILE", file).Replace(now))
		start, used := time.Now(), processorTime(t)
		if args[0] == "reduce" {
			args = append(args, file, out)
		} else {
			args = append(args, file)
		}
		_, _ = read(t, args...)
		// Other load makes it take longer, and other tests of this process use its processor time.
		if took := min(time.Since(start), processorTime(t)-used); took > 10*time.Second {
			t.Errorf("%s: %s took %v", what, now, took)
		}
		for _, made := range []string{out, file + trace.IndexSuffix} {
			_ = os.Remove(made)
		}
	}
}

// mutate changes a file as disks, programs and people do.
func mutate(rnd *rand.Rand, data []byte) []byte {
	m := bytes.Clone(data)
	for range 1 + rnd.IntN(8) {
		if len(m) < 2 {
			return m
		}
		at := rnd.IntN(len(m))
		switch rnd.IntN(6) {
		case 0:
			m[at] ^= 1 << rnd.IntN(8)
		case 1:
			m[at] = byte(rnd.Uint32())
		case 2:
			for i := at; i < min(len(m), at+1+rnd.IntN(16)); i++ {
				m[i] = byte(rnd.Uint32())
			}
		case 3:
			m = append(m[:at:at], m[min(len(m), at+1+rnd.IntN(64)):]...)
		case 4:
			end := min(len(m), at+1+rnd.IntN(256))
			m = append(m[:end:end], m[at:]...) // twice
		case 5:
			if rnd.IntN(8) == 0 {
				m = m[:max(at, 1)]
			}
		}
	}
	return m
}

// TestUndescribed reads a trace whose entries carry records that nothing describes.
func TestUndescribed(t *testing.T) {
	t.Parallel()
	_, sealed := damageable(t)
	data := sealed["records.sddf"]
	r, err := sddf.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	out := bytes.Clone(data[:r.Header().Len])
	for p, err := range r.Packets() {
		if err != nil {
			t.Fatal(err)
		}
		if p.Kind != spec.Check && (p.Kind != spec.Descriptor || p.Record.Tag < spec.FirstUserTag) {
			out = append(out, data[p.Off:p.Off+p.Len]...)
		}
	}
	file := filepath.Join(t.TempDir(), "x.sddf")
	if err := os.WriteFile(file, out, 0o666); err != nil {
		t.Fatal(err)
	}
	runAll(t, "no descriptors", file, "records.sddf")
	events, err := read(t, "dump", "-mode=events", file)
	if err != nil || !strings.Contains(events, "bytes of a kind that the file does not describe") {
		t.Errorf("found no such line (%v) in\n%.2000s", err, events)
	}
}

// TestForms converts real traces to each form that is read back, and back: they are the same bytes.
func TestForms(t *testing.T) {
	t.Parallel()
	_, sealed := damageable(t)
	for name, data := range sealed {
		if len(data) > 1<<20 {
			continue // what it has the others have
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "x.sddf")
			if err := os.WriteFile(file, data, 0o666); err != nil {
				t.Fatal(err)
			}
			for _, form := range []string{"sddf", "zstd", "text", "sddfa", "sddfb"} {
				there, back := filepath.Join(dir, form), filepath.Join(dir, form+".sddf")
				_, err := read(t, "convert", "-to", form, "-o", there, file)
				if err == nil {
					_, err = read(t, "convert", "-o", back, there)
				}
				again, err2 := os.ReadFile(back)
				if err != nil || err2 != nil || dumped(t, again) != dumped(t, data) {
					t.Errorf("%s: %v, %v: it is another file", form, err, err2)
				}
				if form != "zstd" && form != "sddf" && !bytes.Equal(again, data) {
					t.Errorf("%s: the same packets, and other bytes", form)
				}
			}
		})
	}
}

// dumped is the text of a file but for its header, in which a compressed one has the codec.
func dumped(t *testing.T, data []byte) string {
	var out bytes.Buffer
	if err := text.Dump(&out, bytes.NewReader(data), int64(len(data))); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(out.String(), "\n")
	return rest
}
