//go:build linux

package e2e_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"qinst.dev/runtime/e2e"
)

// TestThreadLimit runs a program where the process may have few threads. Where the plain program
// ends well, so does the one with probes: it runs untraced if there is no room for the tool's
// threads, and says so in one line.
func TestThreadLimit(t *testing.T) {
	group := threadGroup(t)
	probed := e2e.Build(t, "programs", "steady")
	plain := filepath.Join(t.TempDir(), "plain")
	build := exec.Command("go", "build", "-o", plain, "./steady")
	build.Dir = filepath.Join("..", "..", "testdata", "programs")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(limit int, exe, file string) (stderr string, err error) {
		if err := os.WriteFile(filepath.Join(group, "pids.max"), []byte(strconv.Itoa(limit)), 0); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", `echo $$ >"$0" && exec "$@"`, filepath.Join(group, "cgroup.procs"), exe,
			"-rounds", "30", "-workers", "4")
		cmd.Env = append(os.Environ(), "GOMAXPROCS=2", "QINST=out="+file)
		var said bytes.Buffer
		cmd.Stderr = &said
		err = cmd.Run()
		return said.String(), err
	}
	// How many threads the plain program needs depends on chance, too.
	enough := func(limit, times int) bool {
		for range times {
			if _, err := run(limit, plain, ""); err != nil {
				return false
			}
		}
		return true
	}
	// So does that of the one with probes: on a busy machine the runtime starts more.
	endsWell := func(limit int) bool {
		for range 10 {
			if _, err := run(limit, probed, filepath.Join(t.TempDir(), "again.sddf")); err == nil {
				return true
			}
		}
		return false
	}
	traced, untraced := 0, 0
	for limit := 3; limit <= 14; limit++ {
		if !enough(limit, 1) {
			continue
		}
		file := filepath.Join(t.TempDir(), "t.sddf")
		stderr, err := run(limit, probed, file)
		_, missing := os.Stat(file)
		switch {
		case err != nil && enough(limit, 20) && !endsWell(limit):
			t.Errorf("with %d threads the plain program ends well, the one with probes with %v:\n%s", limit, err,
				stderr)
		case err != nil:
		case missing == nil && stderr == "":
			traced++
		case errors.Is(missing, os.ErrNotExist) && strings.Count(stderr, "\n") == 1 &&
			strings.Contains(stderr, "runs untraced"):
			untraced++
		default:
			t.Errorf("with %d threads there is a file: %v, and the program said %q", limit, missing == nil, stderr)
		}
	}
	if traced == 0 || untraced == 0 {
		t.Errorf("%d runs had a trace and %d none, expected some of each", traced, untraced)
	}
}

// threadGroup is the folder of a new control group with a limit of threads.
func threadGroup(t *testing.T) string {
	for _, root := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup"} {
		dir := filepath.Join(root, "qinst-"+strconv.Itoa(os.Getpid()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(dir) })
		if _, err := os.Stat(filepath.Join(dir, "pids.max")); err == nil {
			return dir
		}
	}
	t.Skip("a control group with a limit of threads needs root, and a controller for it")
	return ""
}
