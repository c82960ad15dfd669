package rewrite_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"qinst.dev/instrument"
	"qinst.dev/instrument/points"
	"qinst.dev/sddf/spec"
)

var update = flag.Bool("update", false, "write what came out into the archives")

// TestPairs compares what becomes of small texts with what is written below each of them. An
// archive of testdata says in its first line which kinds of points it is about, and may say in its
// second one which procedures are small, or that they have twins. Its files are pairs: NAME.go is
// what goes in, and NAME.want what comes out, without the line directive in front. There @ stands
// for the prefix of generated names, as in the templates, and @r for that of results.
func TestPairs(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("found archives %v, %v, expected some", archives, err)
	}
	for _, name := range archives {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(ar.Comment), "\n")
		kinds, err := points.ParseKinds(strings.Fields(strings.TrimPrefix(first, "kinds:")))
		limits := points.Limits{Kinds: kinds, Twins: second(ar.Comment) == "form: twins"}
		_, _ = fmt.Sscanf(second(ar.Comment), "small: %d", &limits.Small)
		if err != nil || len(ar.Files) == 0 {
			t.Fatalf("%s: %d files, %v", name, len(ar.Files), err)
		}
		for i := 0; i+1 < len(ar.Files); i += 2 {
			in, want := ar.Files[i], &ar.Files[i+1]
			got := rewritten(t, in, limits)
			if *update {
				want.Data = []byte(got)
			} else if d := difference(got, string(want.Data)); d != "" {
				t.Errorf("%s: %s: %s", name, in.Name, d)
			}
			// Twins have names of their own, and name again what their literals hold.
			if moved := moved(t, string(in.Data), strings.ReplaceAll(got, "@", "_")); len(moved) > 0 && !limits.Twins {
				t.Errorf("%s: %s: found %v, expected that names keep their lines", name, in.Name, moved)
			}
		}
		if *update {
			if err := os.WriteFile(name, txtar.Format(ar), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// second returns the second line of a text.
func second(text []byte) string {
	_, rest, _ := strings.Cut(string(text), "\n")
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// rewritten is a file with its probes. Nothing in it is inlined: the compiler is not asked.
func rewritten(t *testing.T, f txtar.File, limits points.Limits) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), f.Name)
	if err := os.WriteFile(name, f.Data, 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := instrument.Load(&instrument.Source{
		Path: "p", ImportPath: "p", Files: []string{name}, Lang: "go1.26", GOARCH: runtime.GOARCH,
		FileName: filepath.Base,
	})
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan *points.Inlining, 1)
	told <- points.ParseInlining(nil)
	files, err := p.Rewrite(p.Points(told, limits))
	if err != nil || len(files) != 2 {
		t.Fatalf("%s: %d files, %v, expected the table and one with probes", f.Name, len(files), err)
	}
	line, rest, _ := strings.Cut(string(files[1].Text), "\n")
	if want := "//line " + name + ":1:1"; line != want {
		t.Errorf("%s: the first line is %q, expected %q", f.Name, line, want)
	}
	prefix := "_qinst_"
	if strings.Contains(string(f.Data), prefix) {
		prefix = "_qinst1_"
	}
	return strings.NewReplacer(prefix, "@", "ʳ", "@r").Replace(rest)
}

// moved lists the names, and their lines, that are in one of two texts and not in the other.
// Generated names, which begin with _, do not count.
func moved(t *testing.T, before, after string) (list []string) {
	t.Helper()
	a, b := lines(t, before), lines(t, after)
	for at := range a {
		if !b[at] {
			list = append(list, "no "+at)
		}
	}
	for at := range b {
		if !a[at] {
			list = append(list, at)
		}
	}
	return list
}

// lines returns the names of a text with the lines that the compiler gives them.
func lines(t *testing.T, text string) map[string]bool {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "a.go", text, parser.ParseComments)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	found := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !strings.HasPrefix(id.Name, "_") {
			found[fmt.Sprintf("%s in line %d", id.Name, fset.Position(id.Pos()).Line)] = true
		}
		return true
	})
	return found
}

// difference tells where two texts differ first.
func difference(got, want string) string {
	lines := strings.Split(want, "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(lines) {
			return "found more than expected:\n" + line
		}
		if line != lines[i] {
			return "found\n" + line + "\nexpected\n" + lines[i]
		}
	}
	return ""
}

// TestCallees: the bytes that name the points with a word for their callee are as they are,
// whatever stands for the prefix in templates.
func TestCallees(t *testing.T) {
	t.Parallel()
	const calls = 150 // so that '@', '%', '"' and '\\' are among the numbers
	got := wordsOf(t, "package p\n\nfunc many(f func()) {\n"+strings.Repeat("\tf()\n", calls)+"}\n")
	if len(got) != calls {
		t.Fatalf("%d words, expected %d", len(got), calls)
	}
	for k, n := range got {
		if n != uint32(k+1) {
			t.Errorf("word %d is of point %d, expected %d", k, n, k+1)
		}
	}
}

// TestWords: a point has one word at most. The next package's words stand behind those of as many
// as a package has points.
func TestWords(t *testing.T) {
	t.Parallel()
	const loops = 10
	text := "package p\n\nfunc start(f func()) { go many(f) }\n\nfunc many(f func()) {\n" +
		strings.Repeat("\tfor range 10 { f() }\n", loops) + "}\n"
	of := map[uint32]int{}
	for k, n := range wordsOf(t, text) {
		if turns := k >= loops; turns != (n&spec.UnitWord != 0) {
			t.Errorf("word %d is of %#x, expected those of loops behind those of calls", k, n)
		}
		of[n&^spec.UnitWord]++
	}
	if len(of) != 2*loops {
		t.Errorf("%d points have words, expected %d: %v", len(of), 2*loops, of)
	}
	for n, words := range of {
		if words != 1 {
			t.Errorf("point %d has %d words", n, words)
		}
	}
}

// wordsOf returns the points that have a word in ledgers, in the order of the words.
func wordsOf(t *testing.T, text string) (list []uint32) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "many.go")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := instrument.Load(&instrument.Source{
		Path: "p", ImportPath: "p", Files: []string{name}, Lang: "go1.26", GOARCH: runtime.GOARCH,
		FileName: filepath.Base,
	})
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan *points.Inlining, 1)
	told <- points.ParseInlining(nil)
	files, err := p.Rewrite(p.Points(told, points.Limits{}))
	if err != nil {
		t.Fatal(err)
	}
	_, quoted, _ := strings.Cut(string(files[0].Text), "var _qinst_callees = ")
	quoted, _, _ = strings.Cut(quoted, "\n")
	got, err := strconv.Unquote(quoted)
	if err != nil || len(got)%4 != 0 {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	for ; len(got) > 0; got = got[4:] {
		list = append(list, binary.LittleEndian.Uint32([]byte(got)))
	}
	return list
}
