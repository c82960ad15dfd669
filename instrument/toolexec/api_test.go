package toolexec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"qinst.dev/runtime/api"
)

// TestAPIVersions checks what the build says where the tool and a package come from
// different versions, and that it says nothing where they do not.
func TestAPIVersions(t *testing.T) {
	t.Parallel()
	inert := filepath.Join(t.TempDir(), "inert.go")
	text := []byte("package qinst\n\nconst toolAPI = 3\n")
	for _, c := range []struct{ source, version, want string }{
		{"package qinst\n\nconst toolAPI = 3\n", "v0.5.0", ""},
		{"package qinst\n\nconst toolAPI = 2\n", "v0.5.0",
			"package qinst.dev/extensions/qinst: found version 2 of what it asks of the tool, expected 3: the package is older than this qinst; in the program's module run: go get qinst.dev/extensions/qinst@v0.5.0"},
		{"package qinst\n\nfunc f() {}\n", "(devel)",
			"package qinst.dev/extensions/qinst: found version 0 of what it asks of the tool, expected 3: the package is older than this qinst; replace its module by that of the clone which qinst was built from (README, In your own module)"},
		{"package qinst\n\nconst toolAPI = 4\n", "v0.5.0",
			"package qinst.dev/extensions/qinst: found version 4 of what it asks of the tool, expected 3: this qinst (v0.5.0) is older than the package; run: go install qinst.dev/cmd/qinst@latest"},
		{"package qinst\n\nconst toolAPI = 4\n", "(devel)",
			"package qinst.dev/extensions/qinst: found version 4 of what it asks of the tool, expected 3: this qinst ((devel)) is older than the package; run: go install ./cmd/qinst (in its clone, brought up to date)"},
	} {
		if err := os.WriteFile(inert, []byte(c.source), 0o666); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := checkAPI("qinst.dev/extensions/qinst", inert, text, c.version); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.source, got, c.want)
		}
	}
}

func TestBringToLife(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path := range api.Folders {
		inert := filepath.Join("..", "..", strings.TrimPrefix(strings.TrimPrefix(path, "qinst.dev"), "/"), "inert.go")
		c := &command{flags: []string{"-o", filepath.Join(dir, "_pkg_.a")}, files: []string{"other.go", inert}}
		if ok, err := bringToLife(c, path); !ok || err != nil {
			t.Fatalf("%s: %v, %v", path, ok, err)
		}
		if text, err := os.ReadFile(c.files[1]); err != nil || !strings.Contains(string(text), "//go:linkname") ||
			c.files[0] != "other.go" {
			t.Errorf("%s: %v has %q, %v", path, c.files, text, err)
		}
	}
	if ok, err := bringToLife(&command{}, "qinst.dev/internal/trace"); ok || err != nil {
		t.Errorf("another package: %v, %v", ok, err)
	}
	if _, err := bringToLife(&command{}, "qinst.dev/sddf"); err == nil ||
		!strings.Contains(err.Error(), "found no file inert.go") {
		t.Errorf("a package without inert.go: %v", err)
	}
	for old, to := range api.Moved {
		_, err := bringToLife(&command{}, old)
		if want := "package " + old + ": found an import of its old path, expected " + to + ": "; err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("an old path: got %v, want %s", err, want)
		}
	}
}
