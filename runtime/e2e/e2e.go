// Package e2e builds programs with the real command, runs them and opens their traces: tests of the
// runtime in observed programs are here, and tests of commands use it too.
package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/lockedfile"

	"qinst.dev/internal/trace"
	"qinst.dev/runtime/api"
)

// programs are those that were built, each once.
var programs struct {
	dir string
	sync.Mutex
	build map[string]func() error // by module and program
}

// Main is for TestMain. It builds qinst, for the tests and for the go command that they run. It is
// the program that users build, and not the test binary: what it has compiled with probes, the
// standard library for one, stays in the build cache until a file of qinst changes, and other
// suites find it there. It is built with the flags of tests, which have compiled most of it
// already.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "qinst-programs")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programs.dir = dir
	bin := filepath.Join(dir, "bin") + string(filepath.Separator)
	build := exec.Command("go", "build", "-buildvcs=false", "-o", bin, api.Module+"/cmd/qinst")
	build.Env = Compiling()
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building qinst: %v\n%s", err, out)
		return 1
	}
	if err := os.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Compiling is the environment of commands that only build: compilers that collect no garbage take
// a quarter less time.
func Compiling() []string { return append(os.Environ(), "GOGC=off", "GOMEMLIMIT=2GiB") }

// Dir is a folder for programs that tests of the package share. It is removed at the end.
func Dir() string { return programs.dir }

// Once runs a function the first time that it is called with a name, and returns its result then
// and later.
func Once(name string, f func() error) error {
	programs.Lock()
	once := programs.build[name]
	if once == nil {
		if programs.build == nil {
			programs.build = map[string]func() error{}
		}
		once = sync.OnceValue(f)
		programs.build[name] = once
	}
	programs.Unlock()
	return once()
}

// Warm compiles what most programs need of the standard library with probes, before tests build
// programs in parallel: go commands that run at the same time would each compile it. The lock keeps
// test binaries of other packages from doing the same.
func Warm() error {
	if !supported() {
		return nil
	}
	return Once("standard library", func() error {
		cache, err := exec.Command("go", "env", "GOCACHE").Output()
		if err != nil {
			return err
		}
		name := filepath.Join(strings.TrimSpace(string(cache)), "qinst-tests.lock")
		unlock, err := lockedfile.MutexAt(name).Lock()
		if err != nil {
			return err
		}
		defer unlock()
		cmd := exec.Command("go", "build", "-toolexec", "qinst", "testing")
		cmd.Env = Compiling()
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	})
}

// supported reports whether programs with probes run on this machine.
func supported() bool {
	return runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64")
}

// Build builds a program of a module of testdata with probes, and returns its path. It uses qinst
// build, with which all selections share the standard library; scripts test the bare wrapper.
func Build(t *testing.T, module, program string, flags ...string) string {
	t.Helper()
	if !supported() {
		t.Skip("probes need linux on amd64 or arm64; reading is tested elsewhere")
	}
	exe := filepath.Join(programs.dir, module, program+strings.Join(flags, ""))
	err := Once(exe, func() error {
		if err := Warm(); err != nil {
			return err
		}
		cmd := exec.Command("qinst", slices.Concat([]string{"build"}, flags, []string{"-o", exe, "./" + program})...)
		cmd.Dir, cmd.Env = filepath.Join("..", "..", "testdata", module), Compiling()
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// Run runs a program with probes on a number of processors, and returns its trace.
func Run(t *testing.T, procs, exe string, args ...string) *trace.Trace {
	t.Helper()
	tr, _ := Traced(t, exec.Command(exe, args...), "GOMAXPROCS="+procs)
	return tr
}

// Traced runs a program with probes, and returns its trace and its output.
func Traced(t *testing.T, cmd *exec.Cmd, env ...string) (*trace.Trace, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "live.sddf")
	settings := "QINST=limit=0,budget=off,out=" + file
	for i, e := range env {
		if more, ok := strings.CutPrefix(e, "QINST="); ok {
			env[i] = settings + "," + more
		}
	}
	cmd.Env = append(append(os.Environ(), settings), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tr, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	return tr, string(out)
}
