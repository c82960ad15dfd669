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
