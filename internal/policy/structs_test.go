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

func TestStructs(t *testing.T) {
	t.Parallel()
	seen := 0
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
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok {
				if st, ok := s.Type.(*ast.StructType); ok {
					seen++
					if n := fieldsOf(st); n > mostFields {
						t.Errorf("%s: %s has %d fields, expected %d at most", name, s.Name.Name, n, mostFields)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 300 {
		t.Errorf("found %d structs, expected some hundreds", seen)
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
