package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// mostFields is the largest number of fields of a working struct: more cannot be held in mind at
// once. Structs that are written as JSON are lists of fields for readers, and those of the observed
// runtime are laid out by cache lines.
const mostFields = 15

// large are the structs with more fields, and how many they have. The numbers may only fall.
var large = map[string]int{
	"internal/trace/tables.go Tables": 35,
}

func TestStructs(t *testing.T) {
	t.Parallel()
	found := map[string]int{}
	set := token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "_rt" || d.Name() == "examples" || d.Name() == ".git"):
			return filepath.SkipDir
		case filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok {
				if st, ok := s.Type.(*ast.StructType); ok {
					found[filepath.ToSlash(rel)+" "+s.Name.Name] = fieldsOf(st)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range found {
		if n > max(mostFields, large[name]) {
			t.Errorf("%s has %d fields, expected %d at most", name, n, max(mostFields, large[name]))
		}
	}
	for name, n := range large {
		if found[name] < n {
			t.Errorf("%s has %d fields: lower its number, %d, in the list of large structs, or take it out", name,
				found[name], n)
		}
	}
}

// fieldsOf is how many fields a struct has; 0 of one that is written as JSON.
func fieldsOf(s *ast.StructType) (n int) {
	for _, f := range s.Fields.List {
		if f.Tag != nil && strings.Contains(f.Tag.Value, "json:") {
			return 0
		}
		n += max(len(f.Names), 1)
	}
	return n
}
