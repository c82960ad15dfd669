package points

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestPlainNames: f holds two literals, the second of which holds one. Both stand twice.
// What is made is a list of NAME:LINE.
func TestPlainNames(t *testing.T) {
	t.Parallel()
	const own = "p.f.func1:1 p.f.func2:2 p.f.func3:1 p.f.func4:2 p.f.func2.1:3 p.f.func2.2:3 p.f.func4.1:3 p.f.func4.2:3 "
	const mended = "p.f.func2.2>p.f.func2.1 p.f.func3>p.f.func1 p.f.func4>p.f.func2 p.f.func4.1>p.f.func2.1 p.f.func4.2>p.f.func2.1"
	for _, test := range []struct{ name, made, want string }{
		{"literals of the text", own, mended},
		{"some are not in the object", "p.f:1 p.f.func4.2:3", "p.f.func4.2>p.f.func2.1"},
		{"another line", "p.f.func3:2", "in doubt: p.f"},
		{"one too many", "p.f.func5:1", "in doubt: p.f"},
		{"of another function", "p.g.func3:1 p.T.f.func3:1 p.f.func3.stmp_1:0", ""},
		{"inlined", own + "p.f.G.func5:7 p.f.G.func6:7", "p.f.G.func5>p.f.G.func3 p.f.G.func6>p.f.G.func3 " + mended},
		{"inlined twice", "p.f.G.func5:7 p.f.G.func6:7 p.f.G.func7:7 p.f.G.func8:7",
			"p.f.G.func5>p.f.G.func3 p.f.G.func6>p.f.G.func4 p.f.G.func7>p.f.G.func3 p.f.G.func8>p.f.G.func4"},
		{"deeper later", "p.f.G.func5:7 p.f.G.func6:7 p.f.H.G.func7:7 p.f.H.G.func8:7",
			"p.f.G.func5>p.f.G.func3 p.f.G.func6>p.f.G.func3 p.f.H.G.func7>p.f.H.G.func4 p.f.H.G.func8>p.f.H.G.func4"},
		{"generic", "p.f.G[go.shape.int].func5:7 p.f.G[go.shape.int].func6:7",
			"p.f.G[go.shape.int].func5>p.f.G[go.shape.int].func3 p.f.G[go.shape.int].func6>p.f.G[go.shape.int].func3"},
		{"other types", "p.f.G[go.shape.int].func5:7 p.f.G[go.shape.string].func6:7", "in doubt: p.f"},
		{"in an inlined one", "p.f.G.func5:7 p.f.G.func6:7 p.f.G.func6.4:9",
			"p.f.G.func5>p.f.G.func3 p.f.G.func6>p.f.G.func3 p.f.G.func6.4>p.f.G.func3.4"},
		{"inlined into a literal", "p.f.func2.f.func2.1.3:4 p.f.func4.f.func4.1.3:4 p.f.func2.f.func2.2.4:4 p.f.func4.f.func4.2.4:4",
			"p.f.func2.f.func2.1.3>p.f.func2.f.func2.1.2 p.f.func2.f.func2.2.4>p.f.func2.f.func2.1.2 p.f.func4.f.func4.1.3>p.f.func2.f.func2.1.2 p.f.func4.f.func4.2.4>p.f.func2.f.func2.1.2"},
		{"one of two is missing", "p.f.G.func6:7", "in doubt: p.f"},
		{"an odd number", "p.f.G.func5:7 p.f.G.func6:7 p.f.G.func7:7", "in doubt: p.f"},
		{"unequal", "p.f.G.func5:7 p.f.H.func6:7", "in doubt: p.f"},
		{"mixed depths", "p.f.G.func5:7 p.f.H.func6:7 p.f.H.func7:7 p.f.G.func8:7", "in doubt: p.f"},
		{"body of a range", "p.f.G-range1:7 p.f.G-range2:7", "p.f.G-range2>p.f.G-range1"},
		{"go statements", "p.f.gowrap2:5 p.f.gowrap4:5 p.f.deferwrap1:1 p.f.deferwrap3:1",
			"p.f.gowrap2>p.f.gowrap1 p.f.gowrap4>p.f.gowrap1"},
		{"go statements elsewhere", "p.f.gowrap2:5 p.f.gowrap4:6", "in doubt: p.f"},
		{"by name", "p.f.func3:1!", "in doubt: p.f p.f.func2"},
	} {
		if got := plainNames(test.made); got != test.want {
			t.Errorf("%s:\nfound    %s\nexpected %s", test.name, got, test.want)
		}
	}
}

func plainNames(list string) string {
	f := &Func{Name: "p.f", Node: &ast.FuncDecl{}, Point: 0}
	first := &Func{Name: "p.f.func1", Node: &ast.FuncLit{}, Point: 1, nest: nest{within: f, line: 1},
		Bodies: Bodies{Once: OnceLarge}}
	second := &Func{Name: "p.f.func2", Node: &ast.FuncLit{}, Point: 2, nest: nest{within: f, line: 2}}
	inner := &Func{Name: "p.f.func2.1", Node: &ast.FuncLit{}, Point: 3, nest: nest{within: second, line: 3},
		Skip: Inlinable}
	f.nest.literals, second.nest.literals = []*Func{first, second}, []*Func{inner}
	g := &Func{Name: "p.g", Node: &ast.FuncDecl{}, Point: 4, Bodies: Bodies{Once: OnceLarge}}
	m := &Func{Name: "p.T.f", Node: &ast.FuncDecl{}, Point: 5, Bodies: Bodies{Once: OnceLarge}}
	report := ""
	if strings.Contains(list, "gowrap") {
		report = "a.go:5:1: can inline f.gowrap1 with cost 1 as: func() {}\n"
	}
	set := &Set{Funcs: []*Func{f, first, second, inner, g, m}, inlining: ParseInlining([]byte(report)), prefix: "p."}
	var made []Made
	for item := range strings.FieldsSeq(list) {
		name, line, _ := strings.Cut(item, ":")
		var f Made
		f.Name = name
		fmt.Sscan(line, &f.Line)
		f.Fixed = strings.HasSuffix(line, "!")
		made = append(made, f)
	}
	names, doubtful := set.PlainNames(made)
	var found []string
	for _, fn := range doubtful {
		found = append(found, fn.Name)
	}
	if found != nil {
		return "in doubt: " + strings.Join(found, " ")
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		found = append(found, name+">"+names[name])
	}
	return strings.Join(found, " ")
}
