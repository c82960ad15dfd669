package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestModulePath finds spellings of the module's path in code, other than imports, that would
// become wrong if the module got another one. Where it is needed code takes it from package api;
// tests may spell it.
func TestModulePath(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(mod), "\n")
	module := strings.TrimPrefix(first, "module ")
	found := 0
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "examples"):
			return filepath.SkipDir
		case filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		found++
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.BasicLit:
				text, err := strconv.Unquote(n.Value)
				if err == nil && n.Kind == token.STRING && strings.Contains(text, module) &&
					!strings.HasSuffix(name, "runtime/api/api.go") {
					t.Errorf("%s: found the module's path in %s, expected api.Module", set.Position(n.Pos()), n.Value)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if found < 200 {
		t.Errorf("looked at %d files", found)
	}
}
