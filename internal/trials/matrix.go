//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/trials/bench"
	"qinst.dev/internal/trials/progen"
)

// way is one in which the go command can build programs.
type way struct {
	name  string
	flags []string
}

var ways = []way{
	{"default", nil},
	{"race", []string{"-race"}},
	{"cover", []string{"-cover"}},
	{"atomic", []string{"-cover", "-covermode=atomic", "-coverpkg=./..."}},
	{"slow", []string{"-gcflags=all=-N"}},
	{"noinline", []string{"-gcflags=-l"}},
	{"trimpath", []string{"-trimpath"}},
	{"strip", []string{"-ldflags=-s"}},
	{"pie", []string{"-buildmode=pie"}},
	{"pgo", nil}, // its flag names a profile that is made first
	{"asan", []string{"-asan"}},
}

// randoms is the number of random programs.
const randoms = 5

// matrix builds programs with probes and without in each way. Most of its time is that of std,
// which is compiled once a way.
func matrix(e *bench.Env, args []string) error {
	fs := e.ToolFlags("[WAY ...]")
	if err := e.Parse(fs, args); err != nil {
		return err
	}
	chosen, err := bench.Choose(ways, func(w way) string { return w.name }, fs.Args())
	if err != nil {
		return err
	}
	random := filepath.Join(e.Scratch, "random")
	names, err := writeRandom(random)
	if err != nil {
		return err
	}
	for _, w := range chosen {
		if w.name == "pgo" {
			flag, err := makeProfile(e)
			if err != nil {
				return err
			}
			w.flags = []string{flag}
		}
		if err := inWay(e, w.name, w.flags, "testdata/programs", "panics", "loops", "locks"); err != nil {
			return err
		}
		if err := inWay(e, w.name, w.flags, random, names...); err != nil {
			return err
		}
	}
	return nil
}

// writeRandom writes a module of random programs.
func writeRandom(dir string) (names []string, err error) {
	files := map[string]string{"go.mod": "module random\n\ngo 1.26\n"}
	for i := range randoms {
		name := fmt.Sprint("p", i)
		names = append(names, name)
		files[name+"/main.go"] = progen.Program(uint64(i))
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// makeProfile makes a profile of some program, and returns the flag of a build that uses it.
func makeProfile(e *bench.Env) (flag string, err error) {
	file := filepath.Join(e.Scratch, "cpu.pgo")
	out, err := exec.CommandContext(e.Ctx, "go", "test", "-count=1", "-run=TestIdentities", "-cpuprofile="+file,
		"-o="+filepath.Join(e.Scratch, "test"),
		"./internal/analysis/profile").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return "-pgo=" + file, nil
}

// inWay compares a module's programs.
func inWay(e *bench.Env, way string, flags []string, module string, names ...string) error {
	for _, name := range names {
		if err := sameInWay(e, flags, module, name); err != nil {
			return fmt.Errorf("%s %s: %w", way, name, err)
		}
	}
	fmt.Printf("%s %s: %s print the same\n", way, filepath.Base(module), strings.Join(names, " "))
	return nil
}

var (
	expected = regexp.MustCompile(`(?m)^(#.*|.*has no effect.*)\n`)
	noCounts = regexp.MustCompile(`(?m)^.*GOCOVERDIR.*\n`)
)

// sameInWay compares what a program prints and how it ends. The build with probes must have nothing
// to say.
func sameInWay(e *bench.Env, flags []string, module, name string) error {
	plain, probed := filepath.Join(e.Scratch, "plain"), filepath.Join(e.Scratch, "probed")
	v := lab.Variant{Name: name, Dir: module, Flags: flags, Args: []string{"./" + name}}
	if err := e.Build(plain, v); err != nil {
		return err
	}
	v.Wrapper = []string{e.Qinst}
	said, err := e.BuildQuietly(probed, v)
	if err != nil {
		return err
	}
	if said = expected.ReplaceAll(said, nil); len(said) > 0 {
		return fmt.Errorf("expected no word of the build, found %s", said)
	}
	trace := filepath.Join(e.Scratch, name+".sddf")
	var seen [2]bench.Seen
	for i, exe := range []string{plain, probed} {
		cmd := exec.CommandContext(e.Ctx, exe)
		cmd.Env = append(os.Environ(), "QINST=budget=off,out="+trace)
		if seen[i], err = bench.Watch(cmd); err != nil {
			return err
		}
		seen[i].Err = noCounts.ReplaceAllString(seen[i].Err, "")
	}
	if seen[0] != seen[1] {
		return fmt.Errorf("found %+v, expected %+v", seen[1], seen[0])
	}
	if _, err := e.Tool("", "info", trace); err != nil {
		return err
	}
	return os.Remove(trace)
}
