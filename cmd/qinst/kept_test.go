package main

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"qinst.dev/internal/trace/tracetest"
)

var updateKept = flag.Bool("update-kept", false, "write what commands print of the kept traces to testdata/kept")

// keptViews are what is compared of every kept trace: all that readers see of it.
var keptViews = []string{
	"report",
	"report -all",
	"profile -json",
	"profile",
	"profile -tree",
	"profile -by sync",
	"critical -json",
	"correct",
	"critical -procs 2",
	"predict -procs 1,2,4",
	"dump",
	"dump -mode=events",
}

// keptParts are views of parts of some traces, in which a goroutine's state depends on records of
// the program's own.
var keptParts = map[string][]string{
	"convoy":      {"profile -json -vcpu 2", "report -all -vcpu 2", "critical -vcpu 2", "predict -vcpu 2"},
	"records":     {"profile -json -from 1ms -to 5ms"},
	"gen-random1": {"profile -json -region region&0", "profile -region region&1"},
	"gen-random2": {"profile -json -region region&0"},
}

// keptText is the size up to which an output stands in the golden file as text. Of a longer one
// the file has a digest, because a diff of it would not be read.
const keptText = 12 << 10

// TestKeptTraces compares the output of commands for traces of real programs, and for generated
// ones, with their earlier output, byte by byte. A change of the readers' structure must not change
// a number. Where a change of the output is wanted, "go test ./cmd/qinst -run TestKeptTraces
// -update-kept" writes it, and the diff must be read.
func TestKeptTraces(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "testdata", "kept")
	files, err := filepath.Glob(filepath.Join(dir, "*.sddf"))
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d kept traces (%v), expected ten or more", len(files), err)
	}
	made := t.TempDir()
	for name, b := range generatedTraces() {
		file := filepath.Join(made, name+".sddf")
		if err := b.WriteFile(file); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".sddf")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden := filepath.Join(dir, name+".txtar")
			got := txtar.Format(keptViewsOf(t, name, file))
			if *updateKept {
				if err := os.WriteFile(golden, got, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the output of a command has changed: %s", firstDifference(string(got), string(want)))
			}
		})
	}
}

// keptViewsOf runs every command on a trace.
func keptViewsOf(t *testing.T, name, file string) *txtar.Archive {
	t.Helper()
	a := &txtar.Archive{}
	for _, view := range slices.Concat(keptViews, keptParts[name]) {
		args := strings.Fields(view)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "&", " ")
		}
		var out, talk bytes.Buffer
		if err := dispatch(newEnv(&out, &talk), append(args, file)); err != nil {
			fmt.Fprintf(&out, "error: %v\n", err)
		}
		data := bytes.ReplaceAll(out.Bytes(), []byte(file), []byte("FILE"))
		if len(data) > keptText {
			data = fmt.Appendf(nil, "%d bytes, SHA-256 %x\n", len(data), sha256.Sum256(data))
		}
		a.Files = append(a.Files, txtar.File{Name: view, Data: data})
	}
	return a
}

// firstDifference is the first line in which two texts differ, with the section it is in.
func firstDifference(got, want string) string {
	section := ""
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("%s line %d:\n%s\nexpected:\n%s", section, i+1, a, b)
		}
		if strings.HasPrefix(a, "-- ") {
			section = a
		}
	}
	return "none"
}

// generatedTraces have orders of events that programs show rarely, which the kept traces lack, and
// numbers that can be checked by hand.
func generatedTraces() map[string]*tracetest.Builder {
	do, lock, unlock := tracetest.Do, tracetest.Lock, tracetest.Unlock
	critical := func(name string) tracetest.Thread {
		ops := []tracetest.Op{}
		for range 4 {
			ops = append(ops, do("main."+name, 3e6), lock("main.mu"), do("main.inside", 2e6), unlock("main.mu"))
		}
		return tracetest.Thread{Name: "main." + name,
			Ops: append(ops, tracetest.Barrier("main.all", 3), do("main.after", 1e6))}
	}
	made := map[string]*tracetest.Builder{
		"gen-locks": tracetest.Simulate(2, []tracetest.Thread{critical("a"), critical("b"), critical("c")}),
	}
	threads := []tracetest.Thread{critical("a"), critical("b"), critical("c")}
	made["gen-samples"] = tracetest.SimulateOn(tracetest.New(3).Samples(1e5, 7,
		func(proc string) bool { return proc == "main.inside" }), threads)
	made["gen-bursts"] = tracetest.Hot()
	for _, seed := range []uint64{1, 2, 3} {
		made[fmt.Sprintf("gen-random%d", seed)] = tracetest.Random(rand.New(rand.NewPCG(seed, seed)).IntN)
	}
	return made
}
