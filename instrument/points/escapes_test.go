package points

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A twin that lets escape what its procedure does not is found in the compiler's report, one that
// lets escape less is not.
func TestLeaky(t *testing.T) {
	t.Parallel()
	file, want := Text{Name: "p.go"}, []string{}
	text := "package p\nvar sink any\nvar g func()\nfunc each(p *int, f func(*int)) { f(p) }\n"
	for i, c := range []struct {
		name, twin, plain string // parameters, results and body
		leaky             bool
	}{
		{"same", "(p *int) { *p = 1 }", "(p *int) { *p = 1 }", false},
		{"leaks", "(p *int) { sink = p }", "(p *int) { *p = 1 }", true},
		{"less", "(p *int) { *p = 1 }", "(p *int) { sink = p }", false},
		{"content", "(p **int) { sink = *p }", "(p **int) { **p = 1 }", true},
		{"whole", "(p **int) { sink = p }", "(p **int) { sink = *p }", true},
		{"result", "(p *int) (r *int) { return p }", "(p *int) (r *int) { return nil }", true},
		{"unnamed", "(p *int) (ʳ0, ʳ1 *int) { ʳ1 = p; return }", "(p *int) (_, _ *int) { return nil, p }", false},
		{"other result", "(p *int) (ʳ0, ʳ1 *int) { ʳ0 = p; return }", "(p *int) (*int, *int) { return nil, p }", true},
		{"level", "(p **int) (ʳ0 any) { ʳ0 = p; return }", "(p **int) any { return *p }", true},
		{"wider", "(p *int) (ʳ0 *int) { return p }", "(p *int) *int { sink = p; return nil }", false},
		{"moved", "(p int) { sink = &p }", "(p int) { sink = p }", true},
		{"local", "() { x := 1; sink = &x }", "() { x := 1; _ = &x }", true},
		{"pointer held", "() { x := new(int); func() { sink = x }() }", "() { x := new(int); func() { *x = 1 }() }", true},
		{"literal", "() { f := func(p *int) { sink = p }; f(nil); f(nil) }",
			"() { f := func(p *int) { *p = 1 }; f(nil); f(nil) }", true},
		{"held", "() { a, b := 1, 2; a++; b++; g = func() { a--; b++ } }", "() { a, b := 1, 2; a++; b++; g = func() { a++; b-- } }", false},
		{"held otherwise", "() { a, b := 1, 2; a++; b++; g = func() { b--; a++ } }",
			"() { a, b := 1, 2; a++; b++; g = func() { a++; b-- } }", true},
		{"deferred", "(p *int) { q := p; defer println(*q) }", "(p *int) { defer println(*p) }", false},
		{"in two loops", "(p *int) { for { q := *p; sink = q }; for { q := *p; sink = &q } }",
			"(p *int) { for { q := *p; sink = q } }", true},
		{"one parameter", "(p *int) { *p = 1 }", "(_ *int) { }", true},
	} {
		p := Pair{Name: c.name}
		p.Twin[0] = len(text)
		text += fmt.Sprintf("/*line /src/p.go:%d:1*/func _t%d%s\n", 10+i, i, c.twin)
		p.Twin[1], p.Plain[0] = len(text), len(text)
		text += fmt.Sprintf("/*line /src/p.go:%d:1*/func f%d%s\n", 10+i, i, c.plain)
		p.Plain[1] = len(text)
		file.Pairs = append(file.Pairs, p)
		if c.leaky {
			want = append(want, c.name)
		}
	}
	text += "/*line /src/p.go:99:1*/func last(p *int) { sink = p }\n" // has no twin
	file.Bytes = []byte(text)
	name := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "tool", "compile", "-m", "-L", "-d=closure=1", "-p", "p", "-o", name+".a", name).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	slices.Sort(want)
	if got := Leaky(out, []Text{file}, "ʳ"); !slices.Equal(got, want) {
		t.Errorf("found %q, expected %q\n%s", got, want, strings.ReplaceAll(string(out), "/src/", ""))
	}
}
