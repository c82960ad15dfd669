package trace

import (
	"testing"

	"qinst.dev/sddf/spec"
)

// A copy of a function literal, in a procedure that another one is inlined into, has the name that
// the source has.
func TestLiterals(t *testing.T) {
	tables := &Tables{}
	for _, p := range []struct {
		name, file string
		line       int
	}{
		{"main.main", "main.go", 1},
		{"main.(*limiter).wrap.func1", "main.go", 70}, {"main.(*limiter).wrap.func2", "main.go", 80},
		{"main.(*limiter).wrap.func2.1", "main.go", 82},
		{"main.main.func1", "main.go", 120}, {"example.com/dep.Each[...].func1", "dep.go", 10},
	} {
		tables.Points = append(tables.Points, Point{Kind: spec.PointProc, Name: p.name, File: p.file, Line: p.line})
	}
	l := literalsOf(tables)
	for _, c := range []struct {
		name, file string
		line       int
		want       string
	}{
		{"main.main.(*limiter).wrap.func4", "main.go", 72, "main.(*limiter).wrap.func1"},
		{"main.main.(*limiter).wrap.func5", "main.go", 90, "main.(*limiter).wrap.func2"},
		{"main.main.(*limiter).wrap.func5.1", "main.go", 83, "main.(*limiter).wrap.func2.1"},
		{"main.main.(*limiter).wrap.func4", "other.go", 72, "main.main.(*limiter).wrap.func4"},
		{"main.main.(*limiter).wrap.func4", "main.go", 60, "main.main.(*limiter).wrap.func4"},
		{"main.run.Each[...].func2", "dep.go", 12, "example.com/dep.Each[...].func1"},
		{"main.main.func1", "main.go", 121, "main.main.func1"},
		{"main.main.func2", "main.go", 121, "main.main.func2"},
		{"main.main", "main.go", 72, "main.main"},
	} {
		if got := l.source(c.name, c.file, c.line); got != c.want {
			t.Errorf("%s at %s:%d: %s, expected %s", c.name, c.file, c.line, got, c.want)
		}
	}
}
