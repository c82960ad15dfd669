package correct_test

import (
	"strings"
	"testing"

	"qinst.dev/internal/analysis/correct"
	"qinst.dev/internal/trace/tracetest"
)

// dense is a run of 1,000 calls of a procedure that work 2 us each, of which every one in n is
// traced, and whose events take 3 us.
func dense(name string, n int) *tracetest.Builder {
	const work, event = 2 * us, 3 * us
	b := priced(1)
	f := b.Proc(name)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	for i := range 1000 {
		if i%n != 0 {
			b.Count(f, 1)
			b.At(b.Now() + work)
			continue
		}
		b.Enter(g, f)
		b.At(b.Now() + event + work)
		b.Exit(g, f)
		b.At(b.Now() + event)
	}
	b.End(g)
	return b
}

// idle is a run of the same program that calls nothing.
func idle() *tracetest.Builder {
	b := priced(1)
	b.Proc("main.f")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.At(us).End(g)
	return b
}

// The price of an event follows from two runs of which one has more of them: it is near 3 us, and
// not the 1.5 that the clock tells.
func TestDensity(t *testing.T) {
	t.Parallel()
	r, err := correct.New(dense("main.f", 1).Trace(), correct.Options{Density: dense("main.f", 10).Trace()})
	if err != nil {
		t.Fatal(err)
	}
	c := r.Costs[0]
	if c.Each < 2700 || c.Each > 3000 || c.Each+2*c.SD < 3000 || c.Measured != "another run" {
		t.Errorf("found a price of %v +- %v ns, measured in %s; expected 3000, of which some is lost to the prices of the trace", c.Each, c.SD, c.Measured)
	}
	if r.Model < 2000*us || r.Model > 2600*us || r.Optimistic > 2000*us {
		t.Errorf("found %d ns, at least %d, expected 2 ms and what is left of 6", r.Model, r.Optimistic)
	}
}

// locked is dense with a pair of operations in place of each call.
func locked(n int) *tracetest.Builder {
	b := priced(1)
	lock, unlock := b.Object("main.mu", "Lock"), b.Object("main.mu", "Unlock")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	for i := range 1000 {
		if i%n == 0 {
			b.Sync(g, lock, 1, 0)
			b.At(b.Now() + 2*us)
			b.Sync(g, unlock, 1, 0)
		} else {
			b.Count(lock, 1)
			b.Count(unlock, 1)
		}
		b.At(b.Now() + 2*us)
	}
	b.End(g)
	return b
}

// Loops are not counted while their procedure runs without probes: a run in which they were is the
// same one.
func TestLoopsNotCounted(t *testing.T) {
	t.Parallel()
	whole, part := dense("main.f", 1), dense("main.f", 10)
	whole.Count(whole.Loop("for", false), 5000)
	part.Loop("for", false)
	if _, err := correct.New(whole.Trace(), correct.Options{Density: part.Trace()}); err != nil {
		t.Error(err)
	}
}

// A file that tells nothing of the price is refused.
func TestNoDensity(t *testing.T) {
	t.Parallel()
	if _, err := correct.New(locked(1).Trace(), correct.Options{Density: locked(10).Trace()}); err == nil ||
		!strings.Contains(err.Error(), "operations and scheduling") {
		t.Errorf("locks: %v", err)
	}
	for name, d := range map[string]*tracetest.Builder{"another program": dense("main.other", 10),
		"as many events": dense("main.f", 1), "something else": idle()} {
		if _, err := correct.New(dense("main.f", 1).Trace(), correct.Options{Density: d.Trace()}); err == nil ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
