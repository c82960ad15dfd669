package profile_test

import (
	"testing"

	"qinst.dev/cmd/internal/analysis/profile"
	"qinst.dev/cmd/internal/trace/tracetest"
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
	if sum := c.Writer + c.Events.Cost + c.Timed.Cost + c.Counted.Cost + c.InPlace.Cost + c.Tests.Cost + c.Text; c.All != sum || c.Lo >= c.All || c.Hi <= c.All {
		t.Errorf("found %d between %d and %d, expected the sum %d, and bounds around it", c.All, c.Lo, c.Hi, sum)
	}
}
