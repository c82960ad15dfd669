// Package deps tests who may import whom; see docs/ARCHITECTURE.md.
package deps

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// policy is the import order of this module. "a < b" means that b may import a, and all that a
// may import; lists are separated by commas. Packages of other modules stand in it where they may
// be imported from; the standard library may be imported from everywhere. NONE is no package: what
// is compiled into package runtime, or into programs, must stay a leaf.
//
// What reads never imports what instruments, and what instruments nothing that reads: they meet
// in the format. An analysis imports trace and the replay, never another analysis.
const policy = `
	NONE < internal/goobj, sddf/spec, ratecontrol, settings, internal/edit, internal/progen, internal/measure, internal/hist, lab, qinst.dev;
	NONE < internal/live/qinst, internal/live/debug, internal/live/extensions, internal/live/sddf, internal/live;

	# the format
	sddf/spec < sddf;
	sddf < sddf/text < sddf/pablo;
	sddf, github.com/klauspost/compress/zstd < sddf/pack;
	sddf < sddf/salvage;

	# what reads
	gonum.org/v1/gonum/stat, gonum.org/v1/gonum/stat/distuv < internal/stats;
	sddf/salvage, ratecontrol, internal/stats < trace;
	trace < trace/tracetest;
	trace < analysis/replay;
	analysis/replay, internal/hist < analysis/profile;
	analysis/profile, internal/measure < analysis/advice;
	internal/measure < report/doc;
	analysis/advice, report/doc, github.com/google/pprof/profile < report;

	# what instruments
	sddf/spec, internal/live, golang.org/x/tools/go/ssa, golang.org/x/tools/go/types/typeutil < instrument/points;
	sddf, instrument/points, internal/edit < instrument/rewrite;
	instrument/rewrite < instrument;
	sddf, internal/edit, ratecontrol, settings < runtime/inject;
	instrument, instrument/rewrite, internal/goobj, runtime/inject, internal/live, github.com/BurntSushi/toml < instrument/toolexec;

	# experiments: what runs programs reads no traces, and each experiment reads what it compares
	lab, trace, internal/stats, report/doc < lab/check;

	# what programs import
	sddf < extensions;
	qinst.dev, sddf, ratecontrol, settings < debug;

	# the command
	report, lab/check, instrument/toolexec, extensions, sddf/pablo, sddf/pack, report/doc, golang.org/x/tools/txtar, golang.org/x/sys/unix < cmd/qinst;

	# suites and oracles
	NONE < internal/deps, internal/docs, internal/kept;
	trace, golang.org/x/exp/trace < internal/oracle;
	trace < internal/suites;
	trace, golang.org/x/tools/cover < internal/counts;
	trace/tracetest, analysis/profile, lab < internal/servers;
	internal/kept, lab, trace, internal/stats < internal/instructions;
	internal/kept, lab, analysis/advice, internal/stats, github.com/google/pprof/profile < internal/field;
	internal/kept, lab, trace, analysis/advice < internal/machine;
	internal/progen < internal/progen/write;
`

// testPolicy is what tests may import beyond their package's own imports and the package itself:
// "a < b" says that b's tests may import a; TESTS are all packages'.
const testPolicy = `
	pgregory.net/rapid, trace/tracetest, golang.org/x/tools/txtar < TESTS;
	github.com/vmihailenco/msgpack/v5 < sddf;
	trace < extensions, debug;
	instrument/toolexec, runtime/inject < instrument;
	instrument < instrument/points, instrument/rewrite;
	github.com/rogpeppe/go-internal/testscript, internal/oracle, internal/progen < cmd/qinst;
	golang.org/x/tools/go/packages < internal/deps;
`

// order is a policy: by package those named before it.
type order map[string][]string

func parse(t *testing.T, policy string) order {
	t.Helper()
	o := order{}
	var text strings.Builder
	for line := range strings.Lines(policy) {
		line, _, _ = strings.Cut(line, "#")
		text.WriteString(line)
	}
	for rule := range strings.SplitSeq(text.String(), ";") {
		var before []string
		for i, list := range strings.Split(rule, "<") {
			var names []string
			for name := range strings.SplitSeq(list, ",") {
				if name = strings.TrimSpace(name); name != "" {
					names = append(names, name)
				}
			}
			if i > 0 {
				for _, name := range names {
					o[name] = append(o[name], before...)
				}
			}
			before = names
		}
	}
	return o
}

// below are all packages that a package may import.
func (o order) below(name string) map[string]bool {
	seen := map[string]bool{}
	var walk func(string)
	walk = func(name string) {
		for _, b := range o[name] {
			if !seen[b] {
				seen[b] = true
				walk(b)
			}
		}
	}
	walk(name)
	return seen
}

// listed is a package as the go command lists it.
type listed struct {
	name           string
	imports, tests []string
}

const module = "qinst.dev/"

func list(t *testing.T) (packages []listed) {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}};{{join .Imports " "}};{{join .TestImports " "}} {{join .XTestImports " "}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), ";")
		packages = append(packages, listed{strings.TrimPrefix(f[0], module), strings.Fields(f[1]), strings.Fields(f[2])})
	}
	return packages
}

// std reports whether an import path is of the standard library.
func std(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func TestImportOrder(t *testing.T) {
	t.Parallel()
	o, packages := parse(t, policy), list(t)
	for _, p := range packages {
		if _, ok := o[p.name]; !ok {
			t.Errorf("%s is not in the import order: say what it may import", p.name)
			continue
		}
		may := o.below(p.name)
		for _, path := range p.imports {
			name := strings.TrimPrefix(path, module)
			if !std(path) && !may[name] {
				t.Errorf("%s must not import %s", p.name, name)
			}
		}
		if may[p.name] {
			t.Errorf("the order has a circle at %s", p.name)
		}
	}
	for name := range o {
		if !slices.ContainsFunc(packages, func(p listed) bool { return p.name == name }) {
			t.Errorf("%s is in the import order, and is no package", name)
		}
	}
}

func TestTestImports(t *testing.T) {
	t.Parallel()
	o, tests := parse(t, policy), parse(t, testPolicy)
	checked := 0
	for _, p := range list(t) {
		may := o.below(p.name)
		may[p.name] = true
		for _, name := range slices.Concat(tests["TESTS"], tests[p.name]) {
			may[name] = true
			for b := range o.below(name) {
				may[b] = true
			}
		}
		for _, path := range p.tests {
			checked++
			if name := strings.TrimPrefix(path, module); !std(path) && !may[name] {
				t.Errorf("tests of %s must not import %s", p.name, name)
			}
		}
	}
	if checked < 100 {
		t.Errorf("found %d imports of tests, expected many", checked)
	}
}

// Breaking the order must be found: a policy that lacks one arrow has one more error.
func TestOrderCanFail(t *testing.T) {
	t.Parallel()
	o := parse(t, "a < b < c; d < c")
	for name, want := range map[string]string{"a": "[]", "b": "[a]", "c": "[a b d]"} {
		var got []string
		for b := range o.below(name) {
			got = append(got, b)
		}
		if slices.Sort(got); fmt.Sprint(got) != want {
			t.Errorf("%s may import %v, expected %s", name, got, want)
		}
	}
	if o = parse(t, "a < b; b < a"); !o.below("a")["a"] {
		t.Error("a circle was not found")
	}
}

// linked are the packages outside of the standard library that a user's program links
// with each of ours that it may import: no compressor, and nothing that reads traces.
var linked = map[string][]string{
	"qinst.dev":            {"qinst.dev"},
	"qinst.dev/sddf":       {"qinst.dev/sddf", "qinst.dev/sddf/spec"},
	"qinst.dev/extensions": {"qinst.dev/extensions", "qinst.dev/sddf", "qinst.dev/sddf/spec"},
	"qinst.dev/debug": {"qinst.dev", "qinst.dev/debug", "qinst.dev/ratecontrol", "qinst.dev/sddf", "qinst.dev/sddf/spec",
		"qinst.dev/settings"}, // the last for what a request asks for
}

func TestLinked(t *testing.T) {
	t.Parallel()
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
