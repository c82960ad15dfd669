package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"qinst.dev/internal/lab"
)

// tests are those of a package that are the program of a study.
type tests struct {
	pkg   string // import path or directory; "": the program is no test
	run   string // expression for names of tests; "": all
	bench string // the same for one benchmark; "": tests run
}

func (t *tests) define(fs *flagSet) {
	fs.text(&t.pkg, "test", "the tests of a `package` are the program (default: the package or program that is named)")
	fs.text(&t.run, "run", "with -test: only tests whose names match an `expression` (default: all)")
	fs.text(&t.bench, "bench", "with -test: a benchmark whose name matches an `expression`, and no tests (default: tests)")
}

// check returns an error if flags contradict each other.
func (t *tests) check(args []string, load string) error {
	switch {
	case t.pkg != "" && load != "":
		return usageError{errors.New("why: found -load with -test, expected one of them: tests end by themselves")}
	case t.pkg == "" && (t.run != "" || t.bench != ""):
		return usageError{errors.New("why: found -run or -bench without -test, expected the package that has them: -test ./pkg")}
	case t.run != "" && t.bench != "":
		return usageError{errors.New("why: found -run with -bench, expected one of them")}
	case t.pkg != "" && len(args) > 0 && !strings.HasPrefix(args[0], "-"):
		return usageError{fmt.Errorf("why: found %s with -test, expected no other program", args[0])}
	}
	return nil
}

// ownOfTests moves flags of test programs from those of the go command to the arguments.
func ownOfTests(passed, args []string) (others, all []string) {
	for _, f := range passed {
		if strings.HasPrefix(strings.TrimLeft(f, "-"), "test.") {
			args = append(args, f)
		} else {
			others = append(others, f)
		}
	}
	return others, args
}

// where is the directory of the package, in which its tests run, and a name for the program.
func (t *tests) where(ctx context.Context, chdir []string) (dir, name string, err error) {
	list := exec.CommandContext(ctx, "go", slices.Concat([]string{"list"}, chdir, []string{"-f", "{{.Dir}}\t{{.ImportPath}}", t.pkg})...)
	out, err := list.Output()
	if said := new(exec.ExitError); errors.As(err, &said) {
		return "", "", fmt.Errorf("-test %s: %s", t.pkg, strings.TrimSpace(string(said.Stderr)))
	}
	if err != nil {
		return "", "", err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	dir, pkg, ok := strings.Cut(lines[0], "\t")
	if len(lines) > 1 || !ok {
		return "", "", usageError{fmt.Errorf("why: pattern %s matches %d packages, expected one", t.pkg, len(lines))}
	}
	return dir, path.Base(pkg) + ".test", nil
}

// args are the test program's.
func (t *tests) args(ctx context.Context, r *lab.Runner, job lab.Job, was []string) (args []string, err error) {
	switch {
	case t.bench == "" && t.run == "":
		return job.Args, nil
	case t.bench == "":
		return append([]string{"-test.run=" + t.run}, job.Args...), nil
	}
	args = append([]string{"-test.run=^$", "-test.bench=" + t.bench}, job.Args...)
	if n := len(args); len(was) == n+1 && slices.Equal(was[:n], args) { // as often as in the study that is there
		return was, nil
	}
	n, err := iterations(ctx, r, job, args)
	if err != nil {
		return nil, err
	}
	return append(args, fmt.Sprintf("-test.benchtime=%dx", n)), nil
}

// measured is a line of the output of benchmarks: its name, number of iterations, and ns for each.
var measured = regexp.MustCompile(`(?m)^(Benchmark\S*)\s+\d+\s+([0-9.]+) ns/op`)

// benchNs is how long a benchmark runs in each run of a study: long enough to be no start and end.
const benchNs = 5e8

// iterations finds how often a benchmark is done in each run: if a run did it for a time, less work
// would make it more, and the run no shorter.
func iterations(ctx context.Context, r *lab.Runner, job lab.Job, args []string) (n int, err error) {
	job.Args, job.NoTrace, job.Settings, job.Collect = append(slices.Clone(args), "-test.benchtime=100ms"), true, "mode=off", true
	var found [][][]byte
	err = r.Once(ctx, "a run to time the benchmark", job, func(res lab.Result) error {
		found = measured.FindAllSubmatch(res.Stdout, -1)
		return nil
	})
	if err != nil {
		return 0, err
	}
	var names []string
	for _, m := range found {
		names = append(names, string(m[1]))
	}
	if len(found) != 1 {
		return 0, fmt.Errorf("found %d benchmarks (%s), expected one, for a study is about one: -bench '^BenchmarkX$'", len(found), strings.Join(names[:min(3, len(names))], ", "))
	}
	ns, err := strconv.ParseFloat(string(found[0][2]), 64)
	if err != nil {
		return 0, err
	}
	return int(max(1, math.Ceil(benchNs/max(ns, 1)))), nil
}

// build builds the tests in a directory, and returns the program's path.
func (t *tests) build(ctx context.Context, e *env, f *flagSet, dir, name string) (exe string, err error) {
	sel, err := f.selected()
	if err != nil {
		return "", err
	}
	v, err := f.variant(e, sel, []string{t.pkg})
	if err != nil {
		return "", err
	}
	v.Name, v.Test, exe = "the tests of "+t.pkg, true, filepath.Join(dir, name)
	return exe, f.built(e, v, e.runner().Build(ctx, exe, v))
}
