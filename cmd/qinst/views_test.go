package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/trace/tracetest"
)

// randomViews are what people ask for of a trace in one step.
var randomViews = []string{
	"report", "report -json", "report -markdown", "profile", "profile -html=-", "profile -tree", "profile -by sync",
	"profile -json",
	"info", "dump -mode=events", "critical", "critical -procs 2 -json", "critical -html=-", "critical -requests",
	"predict", "predict -policy=fifo -procs 1,3", "correct", "correct -json", "profile -corrected",
	"critical -corrected",
}

// Whatever a program did: every view of its trace is made, without a panic and without an
// error. TestKeptTraces says what is in them.
func TestRandomViews(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		b := tracetest.Random(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") })
		file := filepath.Join(dir, "x.sddf")
		if err := b.WriteFile(file); err != nil {
			t.Fatal(err)
		}
		for _, view := range randomViews {
			var page, talk bytes.Buffer
			if err := dispatch(newEnv(&page, &talk), append(strings.Fields(view), file)); err != nil ||
				page.Len() == 0 {
				t.Fatalf("%s: %d bytes, %v", view, page.Len(), err)
			}
		}
	})
}
