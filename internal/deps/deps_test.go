// Package deps tests who may import whom; see docs/ARCHITECTURE.md.
package deps

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// allowed lists the packages of this module that each may import. What reads
// never imports what instruments, and what instruments nothing that reads; they
// meet in the format.
var allowed = map[string][]string{
	"sddf/spec":       nil,
	"sddf":            {"sddf/spec"},
	"sddf/text":       {"sddf", "sddf/spec"},
	"sddf/pack":       {"sddf", "sddf/spec"},
	"sddf/pablo":      {"sddf", "sddf/spec", "sddf/text"},
	"sddf/salvage":    {"sddf", "sddf/spec"},
	"trace":           {"ratecontrol", "sddf", "sddf/salvage", "sddf/spec"},
	"trace/tracetest": {"sddf", "sddf/spec", "trace"},

	"analysis/profile": {"sddf/spec", "trace"},
	"report":           {"analysis/profile", "sddf/spec", "trace"},

	"ratecontrol":         nil,
	"settings":            nil,
	"internal/edit":       nil,
	"instrument/points":   {"sddf/spec"},
	"instrument/rewrite":  {"instrument/points", "internal/edit", "sddf", "sddf/spec"},
	"instrument":          {"instrument/points", "instrument/rewrite"},
	"runtime/inject":      {"internal/edit", "ratecontrol", "sddf", "sddf/spec", "settings"},
	"instrument/toolexec": {"instrument", "instrument/points", "internal/live", "ratecontrol", "runtime/inject", "settings"},

	"cmd/qinst": {"analysis/profile", "extensions", "instrument/points", "instrument/toolexec", "report", "sddf", "sddf/pablo", "sddf/pack", "sddf/salvage", "sddf/spec", "sddf/text", "settings", "trace"},

	"extensions": {"sddf", "sddf/spec"},

	"debug": {"ratecontrol", "sddf", "sddf/spec", "trace"},

	"qinst.dev": nil, // part of programs that are observed

	"internal/live":            nil,
	"internal/live/qinst":      nil,
	"internal/live/debug":      nil,
	"internal/live/extensions": nil,
	"internal/live/sddf":       nil,

	"internal/deps":    nil,
	"internal/oracle":  {"trace"},
	"internal/suites":  {"trace"},
	"internal/servers": {"analysis/profile", "trace", "trace/tracetest"},

	"internal/counts":       {"sddf/spec", "trace"},
	"internal/progen":       nil,
	"internal/progen/write": {"internal/progen"},
}

func TestImportOrder(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "qinst.dev/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		pkg := strings.TrimPrefix(f[0], "qinst.dev/")
		list, ok := allowed[pkg]
		if !ok {
			t.Errorf("%s is not in the list of who may import whom", pkg)
			continue
		}
		seen++
		for _, imp := range f[1:] {
			if own, ours := strings.CutPrefix(imp, "qinst.dev/"); ours && !slices.Contains(list, own) {
				t.Errorf("%s must not import %s", pkg, own)
			}
		}
	}
	if seen != len(allowed) {
		t.Errorf("found %d packages, expected %d", seen, len(allowed))
	}
}

// linked are the packages outside of the standard library that a user's program links
// with each of ours that it may import: no compressor, and but for debug nothing that
// reads traces.
var linked = map[string][]string{
	"qinst.dev":            {"qinst.dev"},
	"qinst.dev/sddf":       {"qinst.dev/sddf", "qinst.dev/sddf/spec"},
	"qinst.dev/extensions": {"qinst.dev/extensions", "qinst.dev/sddf", "qinst.dev/sddf/spec"},
	"qinst.dev/debug": {"qinst.dev", "qinst.dev/debug", "qinst.dev/ratecontrol", "qinst.dev/sddf", "qinst.dev/sddf/salvage", "qinst.dev/sddf/spec",
		"qinst.dev/trace"}, // trace and what it needs: for a part of a trace, over HTTP
}

func TestLinked(t *testing.T) {
	for pkg, want := range linked {
		out, err := exec.Command("go", "list", "-deps", "-f", `{{if not .Standard}}{{.ImportPath}}{{end}}`, pkg).Output()
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Fields(string(out))
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("a program that imports %s links %v, expected %v", pkg, got, want)
		}
	}
}

// TestFileHalf checks that a program that imports extensions has nothing of their other
// half, which reduces files: the linker leaves out what nobody calls.
func TestFileHalf(t *testing.T) {
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod":  "module example.com/prog\n\ngo 1.26\n\nrequire qinst.dev v0.0.0\n\nreplace qinst.dev => " + root + "\n",
		"main.go": "package main\n\nimport _ \"qinst.dev/extensions\"\n\nfunc main() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("build", "-o", "prog", ".")
	symbols := run("tool", "nm", "prog")
	if !strings.Contains(symbols, "qinst.dev/extensions.") {
		t.Error("the program has nothing of extensions at all")
	}
	if strings.Contains(symbols, "extensions.(*File)") || strings.Contains(symbols, "qinst.dev/sddf.(*Reader).Packets") {
		t.Error("the program links what reduces files")
	}
}
