package sim_test

import (
	"testing"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// A goroutine that waited in the queue of the processor on which it was woken, although another one
// was idle, begins when those before it are done. If they work less it begins earlier, and as the
// queue's order was.
func TestBehind(t *testing.T) {
	t.Parallel()
	const ms = 1_000_000
	b := tracetest.New(2)
	waker, first, last := b.Go(0, "runtime.main"), b.Go(0, "main.first"), b.Go(0, "main.last")
	b.Start(first, 0)
	b.Park(first, "chan receive")
	b.Start(last, 0)
	b.Park(last, "chan receive")
	b.Start(waker, 0)
	b.At(ms).Unpark(waker, last)
	b.At(2*ms).Unpark(waker, first) // which runs next
	b.At(6*ms).Park(waker, "chan receive")
	b.Start(first, 0)
	b.At(8 * ms).End(first)
	b.Start(last, 0)
	b.At(9*ms).Unpark(last, waker)
	b.Park(last, "chan receive")
	b.Start(waker, 0)
	b.At(10 * ms).End(waker)
	p, _, err := steps.Build(b.Trace(), steps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []sim.Policy{sim.Sharing, sim.List} {
		if run := sim.Simulate(p, sim.Options{Procs: 2, Policy: policy}); run.T != 10*ms {
			t.Errorf("%s: the run takes %v ns, expected as long as it took, 10 ms", policy, run.T)
		}
		half := func(id steps.StepID) float64 { return float64(p.Step(id).Work) / 2 }
		if run := sim.Simulate(p, sim.Options{Procs: 2, Policy: policy,
			Times: sim.Times{Length: half}}); run.T != 5*ms {
			t.Errorf("%s: with half the work the run takes %v ns, expected 5 ms", policy, run.T)
		}
	}
}

// Waking up takes time for who waits: a goroutine that comes so late that it need not wait goes on
// at once.
func TestLateToWait(t *testing.T) {
	t.Parallel()
	const ms, us = 1_000_000, 1000
	b := tracetest.New(2)
	send, receive := b.Object("main.ch", spec.OpSend), b.Object("main.ch", spec.OpReceive)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	other := b.Go(main, "main.other")
	b.Start(other, 1)
	b.At(4*ms).Wait(other, "chan receive", 0x1000, 0)
	b.At(10*ms).Unpark(main, other)
	b.Sync(main, send, 0x1000, 0)
	b.Park(main, "chan receive")
	b.At(10*ms+500*us).Start(other, 1)
	b.Sync(other, receive, 0x1000, 0)
	b.At(12*ms).Unpark(other, main)
	b.End(other)
	b.Start(main, 0)
	b.End(main)
	p, _, err := steps.Build(b.Trace(), steps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []sim.Policy{sim.Sharing, sim.List} {
		for ns, want := range map[float64]float64{10 * ms: 12 * ms, 8 * ms: 10 * ms, 2 * ms: 5*ms + 500*us} {
			sender := func(id steps.StepID) float64 {
				if w := float64(p.Step(id).Work); w != 10*ms {
					return w
				}
				return ns
			}
			if run := sim.Simulate(p, sim.Options{Procs: 2, Policy: policy,
				Times: sim.Times{Length: sender}}); run.T != want {
				t.Errorf("%s: with %v ns of work before the send the run takes %v, expected %v", policy, ns, run.T, want)
			}
		}
	}
}

// A goroutine that holds a lock where the trace ends releases it then: in a computed run others may
// come for it later, and would wait for ever.
func TestHeldAtEnd(t *testing.T) {
	t.Parallel()
	const ms = 1_000_000
	b := tracetest.New(2)
	lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	first, second := b.Go(main, "main.first"), b.Go(main, "main.second")
	b.Park(main, "chan receive")
	b.Start(first, 0)
	b.Start(second, 1)
	b.At(4*ms).Sync(second, lock, 0x1000, 0)
	b.Sync(second, unlock, 0x1000, 0)
	b.At(6*ms).Sync(first, lock, 0x1000, 0)
	b.At(10*ms).Unpark(second, main)
	b.End(second)
	b.Start(main, 1)
	b.End(main)
	p, _, err := steps.Build(b.Trace(), steps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if run := sim.Simulate(p, sim.Options{Procs: 1, Policy: sim.List}); run.T != 20*ms || run.Forced != 0 {
		t.Errorf("found %v ns, and %d goroutines that nobody let go; expected the 20 ms that both work", run.T,
			run.Forced)
	}
}
