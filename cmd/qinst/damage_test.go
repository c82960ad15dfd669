package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"qinst.dev/cmd/internal/sddf/text"
)

// damageable are the kept traces, without checksums as they are kept, and with them.
func damageable(t *testing.T) (bare, sealed map[string][]byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "kept", "*.sddf"))
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d kept traces (%v), expected ten or more", len(files), err)
	}
	bare, sealed = map[string][]byte{}, map[string][]byte{}
	for _, file := range files {
		old, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var lines, again bytes.Buffer
		if err := text.Dump(&lines, bytes.NewReader(old), int64(len(old))); err != nil {
			t.Fatal(err)
		}
		if err := text.Parse(&again, &lines); err != nil {
			t.Fatal(err)
		}
		bare[filepath.Base(file)], sealed[filepath.Base(file)] = old, again.Bytes()
	}
	return bare, sealed
}

// times is how often a test with chance in it does its thing: more in a suite that has hours.
func times(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return usual
}

// TestFlippedBits flips single bits of real traces. Every one is told of: the page differs from that of the
// whole file in its losses, or there is an error.
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
			rnd := rand.New(rand.NewPCG(1, uint64(len(data))))
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
	n := times("QINST_MUTATIONS", 2)
	bare, sealed := damageable(t)
	for name, data := range bare {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(2, uint64(len(data))))
			file := filepath.Join(t.TempDir(), "x.sddf")
			for i := range n {
				mutated := mutate(rnd, data) // nothing tells readers that it is damaged
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

// runAll runs every command on a file, whatever it answers.
func runAll(t *testing.T, what, file, name string) {
	defer func() {
		if v := recover(); v != nil {
			kept := filepath.Join(os.TempDir(), "qinst-mutated-"+name)
			data, _ := os.ReadFile(file)
			_ = os.WriteFile(kept, data, 0o666)
			t.Fatalf("%s: panic: %v; the file is %s", what, v, kept)
		}
	}()
	keptViewsOf(t, name, file)
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
