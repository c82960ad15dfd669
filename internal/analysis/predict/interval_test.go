package predict_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace/tracetest"
)

// randomLengths is a program whose work takes a random time: four goroutines, with a lock that they
// need now and then.
func randomLengths(r *rand.Rand) (threads []tracetest.Thread) {
	for range 4 {
		var ops []tracetest.Op
		for range 30 {
			ops = append(ops, work("outside", 0.2*r.ExpFloat64()), tracetest.Lock("main.mu"),
				work("inside", 0.02+0.02*r.Float64()), tracetest.Unlock("main.mu"))
		}
		threads = append(threads, tracetest.Thread{Name: "main.worker", Ops: ops})
	}
	return threads
}

// TestInterval: 9 of 10 runs lie in the interval that another run of the program predicts.
func TestInterval(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	build := func() *steps.Program {
		b := tracetest.New(2)
		b.Operations = true
		p, _, err := steps.Build(tracetest.SimulateOn(b, randomLengths(r)).Trace(), steps.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const procs = 3
	cases := float64(tracetest.Cases(1000))
	covered, width := 0, 0.
	for range int(cases) {
		of := predict.New(build(), predict.Ask{Procs: []int{procs}, Policy: sim.Sharing,
			WhatIf: []predict.WhatIf{}}).Runs[0]
		next := sim.Simulate(build(), sim.Options{Procs: procs, Policy: sim.Sharing}).T
		if float64(of.Lo) <= next && next <= float64(of.Hi) {
			covered++
		}
		width += float64(of.Hi-of.Lo) / float64(of.T) / cases
	}
	// One time in 100 a binomial is further off.
	if off := 2.576 * math.Sqrt(cases*0.9*0.1); math.Abs(float64(covered)-0.9*cases) > off {
		t.Errorf("%d of %v runs were in their intervals, expected %v within %.0f", covered, cases, 0.9*cases, off)
	}
	t.Logf("%d of %v covered, %.1f %% wide", covered, cases, 100*width)
}
