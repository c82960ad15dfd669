package correct_test

import (
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

// counted is a run of 250 us. A goroutine calls a procedure a hundred times in its first 100 us,
// which only counts, and then works as long without calls beside another one that takes longer.
// Only what the calls cost in the first half makes the run longer.
func counted(t *testing.T, tells bool) *tracetest.Builder {
	t.Helper()
	const hits = 100
	b := tracetest.New(2)
	b.Attribute("clock_cost_ps", 1000)
	b.Attribute("count_cost_ps", 350_000)
	f, tiny := b.Proc("main.f"), b.Proc("main.tiny")
	b.In(tiny, f) // whose work is that of f
	b.Count(tiny, hits)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	w := b.Go(g, "main.work")
	b.Start(w, 1)
	b.Enter(w, f)
	b.Wait(g, "chan receive", 0x1000, 0)
	b.At(100 * us)
	if tells {
		b.Told(0, uint64(tiny), hits)
	}
	b.Unpark(w, g)
	b.Start(g, 0)
	b.At(200 * us)
	if tells {
		b.Told(100*us, uint64(f), 0)
	}
	b.Exit(w, f)
	b.End(w)
	b.At(250 * us)
	b.End(g)
	if err := tracetest.Validate(b.Trace()); err != nil {
		t.Fatal(err)
	}
	return b
}

// Hits without an event cost time in the periods in which there were.
func TestPeriods(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tells bool
		ns    int64
	}{{false, 227 * us}, {true, 205 * us}} { // half or all of the 35 us for counts, and of 9 for tests and larger text
		if r := corrected(t, counted(t, c.tells)); r.Measured != 250*us || r.Model < c.ns-3*us || r.Model > c.ns+3*us {
			t.Errorf("told %t: found %d ns of %d, expected about %d", c.tells, r.Model, r.Measured, c.ns)
		}
	}
}

// What is told of a stretch of time falls into the periods in which that is.
func TestSpread(t *testing.T) {
	t.Parallel()
	p := trace.Periods{N: 4, Wall: 400}
	list := make([]float64, p.N)
	p.Spread(list, 50, 250, 20)
	p.Spread(list, 390, 500, 1) // ends behind the last one
	upTo := []float64{0, 5, 15, 20, 21}
	sum := 0.
	for i, x := range list {
		if sum += x; sum != upTo[i+1] {
			t.Fatalf("found %v", list)
		}
	}
	for _, c := range []struct {
		from, to trace.Time
		want     float64
	}{{0, 400, 21}, {100, 200, 10}, {150, 250, 7.5}, {-10, 50, 2.5}, {380, 900, 0.2}, {10, 10, 0}} {
		if got := p.Between(upTo, c.from, c.to); got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%d to %d: found %v, expected %v", c.from, c.to, got, c.want)
		}
	}
}
