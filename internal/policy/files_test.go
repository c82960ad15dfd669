package policy

import (
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"qinst.dev/runtime/api"
)

// ordered are the packages whose files have an order, too: no file uses, however indirectly, one
// that uses it. So a reader of a file has to know those below it, and no others.
var ordered = []string{"analysis/profile", "analysis/steps", "analysis/predict", "analysis/correct",
	"analysis/critpath", "report", "analysis/delays", "analysis/sim"}

func TestFileOrder(t *testing.T) {
	t.Parallel()
	var paths []string
	for _, name := range ordered {
		paths = append(paths, api.Module+"/internal/"+name)
	}
	mode := packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
		packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo
	pkgs, err := packages.Load(&packages.Config{Mode: mode}, paths...)
	if err != nil || len(pkgs) != len(ordered) {
		t.Fatalf("%v: %v, %v", ordered, err, pkgs)
	}
	for _, pkg := range pkgs {
		if len(pkg.Errors) > 0 {
			t.Fatalf("%s: %v", pkg.PkgPath, pkg.Errors)
		}
		uses := fileUses(pkg)
		if len(uses) < 2 {
			t.Fatalf("%s: found %d files that use others, expected some", pkg.PkgPath, len(uses))
		}
		for _, circle := range circles(uses) {
			t.Errorf("%s: these files use each other: %s", pkg.PkgPath, circle)
		}
	}
}

// fileUses returns for each file of a package the files whose names it uses, with an example.
func fileUses(pkg *packages.Package) map[string]map[string]string {
	uses := map[string]map[string]string{}
	for _, f := range pkg.Syntax {
		from := filepath.Base(pkg.Fset.Position(f.Pos()).Filename)
		uses[from] = map[string]string{}
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			obj := pkg.TypesInfo.Uses[id]
			if obj == nil || obj.Pkg() != pkg.Types {
				return true
			}
			if v, ok := obj.(*types.Var); ok && !v.IsField() && obj.Parent() != pkg.Types.Scope() {
				return true // local
			}
			if to := filepath.Base(pkg.Fset.Position(obj.Pos()).Filename); to != from && uses[from][to] == "" {
				uses[from][to] = obj.Name()
			}
			return true
		})
	}
	return uses
}

// circles are the shortest circles of files, one for each file that is in one.
func circles(uses map[string]map[string]string) (list []string) {
	for start := range uses {
		before := map[string]string{}
		queue := []string{start}
		for len(queue) > 0 && before[start] == "" {
			at := queue[0]
			queue = queue[1:]
			for to := range uses[at] {
				if before[to] == "" {
					before[to] = at
					queue = append(queue, to)
				}
			}
		}
		if before[start] == "" {
			continue
		}
		var steps []string
		for at := start; ; {
			from := before[at]
			steps = append(steps, fmt.Sprintf("%s uses %s of %s", from, uses[from][at], at))
			if at = from; at == start {
				break
			}
		}
		slices.Reverse(steps)
		list = append(list, strings.Join(steps, ", "))
	}
	slices.Sort(list)
	return list
}
