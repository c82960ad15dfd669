package rewrite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"qinst.dev/instrument"
	"qinst.dev/instrument/points"
)

// Data in the added file is data, also where it has the character that stands for the prefix of
// generated names in templates: 64 is that character, and the number of a point here.
func TestCalleesAreData(t *testing.T) {
	t.Parallel()
	text := "package p\n\nfunc calls(f func()) {\n" + strings.Repeat("\tf()\n", 80) + "}\n"
	name := filepath.Join(t.TempDir(), "a.go")
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
	set := p.Points(told, points.Limits{})
	set.CountInLine(true)
	files, err := p.Rewrite(set)
	if err != nil {
		t.Fatal(err)
	}
	_, data, _ := strings.Cut(string(files[0].Text), "_qinst_callees = ")
	data, _, _ = strings.Cut(data, "\n")
	for _, n := range []int{63, 64, 65} {
		if want := fmt.Sprintf(`%s\x00\x00\x00`, string(rune(n))); !strings.Contains(data, want) {
			t.Errorf("found no %q in %s", want, data)
		}
	}
}
