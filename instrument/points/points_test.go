package points_test

import (
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"qinst.dev/instrument"
	"qinst.dev/instrument/points"
	"qinst.dev/sddf/spec"
)

// imported is what the files in testdata may import.
var imported = []string{"math", "math/bits", "sync", "sync/atomic", "runtime", "time", "iter", "testing", "net/http", "qinst.dev/extensions"}

// TestWant compares what is found in each file of testdata with what comments in it say.
// A comment stands on the line of what it is about, and lists points and skips:
//
//	s.mu.Lock() // want call "sync.(*Mutex).Lock", sync lock "p.(*server).mu"
//	f(g()) // want call, skip call "case value"
//
// A point is its kind, the operation if it has one, and its flags; then, if it matters,
// its name. A skip is its kind, and its reason. Whatever is found and not said fails, too.
// What the compiler inlines is what it does inline: it is asked, as in a build.
func TestWant(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.go")
	if err != nil || len(files) < 5 {
		t.Fatalf("found %d files, %v, expected several", len(files), err)
	}
	cfg := importCfg(t)
	seen := map[string]bool{}
	for _, file := range files {
		for _, s := range compare(t, file, cfg).Skips {
			seen[s.Reason.String()] = true
		}
	}
	elsewhere := []points.SkipReason{
		points.Never, points.Unselected, points.Unchecked, // of whole packages
		points.NoSSA,    // the builder must fail
		points.Crowded,  // takes a thousand calls: TestCrowded
		points.TooLarge, // takes thousands of nodes: TestLarge in runtime/e2e
	}
	for r := points.Never; r.String() != "none"; r++ {
		if !seen[r.String()] && !slices.Contains(elsewhere, r) {
			t.Errorf("no file has a skip for the reason %q", r)
		}
	}
}

// compare finds the points of a file, and reports how they differ from what it wants.
func compare(t *testing.T, file, cfg string) *points.Set {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := filepath.Abs(file) // as the go command names it
	if err != nil {
		t.Fatal(err)
	}
	set := find(t, whole, text, cfg)
	found := found(set)
	for i, line := range strings.Split(string(text), "\n") {
		for _, want := range wants(t, fmt.Sprintf("%s:%d", file, i+1), line) {
			at := slices.IndexFunc(found[i+1], want.is)
			if at < 0 {
				t.Errorf("%s:%d: expected %s, found %v", file, i+1, want, found[i+1])
				continue
			}
			found[i+1] = slices.Delete(found[i+1], at, at+1)
		}
		for _, f := range found[i+1] {
			t.Errorf("%s:%d: found %s, which is not expected", file, i+1, f)
		}
		delete(found, i+1)
	}
	for line, list := range found {
		t.Errorf("%s:%d: found %v on a line that is none", file, line, list)
	}
	return set
}

// TestCrowded: only so many calls of a procedure are counted. One with more is too large for
// counters unless nothing is inlined, of which the compiler says nothing.
func TestCrowded(t *testing.T) {
	t.Parallel()
	text := "package p\n\nfunc leaf(n int) bool { for n > 3 { n /= 2 }; return n == 1 }\n\nfunc many(n int) {\n" +
		strings.Repeat("\tif n > 3 { leaf(n) }\n", 1100) + "}\n"
	file := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	crowded := 0
	for _, s := range findBy(t, file, nil, "", points.Limits{}).Skips {
		if s.Reason == points.Crowded {
			crowded++
		}
	}
	if crowded != 100 {
		t.Errorf("found %d calls left out, expected 100", crowded)
	}
}

// TestBodies compares why procedures of a file stand once with comments like // once "large".
// Those without one stand twice.
func TestBodies(t *testing.T) {
	t.Parallel()
	const file = "testdata/bodies.go"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	lines, twice := strings.Split(string(text), "\n"), 0
	for _, p := range find(t, whole, text, importCfg(t)).Points {
		if p.Kind != spec.PointProc {
			continue
		}
		_, want, _ := strings.Cut(lines[p.Line-1], "// once ")
		if want = strings.Trim(want, `"`); p.OneBody.String() != want {
			t.Errorf("%s:%d: %s: found %q, expected %q", file, p.Line, p.Name, p.OneBody, want)
		}
		if p.OneBody == 0 {
			twice++
		}
	}
	if twice == 0 {
		t.Error("no procedure stands twice")
	}
}

// finding is a point or a skip in the words of the comments.
type finding struct {
	words, text string
	named       bool // text is of interest
}

func (f finding) String() string { return fmt.Sprintf("%s %q", f.words, f.text) }

// is reports whether another one is what f wants.
func (f finding) is(other finding) bool {
	return f.words == other.words && (!f.named || f.text == other.text)
}

// found are the points and skips of a set, by line.
func found(set *points.Set) map[int][]finding {
	found := map[int][]finding{}
	for _, p := range set.Points {
		words := p.Kind
		if p.Op != "" {
			words += " " + p.Op
		}
		for _, f := range flags {
			if p.Flags&f.bit != 0 {
				words += " " + f.word
			}
		}
		found[int(p.Line)] = append(found[int(p.Line)], finding{words: words, text: p.Name})
	}
	for _, s := range set.Skips {
		found[int(s.Line)] = append(found[int(s.Line)], finding{words: "skip " + s.Kind, text: s.Reason.String()})
	}
	return found
}

// flags are the words for a point's flags, in this order.
var flags = []struct {
	bit  uint32
	word string
}{
	{spec.FlagDeferExit, "deferexit"}, {spec.FlagLateDefer, "latedefer"}, {spec.FlagDeferred, "deferred"},
	{spec.FlagDynamic, "dynamic"}, {spec.FlagSpin, "spins"}, {spec.FlagForced, "forced"},
	{spec.FlagWeakName, "weak"}, {spec.FlagDerived, "derived"}, {spec.FlagSmall, "small"}, {spec.FlagSummed, "summed"},
	{spec.FlagUnseen, "unseen"}, {spec.FlagPolls, "polls"}, {spec.FlagTimed, "timed"}, {spec.FlagServes, "serves"},
	{spec.FlagAsks, "asks"}, {spec.FlagPaced, "paced"}, {spec.FlagFills, "fills"},
	{spec.FlagChained, "chained"}, {spec.FlagStrides, "strides"}, {spec.FlagNeighbors, "neighbors"},
}

// wants reads the comment of a line: findings, with commas between them.
func wants(t *testing.T, where, line string) (list []finding) {
	t.Helper()
	line, _, _ = strings.Cut(line, " // once ")
	_, rest, ok := strings.Cut(line, "// want ")
	for ok {
		var f finding
		end := strings.IndexAny(rest, `,"`)
		if end < 0 {
			end = len(rest)
		}
		f.words, rest = strings.TrimSpace(rest[:end]), rest[end:]
		if strings.HasPrefix(rest, `"`) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				t.Fatalf("%s: %v in %s", where, err, rest)
			}
			f.text, _ = strconv.Unquote(quoted)
			f.named, rest = true, rest[len(quoted):]
		}
		if f.words == "" || rest != "" && rest[0] != ',' {
			t.Fatalf("%s: found %q, expected words, a name, and a comma", where, rest)
		}
		list = append(list, f)
		rest, ok = strings.CutPrefix(rest, ",")
	}
	return list
}

// find is what a build does with a package of one file.
func find(t *testing.T, file string, text []byte, cfg string) *points.Set {
	t.Helper()
	return findBy(t, file, compile(t, file, cfg), cfg, limits(t, file, text))
}

// findBy finds the points of a file of which the compiler has said something.
func findBy(t *testing.T, file string, said []byte, cfg string, l points.Limits) *points.Set {
	t.Helper()
	p, err := instrument.Load(&instrument.Source{
		Path: "p", ImportPath: "p", Files: []string{file}, ImportCfg: cfg,
		Lang: "go1.26", GOARCH: runtime.GOARCH, FileName: filepath.Base,
	})
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	told := make(chan *points.Inlining, 1)
	told <- points.ParseInlining(said)
	return p.Points(told, l)
}

// limits reads a file's first line, as "// limits: size=10 depth=1".
func limits(t *testing.T, file string, text []byte) (l points.Limits) {
	t.Helper()
	first, _, _ := strings.Cut(string(text), "\n")
	list, ok := strings.CutPrefix(first, "// limits: ")
	for _, item := range strings.Fields(list) {
		name, value, _ := strings.Cut(item, "=")
		n, err := strconv.Atoi(value)
		switch {
		case !ok:
		case name == "size" && err == nil:
			l.Size = n
		case name == "small" && err == nil:
			l.Small = n
		case name == "depth" && err == nil:
			l.Depth = n
		case name == "without":
			l.Without = strings.Split(value, "+")
		case name == "kinds":
			if l.Kinds, err = points.ParseKinds(strings.Split(value, "+")); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
		default:
			t.Fatalf("%s: found limit %q, expected size, small, depth, without or kinds", file, item)
		}
	}
	return l
}

// compile is what the compiler says about a file.
func compile(t *testing.T, file, cfg string) []byte {
	t.Helper()
	tool := filepath.Join(build.ToolDir, "compile")
	out, err := exec.Command(tool, "-m=2", "-p", "p", "-importcfg", cfg, "-o", filepath.Join(t.TempDir(), "p.a"),
		file).CombinedOutput()
	if err != nil {
		t.Fatalf("compile %s: %v\n%s", file, err, out)
	}
	return out
}

// importCfg makes the import configuration of the compile commands.
func importCfg(t *testing.T) string {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-f", `{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}`}
	out, err := exec.Command("go", append(args, imported...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	cfg := filepath.Join(t.TempDir(), "importcfg")
	if err := os.WriteFile(cfg, out, 0o666); err != nil {
		t.Fatal(err)
	}
	return cfg
}
