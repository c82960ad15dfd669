package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"

	"qinst.dev/runtime/api"
)

// TestOtherSystems vets all packages for systems where traces are read only.
func TestOtherSystems(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"darwin", "windows"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			if n := vetted(t, root, nil, "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0"); n < 100 {
				t.Errorf("looked at %d packages", n)
			}
		})
	}
}

// oldest is the oldest Go that programs may be compiled with.
const oldest = "go1.23.12"

// TestOldestGo vets what programs import with that.
func TestOldestGo(t *testing.T) {
	t.Parallel()
	env := []string{"GOTOOLCHAIN=" + oldest, "GOWORK=off"}
	cmd := exec.Command("go", "version")
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("%s is neither here nor can it be downloaded: %s", oldest, out)
	}
	vetted(t, filepath.Join(root, "sddf"), nil, env...)

	mod, err := os.ReadFile(filepath.Join(root, "extensions", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sddf, err := filepath.Abs(filepath.Join(root, "sddf"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "go.mod")
	replaced := string(mod) + "\nreplace " + api.Module + "/sddf => " + sddf + "\n"
	if err := os.WriteFile(file, []byte(replaced), 0o666); err != nil {
		t.Fatal(err)
	}
	vetted(t, filepath.Join(root, "extensions"), []string{"-modfile=" + file}, env...)
}

// vetted is "go vet ./..." in a folder. It takes all types from source: the go command would
// compile the standard library for each system and release. It returns how many packages there are.
func vetted(t *testing.T, dir string, flags []string, env ...string) int {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax | packages.NeedModule,
		Dir:  dir, Env: append(os.Environ(), env...), BuildFlags: flags, Tests: true,
	}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, err := range p.Errors {
			t.Error(err)
		}
	})
	if len(pkgs) == 0 || t.Failed() {
		t.Fatalf("found errors, or none of %d packages", len(pkgs))
	}
	graph, err := checker.Analyze(vet.Suite, pkgs, nil)
	if err != nil {
		t.Fatal(err)
	}
	var found strings.Builder
	if err := graph.PrintText(&found, -1); err != nil {
		t.Error(err)
	}
	if found.Len() > 0 {
		t.Error(found.String())
	}
	return len(pkgs)
}
