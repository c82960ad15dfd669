package report_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/names"
	"qinst.dev/internal/report"
	"qinst.dev/internal/trace/tracetest"
)

// Every form marks estimates with ~ and lower bounds with ≥, and nothing else.
func TestBurstsAreMarked(t *testing.T) {
	t.Parallel()
	tr := tracetest.Hot().Trace()
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		write func(w io.Writer) error
		want  []string
	}{
		"report":   {report.Page(tr, advice.Gather(tr, p)).WriteText, []string{"2 hot procedures", "~105,354", " 101,009"}},
		"markdown": {report.Page(tr, advice.Gather(tr, p)).WriteMarkdown, []string{"2 hot procedures", "~105,354"}},
		"profile":  {report.Profile(p, report.View{}).WriteText, []string{"2 hot procedures", "~105,354"}},
		"diff":     {report.ProfileDiff(p, p, report.View{}).WriteText, []string{"~105,354  ~105,354"}},
		"html": {func(w io.Writer) error { return writeHTML(w, tr, p) },
			[]string{"2 hot procedures", ">~105,354<", "with 95 % confidence", ">101,009<"}},
		"runs": {func(w io.Writer) error {
			r, err := profile.Over([]*profile.Profile{p, p}, profile.Merge([]*profile.Profile{p, p}))
			if err != nil {
				return err
			}
			return report.Runs(w, 0, r)
		}, []string{"2 hot procedures", "~105,354", " 101,009"}},
	} {
		var out bytes.Buffer
		if err := c.write(&out); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%s", name, want, out.String())
			}
		}
		if strings.Contains(out.String(), "~101,009") {
			t.Errorf("%s: an exact number is marked in\n%s", name, out.String())
		}
	}
}

// The lines of a listing have numbers of calls, too.
func TestBurstsOfLines(t *testing.T) {
	t.Parallel()
	p, err := profile.New(tracetest.Hot().Trace())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source := "package main\n\nfunc hot() {\n\n\n\n\n\n\n\n}\n" // of calls on lines 6 to 10
	if err := os.WriteFile(filepath.Join(dir, "test.go"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, proc := range []string{"^main.hot$", "^main.short$"} {
		if err := report.List(&out, 0, p, names.Choose(proc), report.Sources{Folder: dir}); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"~202,018", "≥9", "101,009 calls"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
