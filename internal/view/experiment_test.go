package view_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/report/experiment"
	"qinst.dev/internal/view"
)

// tried is an experiment with the kept trace's program.
func tried(t *testing.T) *experiment.Experiment {
	t.Helper()
	f, err := os.Open("testdata/convoy.spt.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x, err := experiment.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// together is a view of a kept trace and of an experiment.
func together(t *testing.T, name string, x *experiment.Experiment) *view.View {
	t.Helper()
	v := view.New(kept(t, name))
	v.Try("convoy.spt.json", x)
	if err := v.Wait(); err != nil {
		t.Fatal(err)
	}
	return v
}

// With a trace of the same program the factors are in its table. With that of another one a
// sentence says so.
func TestExperiment(t *testing.T) {
	for name, doubted := range map[string]bool{"convoy": false, "locks": true} {
		s := view.NewServer(together(t, name, tried(t)))
		var x view.Tried
		answer(t, s, "experiment", &x)
		if x.File != "convoy.spt.json" || x.Program != "convoy" || len(x.Plans) != 2 || len(x.Plans[0].Runs) != 64 {
			t.Errorf("found %+v", x)
		}
		if (x.Doubt != "") != doubted || doubted && !strings.Contains(x.Doubt, "of convoy, and the trace is of locks") {
			t.Errorf("%s: found %q", name, x.Doubt)
		}
		var run view.Run
		if answer(t, s, "trace", &run); !run.Tried || run.Alone || run.Wall == 0 {
			t.Errorf("found %+v", run)
		}
		var entries []struct{ Name string }
		answer(t, s, "table", &entries)
		for _, f := range x.Plans[0].Factors {
			there := slices.ContainsFunc(entries, func(e struct{ Name string }) bool { return e.Name == f.Name })
			if there == doubted {
				t.Errorf("%s: %s is in the table: %v", name, f.Name, there)
			}
		}
	}
	if status, _ := refusedBy(serve(t, locks()), "experiment"); status != http.StatusNotFound {
		t.Errorf("without an experiment: found %d, expected 404", status)
	}
}

// Without a trace there is only the experiment, from a server and in a file.
func TestExperimentAlone(t *testing.T) {
	v := view.Alone("convoy.spt.json", tried(t))
	s := view.NewServer(v)
	var run view.Run
	if answer(t, s, "trace", &run); !run.Alone || !run.Read || run.Program != "convoy" || run.File != "convoy.spt.json" {
		t.Errorf("found %+v", run)
	}
	var x view.Tried
	if answer(t, s, "experiment", &x); len(x.Plans) != 2 || x.Doubt != "" {
		t.Errorf("found %+v", x)
	}
	for _, path := range []string{"table", "items", "timeline?from=0&to=1&px=1&tracks=1"} {
		if status, _ := refusedBy(s, path); status != http.StatusNotFound {
			t.Errorf("%s: found %d, expected 404", path, status)
		}
	}
	for _, v := range []*view.View{v, together(t, "convoy", tried(t))} {
		var out bytes.Buffer
		if err := view.WriteHTML(&out, v); err != nil {
			t.Fatal(err)
		}
		var answers struct {
			Experiment view.Tried
			Trace      view.Run
		}
		kept := element(t, out.String(), `<script type="application/json" id="answers">`)
		if err := json.Unmarshal([]byte(kept), &answers); err != nil {
			t.Fatal(err)
		}
		if len(answers.Experiment.Plans) != 2 || !answers.Trace.Tried {
			t.Errorf("found %+v in the file", answers)
		}
	}
}

// The answer has a bound, however long the experiment is.
func TestExperimentLong(t *testing.T) {
	x := tried(t)
	p := &x.Plans[0]
	for range 15 {
		p.Runs = append(p.Runs, p.Runs...)
	}
	for range 20 {
		x.Plans = append(x.Plans, *p)
	}
	x.Said[0].Text = strings.Repeat("<", 10_000)
	s := view.NewServer(view.Alone(strings.Repeat("f", 200), x))
	var raw json.RawMessage
	if answer(t, s, "experiment", &raw); len(raw) > 500_000 || len(raw) < 50_000 {
		t.Errorf("found %d bytes, expected at most 500,000", len(raw))
	}
}
