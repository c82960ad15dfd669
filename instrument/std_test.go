package instrument_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"qinst.dev/instrument"
	"qinst.dev/instrument/internal/goobj"
	"qinst.dev/instrument/points"
	"qinst.dev/instrument/toolexec"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/runtime/inject"
)

// world are packages of many styles, and wide are more of them, which take longer. With -short only
// the first one is taken.
var (
	world = []string{"text/template", "encoding/json", "time", "sync", "database/sql", "compress/flate", "os", "sort",
		"log/slog", "container/list"}
	wide = []string{"net/http", "go/types", "math/big", "regexp", "go/parser", "internal/trace", "crypto/tls",
		"encoding/gob", "html/template"}
)

// TestStd runs the pass over packages of the standard library and asks the
// compiler three things: does it call each function as we do, are the functions
// that it does not inline probed, does it accept the result.
func TestStd(t *testing.T) {
	t.Parallel()
	world := world
	switch {
	case testing.Short():
		world = world[:1]
	case tracetest.Thorough():
		world = slices.Concat(world, wide)
	}
	w := listWorld(t, world)
	for _, path := range world {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			w.check(t, path)
		})
	}
}

type pkg struct {
	ImportPath, Dir, Export string
	GoFiles, SFiles         []string
	ImportMap               map[string]string
}

type worldList struct {
	pkgs map[string]*pkg
	cfg  string
	tool string

	passed, loading time.Duration // the last pass that was measured, and the processor time of its parsing and types
}

func listWorld(t testing.TB, paths []string) *worldList {
	t.Helper()
	w := &worldList{pkgs: map[string]*pkg{}, cfg: filepath.Join(t.TempDir(), "importcfg")}
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps",
		"-json=ImportPath,Dir,Export,GoFiles,SFiles,ImportMap"}, paths...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var cfg strings.Builder
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &pkg{}
		if err := d.Decode(p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		w.pkgs[p.ImportPath] = p
		for from, to := range p.ImportMap {
			fmt.Fprintf(&cfg, "importmap %s=%s\n", from, to)
		}
		if p.Export != "" {
			fmt.Fprintf(&cfg, "packagefile %s=%s\n", p.ImportPath, p.Export)
		}
	}
	dir, err := exec.Command("go", "env", "GOTOOLDIR").Output()
	if err != nil {
		t.Fatal(err)
	}
	w.tool = filepath.Join(strings.TrimSpace(string(dir)), "compile")
	if err := os.WriteFile(w.cfg, []byte(cfg.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	w.observed(t, cfg.String())
	return w
}

// observed puts the runtime as the tool compiles it in the place of Go's own: code that counts in
// line names a function of it.
func (w *worldList) observed(t testing.TB, cfg string) {
	t.Helper()
	p := w.pkgs["runtime"]
	if p == nil {
		return
	}
	var files []string
	for _, f := range p.GoFiles {
		files = append(files, filepath.Join(p.Dir, f))
	}
	dir := t.TempDir()
	run := func(tool string, args ...string) {
		if out, err := exec.Command(filepath.Join(filepath.Dir(w.tool), tool), args...).CombinedOutput(); err != nil {
			t.Fatalf("%s runtime: %v\n%.2000s", tool, err, out)
		}
	}
	// The compiler asks which functions are in assembly.
	symabis := filepath.Join(dir, "symabis")
	if err := os.WriteFile(filepath.Join(dir, "go_asm.h"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"-p", "runtime", "-I", dir, "-I", filepath.Join(p.Dir, "..", "..", "pkg", "include"), "-D",
		"GOOS_" + runtime.GOOS, "-D", "GOARCH_" + runtime.GOARCH,
		"-D", "GOAMD64_v1", "-gensymabis", "-o", symabis}
	for _, f := range p.SFiles {
		args = append(args, filepath.Join(p.Dir, f))
	}
	run("asm", args...)
	files, err := inject.Compile(inject.Target{GoVersion: runtime.Version(), GOOS: runtime.GOOS,
		GOARCH: runtime.GOARCH}, files, dir)
	if err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(dir, "runtime.a")
	run("compile", append([]string{"-o", archive, "-p", "runtime", "-std", "-+", "-pack", "-symabis", symabis,
		"-importcfg", w.cfg}, files...)...)
	cfg = strings.ReplaceAll(cfg, "packagefile runtime="+p.Export+"\n", "packagefile runtime="+archive+"\n")
	if err := os.WriteFile(w.cfg, []byte(cfg), 0o666); err != nil {
		t.Fatal(err)
	}
}

func (w *worldList) check(t *testing.T, path string) {
	p := w.pkgs[path]
	src := &instrument.Source{
		Path: path, ImportPath: path, ImportCfg: w.cfg, GOARCH: runtime.GOARCH,
		FileName: func(s string) string { return s },
	}
	for _, f := range p.GoFiles {
		src.Files = append(src.Files, filepath.Join(p.Dir, f))
	}
	out, before := w.compile(t, src, src.Files, "-m=2")
	loaded, err := instrument.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	set := loaded.Points(answer(out), points.Limits{})
	checkNames(t, set, out)
	checkCoverage(t, set, out)
	probed, after := w.compile(t, src, rewritten(t, loaded, set, src), "-m=2")
	checkSame(t, loaded, set, out, probed)
	doubtful, err := toolexec.Mend(after, set)
	if err != nil {
		t.Fatal(err)
	}
	if doubtful != nil {
		for _, fn := range doubtful {
			t.Logf("%s stands once, because names in it are in doubt", fn.Name)
		}
		set.Once(doubtful)
		_, after = w.compile(t, src, rewritten(t, loaded, set, src), "-m=2")
		if doubtful, err = toolexec.Mend(after, set); err != nil || doubtful != nil {
			t.Fatalf("%d functions are still in doubt, %v", len(doubtful), err)
		}
	}
	checkPlainNames(t, before, after)
}

// part is the name of a function that the compiler makes of a part of another, but for those of
// defer statements.
var part = regexp.MustCompile(`(\.(func|gowrap)?|-range)\d+ in`)

// checkPlainNames demands that functions have the names that they have without probes, and begin
// at the same lines. Probes have deferred calls of their own.
func checkPlainNames(t *testing.T, before, after []byte) {
	t.Helper()
	plain, probed := functions(t, before), functions(t, after)
	for name := range probed {
		if !plain[name] && part.MatchString(name) && !strings.Contains(name, hugeFunc) {
			t.Errorf("only with probes: %s", name)
		}
	}
	for name := range plain {
		if !probed[name] && !strings.Contains(name, ".deferwrap") && !strings.Contains(name, hugeFunc) {
			t.Errorf("only without probes: %s", name)
		}
	}
	t.Logf("%d names are the same", len(plain))
}

// functions returns the names of the functions in an object, with their lines.
func functions(t *testing.T, archive []byte) map[string]bool {
	t.Helper()
	object, err := goobj.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	list, err := object.Funcs()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, f := range list {
		if f.Index || f.Named {
			found[fmt.Sprintf("%s in line %d", f.Name, f.Line)] = true
		}
	}
	return found
}

// inlines and allocates are lines of the compiler that must be the same with
// probes: inlined functions and heap allocations.
var (
	inlines   = regexp.MustCompile(`(?m)^\S+?/([^/\s]+\.go:\d+)(?::\d+)?: can inline (.+?)(?: with cost|$)`)
	allocates = regexp.MustCompile(`(?m)^\S+?/([^/\s]+\.go:\d+)(?::\d+)?: (?:moved to heap: (\w+)|.* escapes to heap)$`)
)

// numbers of literals depend on duplicated text, and on other inlining.
var numbers = regexp.MustCompile(`(\.(func)?|-range)\d+`)

// wrapper are the functions that go and defer statements become; they are numbered together.
var wrapper = regexp.MustCompile(`(deferwrap|gowrap)\d+`)

// hugeFile has a function of nearly 5000 nodes. Beyond that the compiler inlines less
// into a function, and probes are nodes.
const (
	hugeFile = "builtins.go:"
	hugeFunc = "(*Checker).builtin."
)

// checkSame compares the compiler's reports on a package without probes and with. It must inline
// the same functions, except for probed ones and those of go and defer statements, and put the same
// values on the heap. Duplicated text, or text inlined there, is reported once or twice, and as
// often again for each function or loop around it that is duplicated; inlined text may be in the
// deepest of them.
func checkSame(t *testing.T, p *instrument.Package, set *points.Set, plain, probed []byte) {
	probes, operative := map[string]bool{}, map[string]bool{}
	for _, fn := range set.Funcs {
		if fn.Changed() {
			name := fn.Name[strings.LastIndex(fn.Name, "/")+1:]
			_, name, _ = strings.Cut(name, ".")
			at := p.Position(fn.Node.Pos())
			probes[name] = true
			operative[name] = fn.Skip != 0
			// in other texts
			probes[fmt.Sprintf("%s:%d %s", filepath.Base(at.Filename), at.Line,
				numbers.ReplaceAllString(name, ""))] = true
		}
	}
	both := func(fn *points.Func) bool { return fn.Bodies.Once == 0 }
	twice, most := linesOf(p, set, false, both), linesOf(p, set, true, both)
	for line, n := range linesOfLoops(p, set) {
		twice[line] += n
		most[line] += n
	}
	deepest := 1
	for _, n := range most {
		deepest = max(deepest, n)
	}
	for _, what := range []*regexp.Regexp{inlines, allocates} {
		count, got := map[string]int{}, map[string]int{}
		for _, m := range what.FindAllSubmatch(plain, -1) {
			key := string(m[1]) + " " + numbers.ReplaceAllString(string(m[2]), "")
			if !probes[string(m[2])] && !probes[key] && !wrapper.Match(m[2]) {
				count[key]++
			}
		}
		for _, m := range what.FindAllSubmatch(probed, -1) {
			if name := string(m[2]); !probes[name] && !wrapper.MatchString(name) &&
				!strings.Contains(string(m[0]), "_qinst_") && !strings.HasPrefix(string(m[1]), "qinst_points.go:") {
				key := string(m[1]) + " " + numbers.ReplaceAllString(name, "")
				if probes[key] {
					continue
				}
				got[key]++
				count[key] += 0
			}
		}
		for key, n := range count {
			line, _, _ := strings.Cut(key, " ")
			depth := most[line]
			if depth == 0 {
				depth = deepest
			}
			if (got[key] < n || got[key] > n<<depth) && !strings.HasPrefix(key, hugeFile) {
				t.Errorf("%s: %d times, %d without probes: %v", key, got[key], n, what)
			}
		}
	}
	once := func(fn *points.Func) bool { return fn.Bodies.Once != 0 && isLiteral(fn) }
	for line := range linesOf(p, set, true, once) {
		delete(twice, line) // probes move the code after them to other columns
	}
	for line := range linesLeft(p, set) {
		delete(twice, line) // likewise
	}
	checkPlainBodies(t, twice, operative, plain, probed)
}

func isLiteral(fn *points.Func) bool {
	_, literal := fn.Node.(*ast.FuncLit)
	return literal
}

// decisions are inlined functions and heap allocations, with columns.
var decisions = regexp.MustCompile(`(?m)^\S+?/([^/\s]+\.go:\d+)(:\d+: (?:inlining call to .*|moved to heap: \w+|.* escapes to heap))$`)

// temporary is the number of a variable of the compiler's own, or of a literal: they are numbered
// by function, so that those of a second body have others.
var temporary = regexp.MustCompile(`autotmp_\d+|(\.(func)?|-range)\d+`)

// checkPlainBodies demands that the compiler decides for the bodies without probes as for the
// original, and at the same lines and columns, but for calls of what operates on objects: these
// functions are not inlined.
func checkPlainBodies(t *testing.T, twice map[string]int, operative map[string]bool, plain, probed []byte) {
	count, calls := map[string]int{}, map[string]bool{}
	at := func(m [][]byte) string { // line and column
		column, _, _ := strings.Cut(string(m[2]), ": ")
		return string(m[1]) + column
	}
	for _, m := range decisions.FindAllSubmatch(plain, -1) {
		if _, name, ok := strings.Cut(string(m[2]), "inlining call to "); ok && operative[name] {
			calls[at(m)] = true
		}
	}
	plain, probed = temporary.ReplaceAll(plain, nil), temporary.ReplaceAll(probed, nil)
	for _, m := range decisions.FindAllSubmatch(probed, -1) {
		count[string(m[1])+string(m[2])]++
	}
	checked := 0
	for _, m := range decisions.FindAllSubmatch(plain, -1) {
		if key := string(m[1]) + string(m[2]); twice[string(m[1])] > 0 && !calls[at(m)] {
			if count[key]--; count[key] < 0 {
				t.Errorf("only without probes: %s", key)
			}
			checked++
		}
	}
	t.Logf("%d decisions are the same in bodies without probes", checked)
}

// linesOfLoops returns the lines in loops that stand twice, and how many of these each is in.
func linesOfLoops(p *instrument.Package, set *points.Set) map[string]int {
	lines := map[string]int{}
	for _, fn := range set.Funcs {
		for _, lp := range fn.Probes.Loops {
			if !lp.Twice {
				continue
			}
			from, to := p.Position(lp.Body), p.Position(lp.BodyEnd())
			for l := from.Line; l <= to.Line; l++ {
				lines[fmt.Sprintf("%s:%d", filepath.Base(from.Filename), l)]++
			}
		}
	}
	return lines
}

// linesLeft returns the lines of what leaves loops in functions that stand once: in bodies of loops
// without probes it has those of the exits.
func linesLeft(p *instrument.Package, set *points.Set) map[string]int {
	lines := map[string]int{}
	for _, fn := range set.Funcs {
		if fn.Bodies.Once == 0 {
			continue
		}
		for _, leave := range fn.Probes.Leaves {
			from, to := p.Position(leave.Stmt.Pos()), p.Position(leave.Stmt.End())
			for l := from.Line; l <= to.Line; l++ {
				lines[fmt.Sprintf("%s:%d", filepath.Base(from.Filename), l)]++
			}
		}
	}
	return lines
}

// linesOf returns the lines of some procedures' bodies, as the compiler names them, and how many
// of these procedures each is in. The first and the last line of a literal are its function's,
// too: they are taken if ends is set.
func linesOf(p *instrument.Package, set *points.Set, ends bool, some func(*points.Func) bool) map[string]int {
	lines := map[string]int{}
	for _, fn := range set.Funcs {
		if fn.Skip != 0 || !some(fn) {
			continue
		}
		from, to := p.Position(fn.Body.Lbrace), p.Position(fn.Body.Rbrace)
		if isLiteral(fn) && !ends {
			from.Line++
			to.Line--
		}
		for line := from.Line; line <= to.Line; line++ {
			lines[fmt.Sprintf("%s:%d", filepath.Base(from.Filename), line)]++
		}
	}
	return lines
}

// answer delivers what the compiler has said.
func answer(out []byte) <-chan *points.Inlining {
	told := make(chan *points.Inlining, 1)
	told <- points.ParseInlining(out)
	return told
}

func rewritten(t *testing.T, p *instrument.Package, set *points.Set, src *instrument.Source) []string {
	t.Helper()
	changed, err := p.Rewrite(set)
	if err != nil {
		t.Fatal(err)
	}
	files := append([]string{}, src.Files...)
	for _, f := range changed {
		name := filepath.Join(t.TempDir(), f.Name)
		if err := os.WriteFile(name, f.Text, 0o666); err != nil {
			t.Fatal(err)
		}
		if f.For == instrument.Added {
			files = append([]string{name}, files...)
		} else {
			files[len(files)-len(src.Files)+f.For] = name
		}
	}
	return files
}

// compile returns what the compiler says, and the package.
func (w *worldList) compile(t *testing.T, src *instrument.Source, files []string, flags ...string) (said,
	archive []byte) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "out.a")
	args := append([]string{"-o", name, "-pack", "-p", src.Path, "-std", "-importcfg", w.cfg}, flags...)
	out, err := exec.Command(w.tool, append(args, files...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("compile %s: %v\n%.2000s", src.Path, err, out)
	}
	if archive, err = os.ReadFile(name); err != nil {
		t.Fatal(err)
	}
	return slim(out), archive
}

// slim leaves out the unused parts of the compiler's long reports.
func slim(said []byte) []byte {
	var kept []byte
	for line := range bytes.Lines(said) {
		if bytes.Contains(line, []byte(" inline ")) || bytes.Contains(line, []byte("inlining call to ")) ||
			bytes.Contains(line, []byte(" to heap")) {
			kept = append(kept, line...)
		}
	}
	return kept
}

// verdict is a line of the compiler; the parser is not the one under test.
var verdict = regexp.MustCompile(`(?m)^\S+?/([^/\s]+\.go:\d+):\d+: (can|cannot) inline (\S+?)(?: with cost|: )`)

func checkNames(t *testing.T, set *points.Set, out []byte) {
	said := map[string]bool{}
	for _, m := range verdict.FindAllSubmatch(out, -1) {
		said[string(m[3])] = true
	}
	names := 0
	for _, fn := range set.Funcs {
		name := fn.Name[strings.LastIndex(fn.Name, "/")+1:]
		_, name, _ = strings.Cut(name, ".")
		if fn.Body == nil || fn.Skip == points.Dead || fn.Skip == points.Blank || strings.Contains(name, "[...]") {
			continue
		}
		names++
		if !said[name] {
			t.Errorf("%s: the compiler knows no such function", fn.Name)
		}
	}
	if names == 0 && len(said) > 0 && set.Funcs[0].Body != nil {
		t.Error("no name was checked")
	}
}

// inlinings are the names of functions that the compiler inlines somewhere.
var inlinings = regexp.MustCompile(`(?m): inlining call to (\S+)$`)

// checkCoverage demands that 99 of 100 functions that are not inlined are probed,
// and 98 that are inlined are not (literals of go statements are, for the
// runtime calls those). Literals that could be inlined and are passed on are neither.
func checkCoverage(t *testing.T, set *points.Set, out []byte) {
	byName := map[string]*points.Func{}
	for _, fn := range set.Funcs {
		name := fn.Name[strings.LastIndex(fn.Name, "/")+1:]
		_, name, _ = strings.Cut(name, ".")
		byName[name] = fn
	}
	called := map[string]bool{}
	for _, m := range inlinings.FindAllSubmatch(out, -1) {
		called[string(m[1])] = true
	}
	probed, all, against, inlined := 0, 0, 0, 0
	reasons := map[points.SkipReason]int{}
	for _, m := range verdict.FindAllSubmatch(out, -1) {
		fn := byName[string(m[3])]
		if fn == nil || fn.Body == nil {
			continue // a copy, a wrapper, a shape; assembly
		}
		if string(m[2]) == "can" {
			if _, literal := fn.Node.(*ast.FuncLit); literal && !called[string(m[3])] {
				continue
			}
			inlined++
			if fn.Skip == 0 {
				against++
			}
			continue
		}
		all++
		if fn.Skip == 0 {
			probed++
		} else {
			reasons[fn.Skip]++
		}
	}
	if probed*100 < all*99 {
		t.Errorf("%d of %d functions that are not inlined are probed; skipped: %v", probed, all, reasons)
	}
	if against*50 > inlined+50 {
		t.Errorf("%d of %d functions that are inlined are probed", against, inlined)
	}
	t.Logf("%d of %d probed, skipped %v; of %d that are inlined %d", probed, all, reasons, inlined, against)
}
