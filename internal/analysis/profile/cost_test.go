package profile_test

import (
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace/tracetest"
)

// TestCost: what the tool cost is the sum of its parts, and lies between its bounds.
func TestCost(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1).Attribute("count_cost_ps", 4000).Attribute("event_cost_ps", 50_000).Attribute("sample_ns", 1)
	f := b.Proc("main.f")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, f)
	b.Plain(f, 1000)
	b.Count(f, 100)
	b.At(1e6).Exit(g, f)
	b.End(g)
	c := profileOf(t, b).Tool.Cost
	for _, x := range []struct {
		what string
		paid profile.Paid
		n    uint64
		cost int64
	}{
		{"counts by probes", c.Counted, 100, 400},
		{"counts in place", c.InPlace, 1000, 102},
		{"tests", c.Tests, 1101, 112},
	} {
		if x.paid.N != x.n || x.paid.Cost != x.cost {
			t.Errorf("%s: found %d for %d ns, expected %d for %d", x.what, x.paid.N, x.paid.Cost, x.n, x.cost)
		}
	}
	if sum := c.Writer + c.Events.Cost + c.Timed.Cost + c.Counted.Cost + c.InPlace.Cost + c.Tests.Cost +
		c.Text; c.All != sum || c.Lo >= c.All || c.Hi <= c.All {
		t.Errorf("found %d between %d and %d, expected the sum %d, and bounds around it", c.All, c.Lo, c.Hi, sum)
	}
}

// The tool cannot have taken more than the process used, whatever its prices say, and the parts are
// no more than the whole.
func TestCostBounded(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1).Attribute("count_cost_ps", 116_000).Attribute("clock_cost_ps",
		330_000).Attribute("event_cost_ps", 1_600_000)
	f := b.Proc("main.f")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, f)
	b.Count(f, 1e6)
	b.At(10e6).Exit(g, f)
	b.End(g)
	b.Given(0, 10e6, 0, 0)
	c := profileOf(t, b).Tool.Cost
	if parts := c.Writer + c.Looks + c.Events.Cost + c.Counted.Cost + c.InPlace.Cost + c.Tests.Cost +
		c.Text; c.All > 10e6 || c.Hi > 10e6 || c.Lo > c.Hi || parts > 10e6+10 || c.Counted.Cost == 0 {
		t.Errorf("of a process of 10 ms the tool took %d (from %d to %d), its parts %d", c.All, c.Lo, c.Hi, parts)
	}
}

// What larger text may cost is a share of the time in text with probes. Without samples that is the
// time in procedures with probes, and for a procedure that is entered once only the bound has it.
func TestCostOfText(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1).Attribute("count_cost_ps", 1000).Attribute("event_cost_ps", 1000)
	f := b.Proc("main.f")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.At(4e6).Enter(g, f)
	b.At(10e6).Exit(g, f)
	b.End(g)
	b.Given(0, 10e6, 0, 0)
	c := profileOf(t, b).Tool.Cost
	if c.Probed < 5.9e6 || c.Probed > 6e6 || c.Text > 100 || c.Hi < 1.4e6 {
		t.Errorf("of 6 ms in main.f the tool took %d for text, between %d and %d in all, with %d in text with probes",
			c.Text, c.Lo, c.Hi, c.Probed)
	}
}

// Events of scheduling have a price of their own, and those of threads, which the system reports,
// have none.
func TestCostOfChanges(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1).Attribute("clock_cost_ps", 10_000)
	f := b.Proc("main.f")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, f)
	for i := range int64(100) {
		b.At(1000*i).Wait(g, "chan receive", 0, 0)
		b.At(1000*i+500).Unpark(0, g)
		b.Start(g, 0)
	}
	b.At(1e6).Exit(g, f)
	b.End(g)
	c := profileOf(t, b).Tool.Cost
	changes, others := int64(302), int64(102) // the latter are of processors
	if want := (profile.Paid{N: uint64(changes + others), Cost: 25*changes + 18*others}); c.Changes != want ||
		c.Events != (profile.Paid{N: 2, Cost: 30}) {
		t.Errorf("found %+v for changes and %+v for the procedure, expected %+v, and 2 at 15 ns", c.Changes, c.Events,
			want)
	}
	if sum := c.Writer + c.Events.Cost + c.Changes.Cost + c.Text; c.All != sum {
		t.Errorf("found %d in all, expected %d", c.All, sum)
	}
}
