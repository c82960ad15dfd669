package rewrite

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"qinst.dev/instrument/points"
)

// TestCallees: numbers of points stay what they are in the file that registers them. The 64th has
// the byte of the sign that stands for the prefix of names.
func TestCallees(t *testing.T) {
	t.Parallel()
	set := &points.Set{InLine: true, Dynamic: map[uint32]points.Dynamic{}}
	for n := range uint32(600) {
		set.Dynamic[n] = points.Dynamic{}
	}
	want := wordsOf(set)
	text := NewNames(nil).register(abi{"uint32", "uint32", "uint64", "uintptr", "string", "bool"}, "base", "off", 600,
		nil, "at", want, "")
	f, err := parser.ParseFile(token.NewFileSet(), "a.go", "package p; import _qinst_unsafe \"unsafe\"\n"+text, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			v := g.Specs[0].(*ast.ValueSpec)
			if v.Names[0].Name == "_qinst_callees" {
				if got, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value); err != nil || got != want {
					t.Errorf("found %d bytes, %v, expected %d", len(got), err, len(want))
				}
				return
			}
		}
	}
	t.Error("found no callees")
}
