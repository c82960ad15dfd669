package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report"
	"qinst.dev/internal/trace"
)

// setupTest runs "go test" with qinst around its tools, and names the traces that the tests wrote.
func setupTest(fs *flagSet) action {
	test := setupGo(fs, "test")
	return func(e *env, args []string) error {
		pattern := testTraces(os.Getenv("QINST"))
		before, _ := filepath.Glob(pattern)
		err := test(e, args)
		after, _ := filepath.Glob(pattern)
		fresh := slices.DeleteFunc(after, func(name string) bool { return slices.Contains(before, name) })
		for _, name := range fresh {
			fmt.Fprintf(e.stderr, "qinst: trace: %s\n", name)
		}
		showTests(e, fresh)
		if err == nil && mayBeCached(fs.passed, args) {
			fmt.Fprintln(e.stderr, "qinst: a package that is (cached) did not run and has no trace: -count=1 runs it")
		}
		return err
	}
}

// worthShowing is how long the tests of one package take at least that have a page of their own.
const worthShowing = time.Second

// mostShown is the size up to which traces are read without being asked for: some seconds' work.
const mostShown = 64 << 20

// showTests shows on one time axis the packages whose tests wrote traces.
func showTests(e *env, traces []string) {
	var list []report.Tested
	for _, name := range traces {
		if st, err := os.Stat(name); err == nil && st.Size() > mostShown {
			fmt.Fprintf(e.stderr, "qinst: %s has more than %s, and is not shown with the others: qinst report reads it\n",
				name, measure.Bytes(mostShown))
			continue
		}
		t, err := trace.Open(name)
		if err != nil {
			continue // it is the second part of one, or none
		}
		if p, _, err := steps.Build(t, steps.Options{}); err == nil && t.Began > 0 {
			program, _ := t.Attr("program").(string)
			list = append(list, report.NewTested(program, t.Began, p))
		}
		_ = t.Close() // it was only read
	}
	if len(list) > 1 || len(list) == 1 && list[0].To-list[0].From > int64(worthShowing) {
		_ = report.Tests(list).WriteText(e.stderr) // the tests' own output is on the standard output
	}
}

// testTraces returns the pattern of the traces that tests write with these settings. A relative
// name is one in each package's directory; only the working directory is searched.
func testTraces(settings string) string {
	for item := range strings.SplitSeq(settings, ",") {
		if name, ok := strings.CutPrefix(item, "out="); ok {
			return strings.NewReplacer("%n", "*", "%p", "*", "%h", "*").Replace(name) + "*"
		}
	}
	return filepath.Join(os.TempDir(), "*.test.*.sddf*")
}

// mayBeCached reports whether the go command may answer with the result of an earlier run: it does
// so only for packages given by name, and not if a flag sets how often the tests run.
func mayBeCached(passed, args []string) bool {
	runs := func(arg string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		return arg != name && slices.Contains([]string{"count", "bench", "fuzz", "c", "list", "n"},
			strings.TrimPrefix(name, "test."))
	}
	return len(args) > 0 && !slices.ContainsFunc(passed, runs) && !slices.ContainsFunc(args, runs)
}
