package main

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/trace/tracetest"
)

// randomViews are what people ask for of a trace in one step.
var randomViews = []string{
	"report", "report -all", "report -json", "report -markdown", "profile", "profile -html=-", "profile -tree", "profile -by sync",
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
		sameConclusions(t, file)
	})
}

// TestSameConclusions: all views of a kept trace have the same conclusions in the same order, as
// data and as text.
func TestSameConclusions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "kept", "*.sddf"))
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d kept traces (%v), expected ten or more", len(files), err)
	}
	some := 0
	for _, file := range files {
		some += sameConclusions(t, file)
	}
	if some < 5 {
		t.Errorf("found %d conclusions in all traces, expected 5 or more", some)
	}
}

// sameConclusions compares what the commands conclude from a trace, and returns how many
// conclusions that is.
func sameConclusions(t rapid.TB, file string) int {
	t.Helper()
	var first []advice.Item
	for i, command := range []string{"report", "critical", "predict", "correct"} {
		var data, text bytes.Buffer
		e := newEnv(&data, io.Discard)
		if err := dispatch(e, []string{command, "-json", file}); err != nil {
			t.Fatal(err)
		}
		var found struct{ Advice []advice.Item }
		if err := json.Unmarshal(data.Bytes(), &found); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = found.Advice
		}
		if !reflect.DeepEqual(found.Advice, first) {
			t.Fatalf("%s: %s concludes %v, report %v", file, command, found.Advice, first)
		}
		if err := dispatch(newEnv(&text, io.Discard), []string{command, file}); err != nil {
			t.Fatal(err)
		}
		words, from := strings.Join(strings.Fields(text.String()), " "), 0
		for _, item := range advice.Texts(first)[:min(3, len(advice.Texts(first)))] {
			at := strings.Index(words[from:], strings.Join(strings.Fields(item), " "))
			if at < 0 {
				t.Fatalf("%s: %s does not say next: %s\n%s", file, command, item, text.String())
			}
			from += at
		}
	}
	return len(first)
}
