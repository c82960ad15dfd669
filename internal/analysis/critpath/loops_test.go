package critpath_test

import (
	"testing"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/trace/tracetest"
)

// A loop has the sampled work in it, in activations that were only counted, too, and is an estimate
// then. One without samples is marked as known in part.
func TestLoopsOfCountedCalls(t *testing.T) {
	b := tracetest.New(1).Samples(1e4, 1, func(name string) bool { return name == "main.f" || name == "main.f-loop" })
	main, f, in := b.Proc("main.main"), b.Proc("main.f"), b.Loop("main.f-loop", false)
	whole, unseen := b.Loop("main.main-loop", false), b.Loop("main.unseen", false)
	b.In(in, f)
	b.In(whole, main)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, main)
	b.Enter(g, whole)
	for range 10 {
		b.Enter(g, f)
		b.At(b.Now()+100_000).Enter(g, in)
		b.At(b.Now()+900_000).Leave(g, in, 5)
		b.Exit(g, f)
	}
	b.Leave(g, whole, 10)
	b.Enter(g, unseen)
	b.Count(unseen, 3)
	b.At(b.Now()+1000).Leave(g, unseen, 1)
	b.Exit(g, main)
	b.End(g)
	r := critpath.New(program(t, b.Trace()), critpath.Options{Policy: sim.Sharing, AsRun: true})
	found := map[string]*critpath.Entry{}
	for i := range r.Entries {
		found[r.Entries[i].Name] = &r.Entries[i]
	}
	e := found["main.f: main.f-loop"]
	if e == nil || !e.Estimated || e.Interval == nil || e.Interval[0] > 9*ms || e.Interval[1] < 9*ms {
		t.Fatalf("found %+v, expected about 9 ms, estimated", e)
	}
	for what, ns := range map[string]int64{"self": e.Self, "inclusive": e.Inclusive, "work": e.Work,
		"worth": e.Weighted} {
		if ns < 8.5*ms || ns > 9.5*ms {
			t.Errorf("%s is %d ns, expected 9 ms", what, ns)
		}
	}
	if e := found["main.main: main.main-loop"]; e == nil || e.Estimated || e.Least || e.Work != 10*ms {
		t.Errorf("found %+v, expected 10 ms, exact", e)
	}
	if e := found["main.main"]; e == nil || !e.Estimated {
		t.Errorf("found %+v, expected that it is estimated that it does nothing itself", e)
	}
	if e := found["main.unseen"]; e == nil || !e.Least || e.Estimated || e.Work != 1000 {
		t.Errorf("found %+v, expected 1 us or more", e)
	}
}
