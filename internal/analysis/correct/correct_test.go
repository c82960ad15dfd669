package correct_test

import (
	"strings"
	"testing"

	"qinst.dev/internal/analysis/correct"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

const us = 1000

func corrected(t *testing.T, b *tracetest.Builder) *correct.Result {
	t.Helper()
	r, err := correct.New(b.Trace(), correct.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// priced is a trace in which a call's event costs 1.5 us: 1.5 readings of a clock that takes a
// microsecond.
func priced(procs int) *tracetest.Builder {
	b := tracetest.New(procs)
	b.Attribute("clock_cost_ps", 1_000_000)
	return b
}

const callCost = 1500 // ns

func near(got, want int64) bool { return got-want < 10 && want-got < 10 }

// Without communication an event comes earlier by what those before it cost (section 3.1): the run
// becomes shorter by the cost of all of them.
func TestAlone(t *testing.T) {
	t.Parallel()
	b := priced(1)
	f := b.Proc("main.f")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	for range 10 {
		b.At(b.Now() + 20*us)
		b.Enter(g, f)
		b.At(b.Now() + 30*us)
		b.Exit(g, f)
	}
	b.At(b.Now() + 10*us)
	b.End(g)
	r := corrected(t, b)
	const scheduling = 2500 // the goroutine's start
	if want := int64(510*us - 20*callCost - scheduling); r.Measured != 510*us || !near(r.Model, want) {
		t.Errorf("found %d ns of %d, expected %d of %d", r.Model, r.Measured, want, 510*us)
	}
	i := 0
	for r.Procedures[i].Name != "main.f" {
		i++
	}
	if p := r.Procedures[i]; p.Busy != 300*us || !near(p.Corrected, 300*us-10*callCost) || p.Lo >= p.Corrected ||
		p.Hi <= p.Corrected {
		t.Errorf("found %+v, expected 300 us without the cost of ten entries, which is behind them", p)
	}
	if r.Clamped != 0 || !r.Trusted {
		t.Errorf("found %+v, expected that nothing is clamped, and trust", r)
	}
}

// If another program had the processor for longer than the answer is uncertain, that is said, and
// the answer is not trusted.
func TestOtherLoad(t *testing.T) {
	t.Parallel()
	for _, off := range []int64{0, 200 * us} {
		b := priced(1).Switches()
		f := b.Proc("main.f")
		g := b.Go(0, "runtime.main")
		b.Start(g, 0)
		b.At(b.Now() + 100*us)
		b.Enter(g, f)
		if off > 0 {
			b.Off(g, true)
			b.At(b.Now() + off)
			b.On(g)
		}
		b.At(b.Now() + 300*us)
		b.Exit(g, f)
		b.End(g)
		r := corrected(t, b)
		said := strings.Contains(strings.Join(r.Remarks.Warnings, " "), "kept its running threads")
		if r.Trusted != (off == 0) || said != (off > 0) {
			t.Errorf("with %d ns of another program: trusted %v, warnings %v", off, r.Trusted, r.Remarks.Warnings)
		}
	}
}

// A wait that probes caused is gone: who had many events is last at the barrier as measured, and
// another one without them (section 3.2).
func TestLastArrival(t *testing.T) {
	t.Parallel()
	b := priced(2)
	f := b.Proc("main.f")
	add, done, wait := b.Object("main.wg", spec.OpAdd), b.Object("main.wg", spec.OpDone),
		b.Object("main.wg", spec.OpWait)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Sync(g, add, 0x1000, 2)
	quiet := b.Go(g, "main.quiet")
	noisy := b.Go(g, "main.noisy")
	b.Start(quiet, 1)
	b.Wait(g, "sync.WaitGroup.Wait", 0x1000, 0)
	b.Start(noisy, 0)
	for i := range 50 { // 100 us of its own, and 95 that its events cost
		b.Enter(noisy, f)
		b.At(b.Now() + 3900)
		b.Exit(noisy, f)
		if i == 38 { // 152 us
			b.Sync(quiet, done, 0x1000, 1)
			b.End(quiet)
		}
	}
	b.Sync(noisy, done, 0x1000, 0)
	b.Unpark(noisy, g)
	b.End(noisy)
	b.Start(g, 0)
	b.Sync(g, wait, 0x1000, 0)
	b.End(g)
	r := corrected(t, b)
	if r.Measured != 195*us {
		t.Fatalf("the run took %d ns", r.Measured)
	}
	if r.Model < 140*us || r.Model > 156*us {
		t.Errorf("found %d ns, expected the 152 us or so of the goroutine without events", r.Model)
	}
}

// A trace that tells nothing gives no numbers, and says why.
func TestNothing(t *testing.T) {
	t.Parallel()
	r := corrected(t, tracetest.New(1))
	if r.Trusted || !strings.Contains(strings.Join(r.Remarks.All(), "; "), "does not tell") {
		t.Errorf("found %+v", r)
	}
}

// Who comes last at a barrier ends the others' waits. Without probes another one is last: who ended
// them waits for that one, with the lock not taken (section 3.2).
func TestBarrierOfCondition(t *testing.T) {
	t.Parallel()
	b := priced(2)
	f, await := b.Proc("main.f"), b.Proc("main.await")
	lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
	waits, ends := b.Object("main.c", spec.OpCondWait), b.Object("main.c", spec.OpBroadcast)
	const mu, c = 0x1000, 0x2000
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	quiet := b.Go(g, "main.quiet")
	noisy := b.Go(g, "main.noisy")
	b.Park(g, "sync.WaitGroup.Wait")
	b.Start(quiet, 1)
	b.Start(noisy, 0)
	for round := range 3 { // 100 us of its own, and 75 that its 50 events cost; the other one works 171, 31 and 171
		begun := b.Now()
		comes := map[bool]int{true: 24, false: 4}[round != 1]
		for i := range 25 {
			b.Enter(noisy, f)
			b.At(begun + 7*us*int64(i) + 3*us)
			if i == comes {
				b.Enter(quiet, await)
				b.Sync(quiet, lock, mu, 0)
				b.Wait(quiet, "sync.Cond.Wait", c, 0)
			}
			b.Exit(noisy, f)
			b.At(begun + 7*us*int64(i+1))
		}
		b.Enter(noisy, await)
		b.Sync(noisy, lock, mu, 0)
		b.Sync(noisy, ends, c, 0)
		b.Unpark(noisy, quiet)
		b.Sync(noisy, unlock, mu, 0)
		b.Exit(noisy, await)
		b.Start(quiet, 1)
		b.Sync(quiet, waits, c, 0)
		b.Sync(quiet, unlock, mu, 0)
		b.Exit(quiet, await)
	}
	b.End(quiet)
	b.Unpark(noisy, g)
	b.End(noisy)
	b.Start(g, 0)
	b.End(g)
	if err := tracetest.Validate(b.Trace()); err != nil {
		t.Fatal(err)
	}
	_, _, r := rewritten(t, b)
	if r.Measured != 525*us {
		t.Fatalf("the run took %d ns", r.Measured)
	}
	if r.Model < 400*us || r.Model > 442*us { // 342 and less if nobody waited
		t.Errorf("found %d ns, expected 171, 100 and 171 us, less what the events of the goroutine with few cost",
			r.Model)
	}
}
