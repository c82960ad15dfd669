package trace

import (
	"cmp"
	"slices"
	"strings"

	"qinst.dev/internal/names"
	"qinst.dev/sddf/spec"
)

// literals are the function literals of the table of points, by file. Where the procedure that has
// a literal is inlined, the compiler makes a copy of the literal for that place and names it after
// both: main.main.(*limiter).wrap.func2 is a copy of main.(*limiter).wrap.func1. A procedure has
// one name here, that of the source.
type literals map[string][]*Point

func literalsOf(t *Tables) literals {
	l := literals{}
	for i := range t.Points {
		p := &t.Points[i]
		if _, depth := names.Outer(p.Name); depth > 0 && (p.Kind == spec.PointProc || p.Kind == spec.PointFunc) {
			l[p.File] = append(l[p.File], p)
		}
	}
	for _, list := range l {
		slices.SortStableFunc(list, func(p, q *Point) int { return cmp.Compare(p.Line, q.Line) })
	}
	return l
}

// source returns the name that the source has for a function in which a line is.
func (l literals) source(name, file string, line int) string {
	outer, depth := names.Outer(name)
	if depth == 0 {
		return name
	}
	for _, p := range slices.Backward(l[file]) {
		in, d := names.Outer(p.Name)
		if p.Line > line || d != depth {
			continue
		}
		if in == outer { // it is no copy
			return name
		}
		if of := strings.TrimPrefix(in, names.PackageOf(in)+"."); in != of && strings.HasSuffix(outer, "."+of) {
			return p.Name
		}
	}
	return name
}
