package profile_test

import (
	"bytes"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

// The sums hold for any file that can be opened, however damaged.
func FuzzProfile(f *testing.F) {
	f.Add(tracetest.Simulate(3, fig4()).Bytes())
	f.Add(tracetest.SimulateOn(tracetest.New(3).Samples(1e5, 1, func(name string) bool { return name != "main.e" }),
		fig4()).Bytes())
	f.Add(tracetest.Hot().Bytes())
	seed := uint32(1)
	f.Add(tracetest.Random(func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>8) % n
	}).Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := trace.New(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		p, err := profile.New(tr)
		if err != nil {
			t.Fatal(err)
		}
		if tr.Wall() < 1<<50 { // beyond that the sums leave a float's precision
			identities(t, p)
		}
	})
}
