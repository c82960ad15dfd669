//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"qinst.dev/internal/trials/bench"
	"qinst.dev/runtime/api"
)

// releases runs all tests with other releases of Go, and lists those that fail. Names are those of
// toolchains, or folders of a Go tree that was built from source: the next release, before there is
// one.
func releases(e *bench.Env, args []string) error {
	fs := e.Flags("go1.27.4 ~/src/go ...")
	if err := e.Parse(fs, args); err != nil {
		return err
	}
	failed := false
	for _, name := range fs.Args() {
		ok, err := testWith(e, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		failed = failed || !ok
	}
	if failed {
		return errors.New("found tests that fail")
	}
	return nil
}

var (
	release    = regexp.MustCompile(`go\d*\.\d*`)
	failedLine = regexp.MustCompile(`(?m)^( *--- FAIL|FAIL|panic:).*\n`)
)

// testWith runs all tests with a release, and reports whether they pass.
func testWith(e *bench.Env, name string) (ok bool, err error) {
	tool, env := "go", append(os.Environ(), "GOTOOLCHAIN="+name)
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		bin, err := filepath.Abs(filepath.Join(name, "bin"))
		if err != nil {
			return false, err
		}
		tool, env = filepath.Join(bin, "go"), append(os.Environ(), "GOTOOLCHAIN=local",
			"PATH="+bin+":"+os.Getenv("PATH"))
	}
	run := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(e.Ctx, tool, args...)
		cmd.Env = env
		return cmd.CombinedOutput()
	}
	version, err := run("version")
	if err != nil {
		return false, fmt.Errorf("%w\n%s", err, version)
	}
	fmt.Printf("== %s", version)
	said, err := run("env", "GOVERSION")
	if err != nil {
		return false, fmt.Errorf("%w\n%s", err, said)
	}
	// In GOFLAGS, because tests build the command, too.
	env = append(env, fmt.Sprintf("GOFLAGS=-ldflags=-X=%s/runtime/inject.tried=%s", api.Module, release.Find(said)))
	out, err := run("test", "-timeout=60m", "./...")
	if err == nil {
		fmt.Println("all tests pass")
		return true, nil
	}
	fmt.Printf("%s", bytes.Join(failedLine.FindAll(out, -1), nil))
	return false, e.Ctx.Err()
}
