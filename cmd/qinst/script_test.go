package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary serve as qinst, to scripts and to the go command
// that they run.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"qinst": main})
}

// tests are those of this package. They share the programs that they build.
type tests struct{ *testing.M }

func (m tests) Run() int {
	dir, err := os.MkdirTemp("", "qinst-programs")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	probed.dir = dir
	return m.M.Run()
}

func TestScripts(t *testing.T) {
	t.Parallel()
	vars := goEnv(t, "GOCACHE", "GOMODCACHE", "GOPATH", "GOROOT")
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	vars["ROOT"] = root
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			for name, value := range vars {
				e.Setenv(name, value)
			}
			e.Setenv("GOFLAGS", "-buildvcs=false")
			e.Setenv("GOPROXY", "off")
			e.Setenv("GOTOOLCHAIN", "local")
			e.Setenv("QINST", "budget=off,out="+filepath.Join(e.WorkDir, "trace.sddf"))
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "cgo" {
				_, err := exec.LookPath("gcc")
				return err == nil, nil
			}
			return false, nil
		},
	})
}

func goEnv(t *testing.T, names ...string) map[string]string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{}
	for i, value := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		vars[names[i]] = value
	}
	if os.Getenv("GOCACHE") != "" {
		vars["GOCACHE"] = os.Getenv("GOCACHE")
	}
	return vars
}
