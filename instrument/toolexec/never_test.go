package toolexec

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"qinst.dev/runtime/api"
)

// No package that the runtime is made of may be probed, be it one that the compiler knows
// for such or one that the runtime imports: its probes would call themselves. A package
// that the list names and nobody has shows that the list is of another Go.
func TestNever(t *testing.T) {
	t.Parallel()
	runtimes := append(specialPackages(t), goList(t, "-deps", "runtime")...)
	if len(runtimes) < 40 {
		t.Fatalf("found %d packages of the runtime, expected more than 40", len(runtimes))
	}
	for _, p := range runtimes {
		if !Never(p) {
			t.Errorf("%s is of the runtime, expected it in the list never", p)
		}
	}
	for _, p := range goList(t, api.Module+"/extensions/...", api.Module+"/sddf/...") {
		if !Never(p) {
			t.Errorf("%s is one through which programs talk to the tool: expected it in the list never", p)
		}
	}
	known := goList(t, "std", api.Module+"/...")
	for _, p := range never {
		dir, tree := strings.CutSuffix(p, "/...")
		if !slices.ContainsFunc(known, func(k string) bool {
			return k == dir || tree &&
				strings.HasPrefix(k, dir+"/")
		}) {
			t.Errorf("the list never has %s, which is no package of this Go", p)
		}
	}
	for _, p := range []string{"sync", "time", "os", "runtimes", "internal/poll"} {
		if Never(p) {
			t.Errorf("%s is never probed, expected that it may be", p)
		}
	}
}

// specialPackages are those that cmd/internal/objabi, which nobody else may import, lists
// as the runtime's and as the sanitizers'.
func specialPackages(t *testing.T) (paths []string) {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(strings.TrimSpace(string(root)), "src", "cmd", "internal", "objabi", "pkgspecial.go")
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || v.Names[0].Name != "runtimePkgs" && v.Names[0].Name != "extraNoInstrumentPkgs" {
			return true
		}
		for _, e := range v.Values[0].(*ast.CompositeLit).Elts {
			path, err := strconv.Unquote(e.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(path, "-") { // an exception, which is in the other list
				paths = append(paths, path)
			}
		}
		return false
	})
	return paths
}

func goList(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}
