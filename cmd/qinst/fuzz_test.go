package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each command reads traces that are mutated beyond what anybody would think of. It may say
// anything, but for a panic. go run ./internal/trials fuzz runs them.

func FuzzReport(f *testing.F)   { fuzzCommand(f, "report FILE") }
func FuzzProfile(f *testing.F)  { fuzzCommand(f, "profile -tree FILE") }
func FuzzHTML(f *testing.F)     { fuzzCommand(f, "profile -html - FILE") }
func FuzzPprof(f *testing.F)    { fuzzCommand(f, "profile -pprof - FILE") }
func FuzzInfo(f *testing.F)     { fuzzCommand(f, "info -check FILE") }
func FuzzDump(f *testing.F)     { fuzzCommand(f, "dump -json FILE") }
func FuzzWire(f *testing.F)     { fuzzCommand(f, "dump -mode=footprint FILE") }
func FuzzEvents(f *testing.F)   { fuzzCommand(f, "dump -mode=events FILE") }
func FuzzPablo(f *testing.F)    { fuzzCommand(f, "convert -to=sddfa FILE") }
func FuzzPacked(f *testing.F)   { fuzzCommand(f, "convert -to=zstd FILE") }
func FuzzCut(f *testing.F)      { fuzzCommand(f, "cut -from 1us -to 1ms -o - FILE") }
func FuzzIndex(f *testing.F)    { fuzzCommand(f, "index FILE") }
func FuzzMerge(f *testing.F)    { fuzzCommand(f, "merge -by ticks FILE FILE") }
func FuzzReduce(f *testing.F)   { fuzzCommand(f, "reduce -ext=profile,locks FILE OUT") }
func FuzzCritical(f *testing.F) { fuzzCommand(f, "critical -json FILE") }
func FuzzCorrect(f *testing.F)  { fuzzCommand(f, "correct FILE") }
func FuzzTimes(f *testing.F)    { fuzzCommand(f, "profile -corrected FILE") }
func FuzzPath(f *testing.F)     { fuzzCommand(f, "critical -html - -procs 3 FILE") }
func FuzzPredict(f *testing.F)  { fuzzCommand(f, "predict -procs 1,3 FILE") }
func FuzzSalvage(f *testing.F)  { fuzzCommand(f, "salvage FILE") }

func fuzzCommand(f *testing.F, command string) {
	bare, sealed := damageable(f)
	for name, data := range bare {
		if len(data) < 300<<10 { // larger ones are mutated too slowly
			f.Add(data)
			f.Add(sealed[name])
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		file := filepath.Join(dir, "x.sddf")
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
		args := strings.Fields(strings.NewReplacer("FILE", file, "OUT", filepath.Join(dir, "out")).Replace(command))
		_, _ = read(t, args...)
	})
}
