package predict_test

import (
	"math"
	"testing"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

// TestLatency: two connections on which requests of 4 ms come at 0, 10 and 20 ms, recorded on one
// processor: one of each two requests waited for the other. On two none waits, and they come when
// they came.
func TestLatency(t *testing.T) {
	t.Parallel()
	p := twoClients(t)
	r := predict.New(p, predict.Ask{Procs: []int{1, 2}, Policy: sim.Sharing, Request: "request"})
	// Clients that wait ask again 6 and 2 ms after an answer.
	for i, want := range []sim.Latency{{Count: 6, Mean: 8 * ms, P50: 8 * ms, P99: 8 * ms},
		{Count: 6, Mean: 4 * ms, P50: 4 * ms, P99: 4 * ms}} {
		got := r.Runs[i].Request
		if got == nil {
			t.Fatal("no latency")
		}
		if perSecond := []float64{193.5, 240}[i]; math.Abs(got.PerSecond-perSecond) > 1 {
			t.Errorf("%v requests a second, expected %v: 6 in 31 ms on one processor, and in 25 on two", got.PerSecond, perSecond)
		}
		if got.Latency != want {
			t.Errorf("on %d processors: found %+v, expected %+v", r.Runs[i].Procs, *got, want)
		}
	}
	if r := predict.New(p, predict.Ask{Procs: []int{2}, Policy: sim.List, Request: "request"}); r.Runs[0].T != 31*ms {
		t.Errorf("it takes %d, expected 31 ms: requests come when they came", r.Runs[0].T)
	}
}

// twoClients is the run of TestLatency.
func twoClients(t *testing.T) *steps.Program {
	t.Helper()
	b := tracetest.New(1)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	conns := []tracetest.G{b.Go(main, "main.conn"), b.Go(main, "main.conn")}
	handle := b.Proc("main.handle")
	b.Park(main, "select")
	serve := func(g tracetest.G, at int64) {
		b.At(at)
		b.BeginRegion(g, "request")
		b.Enter(g, handle)
		b.At(at + 4*ms)
		b.Exit(g, handle)
		b.EndRegion(g, "request")
		b.Park(g, "IO wait")
	}
	for _, g := range conns {
		b.Start(g, 0)
		b.Park(g, "IO wait")
	}
	for k := range int64(3) {
		b.At(k*10*ms + ms)
		for _, g := range conns {
			b.Netpoll(g)
		}
		b.Start(conns[0], 0)
		serve(conns[0], k*10*ms+ms)
		b.Start(conns[1], 0)
		serve(conns[1], k*10*ms+5*ms)
	}
	b.At(31 * ms)
	b.Netpoll(main)
	b.Start(main, 0)
	b.End(main)
	p, _, err := steps.Build(trace.Source(b.Trace()), steps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestLoad: both clients of TestLatency ask again 6 and 2 ms after an answer, so that the one with
// longer gaps decides how long all requests take. Its last one begins after two gaps and two
// requests, which share the recorded processor with the other client's: for 8 and 6 ms of 4 ms of
// work, for 4 and 4 of 2, and for 10 and 8 of 5.
func TestLoad(t *testing.T) {
	t.Parallel()
	q := predict.NewLoadPredictor(twoClients(t), sim.Sharing, nil)
	if q == nil {
		t.Fatal("nothing can be predicted")
	}
	if got := q.T(); got != 30*ms {
		t.Errorf("requests take %d, expected 8+6+6+6+4 ms", got)
	}
	if got, err := q.Takes("main.handle=-50%"); err != nil || got != 22*ms {
		t.Errorf("with half the work requests take %v (%v), expected 4+6+4+6+2 ms", got, err)
	}
	if c, err := q.Gain("main.handle=-50%"); err != nil || math.Abs(c.GainPct-100*8/30.) > 1 || c.Unknown != "" {
		t.Errorf("found %+v (%v), expected a gain of 27 %%", c, err)
	}
	d := &predict.Delayed{Name: "main.handle"}
	if !q.Visits(d) {
		t.Fatal("no visits")
	}
	if got := q.WithDelays([]*predict.Delayed{d}, []float64{6 * ms}); got != 35*ms {
		t.Errorf("with delays of 6 ms requests take %v, expected 10+6+8+6+5 ms", got)
	}
}

// TestLatencyWithin: a request's wait for the network takes as long as recorded, whenever it
// begins.
func TestLatencyWithin(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	handle := b.Proc("main.handle")
	b.BeginRegion(main, "request")
	b.Enter(main, handle)
	b.At(1*ms).Park(main, "IO wait")
	b.At(3 * ms).Netpoll(main)
	b.Start(main, 0)
	b.At(4*ms).Exit(main, handle)
	b.EndRegion(main, "request")
	b.At(5 * ms).End(main)
	p, _, err := steps.Build(trace.Source(b.Trace()), steps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	half, err := predict.ParseWhatIf("self:main.handle=-50%")
	if err != nil {
		t.Fatal(err)
	}
	r := predict.New(p, predict.Ask{Procs: []int{1}, Policy: sim.Sharing, Request: "request",
		WhatIf: []predict.WhatIf{half}})
	if c := r.WhatIf[0]; c.T != 3*ms || c.GainPct != 25 {
		t.Errorf("found %+v, expected a mean of 3 ms, a gain of 25 %%", c)
	}
}
