package predict_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace/tracetest"
)

// randomLengths is a program whose work takes a random time: four goroutines, with a lock that they need now and then.
func randomLengths(r *rand.Rand) (threads []tracetest.Thread) {
	for range 4 {
		var ops []tracetest.Op
		for range 30 {
			ops = append(ops, work("outside", 0.2*r.ExpFloat64()), tracetest.Lock("main.mu"), work("inside", 0.02+0.02*r.Float64()), tracetest.Unlock("main.mu"))
		}
		threads = append(threads, tracetest.Thread{Name: "main.worker", Ops: ops})
	}
	return threads
}

// TestInterval: 9 of 10 runs take as long as the interval says that another run told.
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
	const cases, procs = 1000, 3
	covered, width := 0, 0.
	for range cases {
		of := predict.New(build(), predict.Ask{Procs: []int{procs}, Policy: predict.Sharing, WhatIf: []predict.WhatIf{}}).Runs[0]
		next := predict.Simulate(build(), predict.Options{Procs: procs, Policy: predict.Sharing}).T
		if float64(of.Lo) <= next && next <= float64(of.Hi) {
			covered++
		}
		width += float64(of.Hi-of.Lo) / float64(of.T) / cases
	}
	// One time in 100 a binomial is further off.
	if off := 2.576 * math.Sqrt(cases*0.9*0.1); math.Abs(float64(covered)-0.9*cases) > off {
		t.Errorf("%d of %d runs were in their intervals, expected %v within %.0f", covered, cases, 0.9*cases, off)
	}
	t.Logf("%d of %d covered, %.1f %% wide", covered, cases, 100*width)
}

// Go's scheduler does the same work, on no fewer processors than it has: never faster than without waits for processors, and on one processor as slow as
// all work in turn.
func TestGoScheduler(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 10))
	for i := range 2000 {
		p := random(r)
		for step := range steps.StepID(p.Steps.Len()) { // no delays
			if s := p.Step(step); s.Kind == steps.Delay {
				at, next, work := s.At, s.Next, s.Work
				*s = steps.Delays(s.Cause(), 0)
				s.At, s.Next, s.Work = at, next, work
			}
		}
		free := predict.Simulate(p.Program, predict.Options{Policy: predict.Go})
		for procs := 1; procs <= 3; procs++ {
			run := predict.Simulate(p.Program, predict.Options{Procs: procs, Policy: predict.Go, Seed: uint64(i)})
			if run.Forced > 0 || free.Forced > 0 {
				continue
			}
			if !near(run.Busy, free.Busy) {
				t.Errorf("program %d: %d processors did work of %v, expected %v", i, procs, run.Busy, free.Busy)
			}
			if least := run.Busy / float64(procs); run.T < least*(1-1e-9) {
				t.Errorf("program %d: it takes %v on %d processors, expected %v at least", i, run.T, procs, least)
			}
			if procs == 1 && !near(run.T, run.Busy) {
				t.Errorf("program %d: it takes %v on one processor, expected %v", i, run.T, run.Busy)
			}
		}
	}
}
