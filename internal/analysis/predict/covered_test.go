package predict_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace/tracetest"
)

// TestGainsCovered: 9 of 10 gains that are really made lie in the intervals that were predicted,
// where samples tell how much of the work changes, and where the program is faster at one time than
// at another.
func TestGainsCovered(t *testing.T) {
	t.Parallel()
	const pieces, less = 320, 0.5
	for _, c := range []struct {
		name    string
		samples bool
		drift   float64 // of the speed, from one twentieth of a run to the next
		most    float64 // of the interval, in percent
	}{{"samples", true, 0, 12}, {"drift", false, .05, 6}, {"neither", false, 0, 1}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(21, 22))
			cases := tracetest.Cases(400)
			share, covered, width := .3, 0, 0.
			for i := range cases {
				run := func(b *tracetest.Builder, scale float64) *tracetest.Builder {
					b.Operations = true
					var speeds [20]float64
					for k := range speeds {
						speeds[k] = 1 + c.drift*r.NormFloat64()
					}
					var threads []tracetest.Thread
					for worker := range 2 {
						mu := fmt.Sprint("main.mu", worker)
						var ops []tracetest.Op
						for k := range pieces {
							speed := speeds[k*len(speeds)/pieces]
							ops = append(ops, tracetest.Lock(mu), tracetest.Enter("main.host"),
								work("part", .1*share*scale*speed), work("rest", .1*(1-share)*speed),
								tracetest.Leave("main.host"), tracetest.Unlock(mu))
						}
						threads = append(threads, tracetest.Thread{Name: "main.worker", Ops: ops})
					}
					return tracetest.SimulateOn(b, threads)
				}
				b := tracetest.New(2)
				if c.samples {
					b.Samples(ms/2, uint64(i), func(proc string) bool { return proc == "main.part" || proc == "main.rest" })
				}
				x := changedBy(t, run(b, 1), "main.part=-50%")
				before, after := run(tracetest.New(2), 1).Now(), run(tracetest.New(2), 1-less).Now()
				real := 100 * (1 - float64(after)/float64(before))
				if x.Unknown == "" && x.LoPct-.01 <= real && real <= x.HiPct+.01 {
					covered++
				}
				width += (x.HiPct - x.LoPct) / float64(cases)
			}
			if float64(covered) < .85*float64(cases) || width > c.most {
				t.Errorf("%d of %d are covered, by %.1f points on average, expected nine of ten by %.0f at most", covered,
					cases, width, c.most)
			}
			t.Logf("%d of %d, %.2f points", covered, cases, width)
		})
	}
}

// changedBy is what a change gains on two processors.
func changedBy(t *testing.T, b *tracetest.Builder, change string) predict.Change {
	t.Helper()
	p, _, err := steps.Build(b.Trace(), steps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := predict.ParseWhatIf(change)
	if err == nil {
		err = w.Check(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return predict.New(p, predict.Ask{Procs: []int{2}, Policy: sim.Sharing, WhatIf: []predict.WhatIf{w}}).WhatIf[0]
}
