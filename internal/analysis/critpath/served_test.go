package critpath_test

import (
	"testing"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace/tracetest"
)

// server runs for 100 ms: main waits for a signal, or sleeps so often. Meanwhile two connections
// have a request of 8 ms each 10 ms, nine times, on two processors.
func server(sleeps int64) *tracetest.Builder {
	b := tracetest.New(2)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	conns := []tracetest.G{b.Go(main, "main.conn"), b.Go(main, "main.conn")}
	handle := b.Proc("main.handle")
	b.Park(main, "sleep")
	for i, g := range conns {
		b.Start(g, i)
		b.Park(g, "IO wait")
	}
	slept := int64(1)
	for k := range int64(9) {
		for ; slept*100*ms/sleeps <= k*10*ms; slept++ {
			b.At(slept*100*ms/sleeps).UnparkLate(main, 0)
			b.Start(main, 0)
			b.Park(main, "sleep")
		}
		for i, g := range conns {
			b.At(k*10*ms + ms).Netpoll(g)
			b.Start(g, i)
			b.BeginRegion(g, "request")
			b.Enter(g, handle)
		}
		for _, g := range conns {
			b.At(k*10*ms+9*ms).Exit(g, handle)
			b.EndRegion(g, "request")
			b.Park(g, "IO wait")
		}
	}
	b.At(100*ms).UnparkLate(main, 0)
	b.Start(main, 0)
	b.End(main)
	return b
}

// TestServed: where the outside decides how long a program runs, what can be made shorter are its
// requests. One that sleeps now and then is no such program. On one processor the two connections'
// requests take twice as long, and the last ones end after main has returned. Clients that wait for
// answers ask again 2 ms after one.
func TestServed(t *testing.T) {
	t.Parallel()
	for sleeps, want := range map[int64]string{1: "request", 10: ""} {
		p, _, err := steps.Build(server(sleeps).Trace(), steps.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := critpath.Served(p); got != want {
			t.Errorf("%d sleeps: found requests %q, expected %q", sleeps, got, want)
		}
		r := predict.New(p, predict.Ask{Procs: []int{1, 2}, Policy: sim.Sharing, Request: "request"})
		one, two := r.Runs[0].Request, r.Runs[1].Request
		if one == nil || two == nil || one.Count != 18 || two.Mean != 8*ms || one.Mean != 16*ms ||
			int(one.PerSecond) != 18000/161 || int(two.PerSecond) != 18000/89 {
			t.Errorf("%d sleeps: found %+v and %+v, expected 18 requests of 16 ms in 161 ms, and of 8 in 89", sleeps, one,
				two)
		}
	}
}
