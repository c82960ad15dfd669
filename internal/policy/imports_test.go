// Package policy tests rules for the whole tree: the import order (docs/ARCHITECTURE.md),
// requirements of modules, form and language of code and documents.
package policy

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"qinst.dev/runtime/api"
)

// root is that of the repository.
const root = "../.."

// importOrder is the import order of the modules. "a < b" means that b may import a, and all that a
// may import; lists are separated by commas. Packages below internal are named from there. Packages
// of other modules stand in it where they may be imported from; the standard library may be
// imported from everywhere. NONE is no package: packages that are compiled into package runtime, or
// into programs, must stay leaves.
//
// Readers never import the instrumentation, and the instrumentation no readers: they meet in the
// format. An analysis imports trace and the replay, never another analysis; except for the path
// with its weights, and corrections, which need computed runs; conclusions, which rest on them all;
// and experiments, which keep the conclusions of their first run.
const importOrder = `
	NONE < instrument/internal/goobj, sddf/spec, ratecontrol, runtime/settings, runtime/edit, trials/progen, measure, hist, extensions/qinst;
	golang.org/x/sys/unix < lab;
	measure < names;
	NONE < runtime/api/qinst, runtime/api/debug, runtime/api/extensions, runtime/api/sddf, runtime/api;

	# the format
	sddf/spec < sddf;
	sddf, github.com/vmihailenco/msgpack/v5, github.com/vmihailenco/msgpack/v5/msgpcode < format/message < format/text < format/pablo;
	sddf, github.com/klauspost/compress/zstd < format/pack;
	sddf < format/salvage;

	# what reads
	gonum.org/v1/gonum/stat, gonum.org/v1/gonum/stat/distuv < stats;
	format/salvage, format/message, names, ratecontrol, stats < trace;
	trace < trace/tracetest;
	trace < analysis/replay;
	trace < analysis/price;
	analysis/replay, analysis/price, hist < analysis/profile;
	analysis/replay, analysis/price < analysis/steps < analysis/sim < analysis/predict < analysis/critpath;
	analysis/predict, analysis/price < analysis/correct;
	stats < analysis/critpath;
	gonum.org/v1/gonum/stat/distuv < analysis/doe;
	analysis/profile, analysis/critpath, measure < analysis/advice;
	analysis/advice, analysis/doe, stats < analysis/delays;
	measure < report/doc, analysis/steps;
	analysis/delays, analysis/predict, measure < analysis/why;
	analysis/advice, analysis/critpath, analysis/doe, analysis/delays, analysis/correct, analysis/why, report/doc, github.com/google/pprof/profile < report;

	# forms of other tools
	NONE < export/wire;
	analysis/replay, export/wire < export/lanes < export/perfetto, export/chrome;
	analysis/steps, export/wire < export/otlp;
	analysis/profile, export/lanes, github.com/parquet-go/parquet-go, github.com/parquet-go/parquet-go/compress/zstd < export/parquet;
	analysis/profile < export/collapsed, export/speedscope, export/firefox, export/prometheus;
	format/pack, trace/tracetest, pgregory.net/rapid, export/lanes < export/lanes/lanestest;
	report < report/experiment;
	export/lanes, report/experiment < view;

	# what instruments
	sddf/spec, runtime/api, names, golang.org/x/tools/go/ssa, golang.org/x/tools/go/types/typeutil < instrument/points;
	sddf, instrument/points, runtime/edit < instrument/rewrite;
	instrument/rewrite < instrument;
	sddf, runtime/edit, ratecontrol, runtime/settings < runtime/inject;
	golang.org/x/arch/x86/x86asm < instrument/internal/goobj;
	instrument, instrument/rewrite, instrument/internal/goobj, runtime/inject, runtime/api, github.com/BurntSushi/toml < instrument/toolexec;

	# experiments: what runs programs reads no traces, and each experiment reads what it compares
	lab, trace, stats, report/doc < lab/check;
	lab, analysis/advice, analysis/why, stats, report/doc < lab/gate;
	lab, analysis/advice, analysis/critpath, analysis/steps, analysis/predict, analysis/profile, analysis/replay, analysis/delays, ratecontrol, runtime/settings < lab/delays;
	lab/delays, analysis/why < lab/why;
	lab, analysis/advice, analysis/correct, stats, report/doc < lab/verify;
	NONE < lab/verify/workload;

	# what programs import
	sddf < extensions;
	sddf, github.com/vmihailenco/msgpack/v5 < sddf/msgpack;
	extensions/qinst, sddf < extensions/debug;

	# the command
	report, report/experiment, export/perfetto, export/otlp, export/parquet, export/chrome, export/collapsed, export/speedscope, export/firefox, export/prometheus, view, lab/check, lab/why, lab/gate, lab/verify, instrument/toolexec, extensions, format/pablo, format/pack, report/doc, golang.org/x/tools/go/packages, golang.org/x/tools/txtar, golang.org/x/sys/unix < cmd/qinst;

	runtime/api, golang.org/x/mod/module, golang.org/x/mod/semver, golang.org/x/mod/zip < scripts/release;

	# programs that tests build and run
	runtime/api, trace, github.com/rogpeppe/go-internal/lockedfile < runtime/e2e;

	NONE < policy;
	extensions < api/extensions;
	sddf < api/sddf;

	# trials: what is compared with oracles, and the command that runs them
	trace, golang.org/x/exp/trace < trials/oracle;
	lab < trials/bench;
	trials/bench < trials/soak, trials/process;
	trials/bench, analysis/advice, trace < trials/othertests;
	trials/bench, trace, golang.org/x/tools/cover < trials/counts;
	trials/bench, trace/tracetest, analysis/profile < trials/servers;
	trials/bench, trace, stats < trials/instructions;
	trials/bench, analysis/advice, stats, github.com/google/pprof/profile < trials/bottlenecks;
	trials/bench, trace, analysis/advice < trials/interference;
	trials/bench, analysis/critpath < trials/paths;
	trials/bench, analysis/correct < trials/corrections;
	trials/bench, analysis/predict, analysis/why < trials/gains;
	trials/bench, analysis/advice, stats < trials/cases;
	trials/bench, stats < trials/delays;
	trials/bench, analysis/advice, stats < trials/fresh;
	trials/bottlenecks, trials/cases, trials/fresh, trials/gains < trials/duel;
	trials/soak, trials/process, trials/othertests, trials/counts, trials/servers, trials/instructions, trials/bottlenecks, trials/interference, trials/paths,
		trials/cases, trials/corrections, trials/delays, trials/duel, trials/fresh, trials/gains, trials/progen, runtime/settings, runtime/api < trials;
`

// testImports are further imports of tests, besides those of their package and the package itself:
// "a < b" says that b's tests may import a; TESTS are all packages'.
const testImports = `
	pgregory.net/rapid, trace/tracetest, golang.org/x/tools/txtar < TESTS;
	export/lanes/lanestest < export/lanes, export/perfetto, export/chrome, export/otlp, export/parquet, export/collapsed, export/speedscope, export/firefox, export/prometheus, view;
	go.opentelemetry.io/proto/slim/otlp/common/v1, go.opentelemetry.io/proto/slim/otlp/trace/v1, google.golang.org/protobuf/proto < export/otlp;
	github.com/vmihailenco/msgpack/v5 < api/sddf;
	trace < api/extensions;
	ratecontrol < runtime/settings;
	instrument/toolexec, runtime/inject < instrument;
	instrument < instrument/points, instrument/rewrite;
	github.com/rogpeppe/go-internal/testscript, runtime/e2e < cmd/qinst;
	report, trials/oracle, trials/progen < runtime/e2e;
	golang.org/x/tools/go/packages, golang.org/x/tools/go/analysis/checker,
	golang.org/x/tools/go/analysis/suite/vet, runtime/api < policy;
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

// short is a package's name in the order.
func short(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, api.Module+"/"), "internal/")
}

func list(t *testing.T) (packages []listed) {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}};{{join .Imports " "}};{{join .TestImports " "}} {{join .XTestImports " "}}`, api.Module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), ";")
		packages = append(packages, listed{short(f[0]), strings.Fields(f[1]), strings.Fields(f[2])})
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
	o, packages := parse(t, importOrder), list(t)
	for _, p := range packages {
		if _, ok := o[p.name]; !ok {
			t.Errorf("%s is not in the import order: say what it may import", p.name)
			continue
		}
		may := o.below(p.name)
		for _, path := range p.imports {
			if !std(path) && !may[short(path)] {
				t.Errorf("%s must not import %s", p.name, short(path))
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
	o, tests := parse(t, importOrder), parse(t, testImports)
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
			if !std(path) && !may[short(path)] {
				t.Errorf("tests of %s must not import %s", p.name, short(path))
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
	"qinst.dev/sddf":             {"qinst.dev/sddf", "qinst.dev/sddf/spec"},
	"qinst.dev/extensions":       {"qinst.dev/extensions", "qinst.dev/sddf", "qinst.dev/sddf/spec"},
	"qinst.dev/extensions/qinst": {"qinst.dev/extensions/qinst"},
	"qinst.dev/extensions/debug": {"qinst.dev/extensions/debug", "qinst.dev/extensions/qinst", "qinst.dev/sddf",
		"qinst.dev/sddf/spec"},
}

func TestLinked(t *testing.T) {
	t.Parallel()
	for pkg, want := range linked {
		out, err := exec.Command("go", "list", "-deps", "-f", `{{if not .Standard}}{{.ImportPath}}{{end}}`,
			pkg).Output()
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

// program writes a module beside this one that requires and replaces so, and a main that imports
// packages. The returned function runs the go command there.
func program(t *testing.T, requires string, imports ...string) func(args ...string) string {
	t.Helper()
	dir := t.TempDir()
	main := "package main\n\n"
	for _, path := range imports {
		main += fmt.Sprintf("import _ %q\n", path)
	}
	for name, text := range map[string]string{"go.mod": "module example.com/prog\n\ngo 1.23.0\n\n" + requires,
		"main.go": main + "\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return func(args ...string) string {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
}

// requiresUs requires the modules that programs import, as they are here.
func requiresUs(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, name := range []string{"extensions", "sddf"} {
		text += fmt.Sprintf("require %s/%s v0.0.0\n\nreplace %[1]s/%[2]s => %[3]s/%[2]s\n\n", api.Module, name, dir)
	}
	return text
}

// TestFileHalf checks that a program that imports extensions has nothing of their other
// half, which reduces files: the linker leaves out functions that are never called.
func TestFileHalf(t *testing.T) {
	t.Parallel()
	run := program(t, requiresUs(t), api.Module+"/extensions")
	run("build", "-o", "prog", ".")
	symbols := run("tool", "nm", "prog")
	if !strings.Contains(symbols, "qinst.dev/extensions.") {
		t.Error("the program has nothing of extensions at all")
	}
	if strings.Contains(symbols, "extensions.(*File)") ||
		strings.Contains(symbols, "qinst.dev/sddf.(*Reader).Packets") {
		t.Error("the program links what reduces files")
	}
}

// TestNothingDragged builds a program that imports all that programs may import. Each module that
// it requires must stay at the version it asks for, though the command needs newer ones: those that
// are in its go.mod.
func TestNothingDragged(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	old := ""
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v(\d)\.`).FindAllStringSubmatch(string(text), -1) {
		if strings.HasPrefix(m[1], api.Module+"/") {
			continue
		}
		// One of each, older than any other and empty, takes the place of all versions.
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+m[1]+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		old += fmt.Sprintf("require %s v%s.0.0-00010101000000-000000000000\n\nreplace %[1]s => %[3]s\n\n", m[1], m[2],
			dir)
	}
	if strings.Count(old, "require") < 10 {
		t.Fatalf("found few modules that the command requires:\n%s", text)
	}
	want := program(t, old)("list", "-m", "all")
	with := program(t, old+requiresUs(t), slices.Sorted(maps.Keys(linked))...)
	with("build", "-o", "prog", ".")
	var got []string
	for line := range strings.Lines(with("list", "-m", "all")) {
		if !strings.HasPrefix(line, api.Module+"/") {
			got = append(got, line)
		}
	}
	if version := strings.TrimSpace(with("list", "-m", "-f", "{{.GoVersion}}")); version != "1.23.0" {
		t.Errorf("with %s the program needs Go %s, expected what it says itself", api.Module, version)
	}
	if got := strings.Join(got, ""); got != want {
		t.Errorf("with %s the program has the modules\n%swithout\n%s", api.Module, got, want)
	}
}
