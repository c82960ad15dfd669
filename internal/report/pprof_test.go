package report_test

import (
	"bytes"
	"testing"

	pprof "github.com/google/pprof/profile"
	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/report"
	"qinst.dev/internal/trace/tracetest"
)

// A file for pprof can be read, and adds up: normalized processor time to the run
// time, busy time to the trace's.
func TestPprof(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := tracetest.Random(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }).Trace()
		p, err := profile.New(tr)
		if err != nil {
			t.Fatal(err)
		}
		var out, again bytes.Buffer
		if err := report.Pprof(&out, tr, p, report.View{}); err != nil {
			t.Fatal(err)
		}
		if err := report.Pprof(&again, tr, p, report.View{}); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
			t.Errorf("written twice it is another one, %v", err)
		}
		read, err := pprof.Parse(&out)
		if err != nil {
			t.Fatal(err)
		}
		npt, busy := int64(0), int64(0)
		for _, s := range read.Sample {
			npt += s.Value[0]
			busy += s.Value[1]
		}
		if d := npt - p.Wall; busy != p.Busy || d > int64(len(read.Sample)) || -d > int64(len(read.Sample)) {
			t.Errorf("%d ns of NPT, %d busy; wall %d, busy %d", npt, busy, p.Wall, p.Busy)
		}
	})
}

// The line of a caller is that of the only call, or else its first one.
func TestPprofLines(t *testing.T) {
	b := tracetest.New(1)
	g := b.Go(0, "main.main")
	b.Start(g, 0)
	f, once, twice := b.Proc("main.f"), b.Proc("main.once"), b.Proc("main.twice") // at lines 1, 2, 3
	b.Calls(f, "main.once", 1)                                                    // at line 4
	b.Calls(f, "main.twice", 1)
	b.Calls(f, "main.twice", 1)
	b.Enter(g, f)
	for _, p := range []uint32{once, twice} {
		b.Enter(g, p)
		b.At(b.Now() + 1000)
		b.Exit(g, p)
	}
	b.Exit(g, f)
	tr := b.At(b.Now() + 1).Trace()
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := report.Pprof(&out, tr, p, report.View{}); err != nil {
		t.Fatal(err)
	}
	read, err := pprof.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int64{}
	for _, s := range read.Sample {
		if len(s.Location) > 2 {
			found[s.Location[0].Line[0].Function.Name] = s.Location[1].Line[0].Line
		}
		if s.Location[0].Mapping == nil || s.Location[0].Mapping.File != "test" {
			t.Errorf("found the binary %v, expected test", s.Location[0].Mapping)
		}
	}
	if found["main.once"] != 4 || found["main.twice"] != 1 {
		t.Errorf("found lines of callers %v, expected 4 for main.once and 1 for main.twice", found)
	}
}
