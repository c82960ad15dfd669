package rewrite_test

import (
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"qinst.dev/instrument"
	"qinst.dev/instrument/points"
)

var update = flag.Bool("update", false, "write what came out into the archives")

// TestPairs compares what becomes of small texts with what is written below each of them.
// An archive of testdata says in its first line which kinds of points it is about. Its
// files are pairs: NAME.go is what goes in, and NAME.want what comes out, without the line
// directive in front. There @ stands for the prefix of generated names, as in the templates.
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
		if err != nil || len(ar.Files) == 0 {
			t.Fatalf("%s: %d files, %v", name, len(ar.Files), err)
		}
		for i := 0; i+1 < len(ar.Files); i += 2 {
			in, want := ar.Files[i], &ar.Files[i+1]
			got := rewritten(t, in, kinds)
			if *update {
				want.Data = []byte(got)
			} else if d := difference(got, string(want.Data)); d != "" {
				t.Errorf("%s: %s: %s", name, in.Name, d)
			}
			if a, b := strings.Count(got, "\n"), strings.Count(string(in.Data), "\n"); a != b {
				t.Errorf("%s: %s: %d lines became %d, expected as many: each must keep its number", name, in.Name, b, a)
			}
		}
		if *update {
			if err := os.WriteFile(name, txtar.Format(ar), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// rewritten is a file with its probes. Nothing in it is inlined: the compiler is not asked.
func rewritten(t *testing.T, f txtar.File, kinds points.Kinds) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), f.Name)
	if err := os.WriteFile(name, f.Data, 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := instrument.Load(&instrument.Source{
		Path: "p", ImportPath: "p", Files: []string{name}, Lang: "go1.26", GOARCH: runtime.GOARCH, FileName: filepath.Base,
	})
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan *points.Inlining, 1)
	told <- points.ParseInlining(nil)
	files, err := p.Rewrite(p.Points(told, points.Limits{Kinds: kinds}))
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
	return strings.ReplaceAll(rest, prefix, "@")
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
	text := "package p\n\nfunc many(f func()) {\n" + strings.Repeat("\tf()\n", calls) + "}\n"
	name := filepath.Join(t.TempDir(), "many.go")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := instrument.Load(&instrument.Source{
		Path: "p", ImportPath: "p", Files: []string{name}, Lang: "go1.26", GOARCH: runtime.GOARCH, FileName: filepath.Base,
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
	if err != nil || len(got) != 4*calls {
		t.Fatalf("%d bytes, %v, expected %d", len(got), err, 4*calls)
	}
	for k := range calls {
		if n := binary.LittleEndian.Uint32([]byte(got[4*k:])); n != uint32(k+1) {
			t.Errorf("word %d is of point %d, expected %d", k, n, k+1)
		}
	}
}
