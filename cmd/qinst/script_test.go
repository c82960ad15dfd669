package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/runtime/e2e"
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }

// again is "again pattern program arguments": the program runs up to three times, until one of its
// outputs matches. It is for figures that a run under heavy load need not have.
func again(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: again pattern program arguments")
	}
	pattern := regexp.MustCompile(args[0])
	for range 3 {
		ts.Check(ts.Exec(args[1], args[2:]...))
		if pattern.MatchString(ts.ReadFile("stdout")) || pattern.MatchString(ts.ReadFile("stderr")) {
			return
		}
	}
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
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"again": again},
		Setup: func(e *testscript.Env) error {
			if err := e2e.Warm(); err != nil {
				return err
			}
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
			switch cond {
			case "cgo":
				_, err := exec.LookPath("gcc")
				return err == nil, nil
			case "thorough":
				return tracetest.Thorough(), nil
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
