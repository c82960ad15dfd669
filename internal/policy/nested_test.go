package policy

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"qinst.dev/runtime/api"
)

// nested are the modules below the root that the go command leaves out of "./..." there, with their
// permitted requirements from outside of the project: none, if programs import them, because it
// would change the versions in their go.mod.
var nested = map[string][]string{
	"extensions":   nil,
	"sddf":         nil,
	"sddf/msgpack": {"github.com/vmihailenco/msgpack/v5", "github.com/vmihailenco/tagparser/v2"},
}

// TestNestedModules vets the nested modules and runs their tests, so that "go test ./..." in the
// root is all tests.
func TestNestedModules(t *testing.T) {
	t.Parallel()
	for dir := range nested {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			readAll(t, filepath.Join(root, dir))
			for _, verb := range []string{"vet", "test"} {
				cmd := exec.Command("go", verb, "./...")
				cmd.Dir = filepath.Join(root, dir)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("in %s, go %s ./...: %v\n%s", dir, verb, err, out)
				} else if verb == "test" && !strings.Contains(string(out), "ok") {
					t.Errorf("in %s, go test ./... ran no tests:\n%s", dir, out)
				}
			}
		})
	}
}

// readAll opens all files below a folder. The go command then takes a change in one of them for a
// reason to run this test again.
func readAll(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			_, err = os.ReadFile(name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNestedRequire reads the go.mod files of all modules of the project: each has requirements
// from outside only if it may. The root, which is installed with a version, has no replace.
func TestNestedRequire(t *testing.T) {
	t.Parallel()
	require := regexp.MustCompile(`(?m)^(?:require |\t)(\S+) v`)
	for dir, may := range nested {
		text, err := os.ReadFile(filepath.Join(root, dir, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range require.FindAllStringSubmatch(string(text), -1) {
			if !strings.HasPrefix(m[1], api.Module+"/") && !strings.Contains(strings.Join(may, " "), m[1]) {
				t.Errorf("%s/go.mod requires %s, which programs would get by importing it", dir, m[1])
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "replace") {
		t.Errorf("go.mod has a replace: go install %s/cmd/qinst@VERSION refuses such a module", api.Module)
	}
}
