package profile_test

import (
	"testing"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// What probes cost is in one line, and in no other: 1.5 readings of 10 ns an event, half in the
// procedure, half where it was called.
func TestProbesHaveALine(t *testing.T) {
	b := tracetest.New(1).Attribute("clock_cost_ps", 10_000)
	f, h := b.Proc("main.f"), b.Proc("main.h")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, f)
	b.At(1000).Enter(g, h)
	b.At(3000).Exit(g, h)
	b.At(4000).Exit(g, f)
	b.End(g)
	p := profileOf(t, b)
	for name, busy := range map[string]int64{"main.f": 2000 - 30, "main.h": 2000 - 15, replay.Probes: 45} {
		if e := entry(t, p, name); e.SelfBusy != busy {
			t.Errorf("%s: busy %d, expected %d", name, e.SelfBusy, busy)
		}
	}
	if p.Tool.Probes != 45 {
		t.Errorf("probes took %d, expected 45", p.Tool.Probes)
	}
}

// The collector's work in the program's goroutines is a procedure that nobody wrote, on
// behalf of the one that it interrupts.
func TestAssistHasALine(t *testing.T) {
	b := tracetest.New(1)
	f := b.Proc("main.f")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, f)
	b.At(1000).Note(g, spec.EvAssistBegin)
	b.At(1400).Note(g, spec.EvAssistEnd)
	b.At(2000).Exit(g, f)
	b.End(g)
	p := profileOf(t, b)
	if e := entry(t, p, replay.GCAssist); e.SelfBusy != 400 || p.GC.Assists != 400 {
		t.Errorf("%+v, %+v", e, p.GC)
	}
	if e := entry(t, p, "main.f"); e.SelfBusy != 1600 || e.Busy != 2000 {
		t.Errorf("main.f: self %d, all %d, expected 1600 and 2000", e.SelfBusy, e.Busy)
	}
}

// The counters of its calls are no time of a procedure: no more than half of what it has.
func TestCallCountersAreProbes(t *testing.T) {
	b := tracetest.New(1).Attribute("count_cost_ps", 4000)
	f, h := b.Proc("main.f"), b.Proc("main.h")
	b.Calls(f, "main.inlined", 100)
	b.Calls(h, "main.inlined", 1_000_000)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, f)
	b.At(1000).Enter(g, h)
	b.At(3000).Exit(g, h)
	b.At(4000).Exit(g, f)
	b.End(g)
	p := profileOf(t, b)
	for name, busy := range map[string]int64{"main.f": 2000 - 400, "main.h": 1000, replay.Probes: 1400} {
		if e := entry(t, p, name); e.SelfBusy != busy {
			t.Errorf("%s: busy %d, expected %d", name, e.SelfBusy, busy)
		}
	}
}

// What was taken out by the price of counters in the text is known to a factor, and the interval
// says so.
func TestPricesAreInIntervals(t *testing.T) {
	b := tracetest.New(1).Samples(1e4, 1, func(string) bool { return false }).Attribute("count_cost_ps",
		3900).Attribute("sample_ns", 1)
	f := b.Proc("main.f")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, f)
	b.Plain(f, 100_000) // 10 us for the counters and as much for the tests
	b.At(1e6).Exit(g, f)
	b.End(g)
	e := entry(t, profileOf(t, b), "main.f")
	if want := int64(1e6 - 20_000); e.SelfNPT < want-100 || e.SelfNPT > want+100 {
		t.Errorf("found %d ns, expected %d", e.SelfNPT, want)
	}
	if in := e.SelfNPTs; in == nil || in.Low > e.SelfNPT-19_000 || in.High < e.SelfNPT+15_000 {
		t.Errorf("found %+v around %d, expected the price twice and a fifth of it", in, e.SelfNPT)
	}
}
