package critpath_test

import (
	"testing"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// TestStopped: a deadline stops a helper that had ticks before, or ends a wait for what does not
// come.
func TestStopped(t *testing.T) {
	t.Parallel()
	for _, ticks := range []int{0, 3} {
		b := tracetest.New(2)
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		set, in := b.Proc("main.set"), b.Proc("main.helper")
		tick, stop := b.Object("time.(*Ticker).C", spec.OpReceive), b.Object("main.stop", spec.OpReceive)
		b.In(tick, in)
		b.In(stop, in)
		b.Enter(main, set)
		b.SetTimer(main, 0x200)
		b.Exit(main, set)
		helper := b.Go(main, "main.helper")
		b.Wait(main, "chan receive", 0x400, 0)
		b.Start(helper, 1)
		b.Enter(helper, in)
		stack := b.Stack("runtime.selectgo", "main.helper")
		for range ticks {
			b.Wait(helper, "select", 0, stack)
			b.At(b.Now()+10*ms).UnparkLate(helper, 0)
			b.Start(helper, 1)
			b.Sync(helper, tick, 0x100, 0)
		}
		b.Wait(helper, "select", 0, stack)
		b.At(100 * ms)
		g := b.Fire(0x200, "context.WithDeadlineCause.func2")
		b.Start(g, 0)
		b.At(101*ms).Unpark(g, helper)
		b.At(102 * ms).End(g)
		b.Start(helper, 1)
		b.At(103*ms).Sync(helper, stop, 0x300, 0)
		b.Exit(helper, in)
		b.At(104*ms).Unpark(helper, main)
		b.End(helper)
		b.Start(main, 0)
		b.At(105 * ms).End(main)
		r := critpath.New(program(t, b.Trace()), critpath.Options{AsRun: true, Policy: sim.Sharing})
		found := false
		for i := range r.Entries {
			for _, w := range r.Entries[i].In {
				if w.Waiter == nil {
					continue
				}
				if found = true; w.Stopped != (ticks > 0) {
					t.Errorf("%d ticks: found %+v", ticks, w)
				}
			}
		}
		if !found {
			t.Errorf("%d ticks: no deadline on the path", ticks)
		}
	}
}
