package view_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/report"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/internal/view"
)

// kept is one of the traces that are kept for tests.
func kept(t *testing.T, name string) *trace.Trace {
	t.Helper()
	source, err := trace.Open(filepath.Join("../../testdata/kept", name+".sddf"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { source.Close() })
	return source
}

// A lock that is held half as long, and more processors: the answers are those of the command.
func TestWhatIf(t *testing.T) {
	s := serve(t, locks())
	var c predict.Change
	answer(t, s, "whatif?change=hold:main.mu%3D-50%25", &c)
	if c.Unknown != "" || c.GainPct < 20 || c.GainPct > 60 || c.LoPct > c.GainPct || c.HiPct < c.GainPct {
		t.Errorf("found %+v", c)
	}
	var runs []predict.Of
	answer(t, s, "whatif?procs=1,2", &runs)
	if len(runs) != 2 || runs[0].Procs != 1 || runs[0].T <= runs[1].T {
		t.Errorf("found %+v", runs)
	}
}

// Each request is in one square, and the slowest come first.
func TestRequests(t *testing.T) {
	s := serve(t, kept(t, "convoy"))
	var list []struct {
		Name  string
		Count int
	}
	if answer(t, s, "requests", &list); len(list) == 0 {
		t.Fatal("found no requests")
	}
	for _, x := range list {
		var r view.Requests
		answer(t, s, "requests?name="+x.Name, &r)
		n := 0
		for _, column := range r.Heat {
			for _, k := range column {
				n += k
			}
		}
		if n != x.Count {
			t.Errorf("%s: found %d in squares, expected %d", x.Name, n, x.Count)
		}
		last := r.Most
		for _, one := range r.Slowest {
			if took := one.To - one.From; took > last || took < r.Least {
				t.Errorf("%s: %+v after one of %d ns", x.Name, one, last)
			} else {
				last = took
			}
		}
	}
}

// Source is read from where the view may read, and nowhere else.
func TestSource(t *testing.T) {
	folder := t.TempDir()
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, "// line %d\n", i+1)
	}
	if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	v := view.New(kept(t, "locks"))
	v.Sources = func() report.Sources { return report.Sources{Folder: folder} }
	s := view.NewServer(v)
	var source view.Source
	answer(t, s, "source?name=main.asleep", &source)
	if !strings.HasSuffix(source.File, "main.go") || len(source.Lines) == 0 ||
		!strings.Contains(source.Lines[0].Text, fmt.Sprintf("line %d", source.Lines[0].Number)) {
		t.Errorf("found %+v", source)
	}
	waited := false
	for _, l := range source.Lines {
		waited = waited || l.Blocked != ""
	}
	if !waited {
		t.Errorf("no line of main.asleep waits: %+v", source.Lines)
	}
	var none view.Source
	answer(t, serve(t, kept(t, "locks")), "source?name=main.asleep", &none)
	if len(none.Lines) > 0 || !strings.Contains(none.Missing, "-source=FOLDER") {
		t.Errorf("without a folder: found %+v", none)
	}
}

// Goroutines of a function are one track if there are many: as many as there are, at each time.
func TestFolds(t *testing.T) {
	var threads []tracetest.Thread
	for range 10 {
		threads = append(threads, tracetest.Thread{Name: "main.work", Ops: []tracetest.Op{tracetest.Do("main.f", 1000)}})
	}
	threads = append(threads, tracetest.Thread{Name: "main.other", Ops: []tracetest.Op{tracetest.Do("main.g", 1000)}})
	s := serve(t, tracetest.Simulate(2, threads).Trace())
	var list view.List
	answer(t, s, "tracks", &list)
	if len(list.Folds) != 1 || list.Folds[0].Name != "main.work" || list.Folds[0].Count != 10 || list.Folds[0].Ns < 10*1000 {
		t.Fatalf("found %+v", list.Folds)
	}
	var run view.Run
	answer(t, s, "trace", &run)
	var b view.Band
	answer(t, s, fmt.Sprintf("fold?name=main.work&from=0&to=%d&px=10", run.Wall), &b)
	running := 0.
	for _, x := range b.Series {
		for _, v := range x.Values {
			if x.Name == "running" {
				running += v * float64(run.Wall) / 10
			}
		}
	}
	if math.Abs(running-10*1000) > 100 || b.Top > 10 {
		t.Errorf("they run for %.0f ns, at most %v at a time: %+v", running, b.Top, b)
	}
	if status, said := refusedBy(s, "fold?name=main.other&from=0&to=10&px=10"); status != http.StatusBadRequest ||
		!strings.Contains(said, "expected that of a fold") {
		t.Errorf("found %d %s", status, said)
	}
}

func refusedBy(s *view.Server, path string) (int, string) {
	r := httptest.NewRequest(http.MethodGet, "/api/v1/"+path, nil)
	r.Host = "localhost"
	r.AddCookie(&http.Cookie{Name: s.Cookie, Value: s.Token})
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}
