package critpath_test

import (
	"testing"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// TestSpares: two goroutines wait for each other at a lock for 30 ms. Without it the run is shorter
// by as much, unless a third one works nearly as long as both.
func TestSpares(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ beside, want int64 }{{50 * ms, 30 * ms}, {70 * ms, 20 * ms}, {95 * ms, 0}} {
		b := tracetest.New(4)
		lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
		done, waits := b.Object("main.wg", spec.OpDone), b.Object("main.wg", spec.OpWait)
		add := b.Object("main.wg", spec.OpAdd)
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		b.Sync(main, add, 0x1000, 3)
		f, g, h := b.Go(main, "main.f"), b.Go(main, "main.g"), b.Go(main, "main.h")
		b.Wait(main, "sync.WaitGroup.Wait", 0x1000, 0)
		b.Start(f, 1)
		b.Start(g, 2)
		b.Start(h, 3)
		b.Sync(f, lock, 0x2000, 0)
		b.At(10*ms).Wait(g, "sync.Mutex.Lock", 0x2000, 0)
		b.At(40*ms).Unpark(f, g)
		b.Sync(f, unlock, 0x2000, 1)
		b.Start(g, 2)
		b.Sync(g, lock, 0x2000, 0)
		end := func(x tracetest.G, last bool) {
			if last {
				b.Unpark(x, main)
			}
			b.Sync(x, done, 0x1000, 0)
			b.End(x)
		}
		b.At(50 * ms)
		end(f, false)
		if c.beside < 90*ms {
			b.At(max(c.beside, 50*ms))
			end(h, false)
		}
		b.At(90*ms).Sync(g, unlock, 0x2000, 0)
		end(g, c.beside < 90*ms)
		if c.beside >= 90*ms {
			b.At(c.beside)
			end(h, true)
		}
		b.Start(main, 0)
		b.Sync(main, waits, 0x1000, 0)
		b.At(100 * ms).End(main)
		r := critpath.New(program(t, b.Trace()), critpath.Options{AsRun: true, Policy: sim.Sharing})
		if got := r.Spares("main.mu", false); got != c.want {
			t.Errorf("beside work of %d ms the lock makes the run longer by %d ns, expected %d", c.beside/ms, got, c.want)
		}
		if got := r.Spares("main.other", false); got != r.T {
			t.Errorf("an object that is not there makes the run longer by %d ns, expected all of it", got)
		}
		if got := r.Spares("main.unseen", true); got > 20*ms {
			t.Errorf("waits without an object make the run longer by %d ns, expected little", got)
		}
	}
}

// TestSparesProcessors: a goroutine sleeps with a lock for which two others wait, which then have
// one processor for both. Without the lock they would have worked meanwhile, so that none of them
// waits for the processor.
func TestSparesProcessors(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1)
	lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	g, h := b.Go(main, "main.g"), b.Go(main, "main.h")
	b.Sync(main, lock, 0x2000, 0)
	b.Park(main, "sleep")
	for _, x := range []tracetest.G{g, h} {
		b.Start(x, 0)
		b.Wait(x, "sync.Mutex.Lock", 0x2000, 0)
	}
	b.At(60*ms).UnparkLate(main, 0)
	b.Start(main, 0)
	b.Unpark(main, g)
	b.Unpark(main, h)
	b.Sync(main, unlock, 0x2000, 2)
	b.Wait(main, "chan receive", 0x3000, 0)
	b.Start(g, 0)
	b.Sync(g, lock, 0x2000, 0)
	b.Sync(g, unlock, 0x2000, 0)
	b.At(90 * ms)
	b.End(g)
	b.Start(h, 0)
	b.Sync(h, lock, 0x2000, 0)
	b.Sync(h, unlock, 0x2000, 0)
	b.At(120*ms).Unpark(h, main)
	b.End(h)
	b.Start(main, 0)
	b.At(121 * ms).End(main)
	r := critpath.New(program(t, b.Trace()), critpath.Options{AsRun: true, Policy: sim.Sharing})
	if got := r.Spares("main.mu", false); got != 60*ms {
		t.Errorf("the lock makes the run longer by %d ns, expected %d", got, 60*ms)
	}
}

// TestSparesHelper: a helper finds a tick each time that it comes back, since it sleeps with a lock
// for longer than the ticker's period, until it finds that it is stopped. Without the lock the
// others are done earlier, and so it is stopped earlier. It makes no difference whether it has a
// ticker or sets a timer each time.
func TestSparesHelper(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"time.(*Ticker).C", "time.(*Timer).C"} {
		r := critpath.New(helped(t, name), critpath.Options{AsRun: true, Policy: sim.Sharing})
		if got := r.Spares("main.mu", false); got != 60*ms {
			t.Errorf("%s: the lock makes the run longer by %d ns at most, expected %d", name, got, 60*ms)
		}
	}
}

// helped is a program with a helper that receives from the channel of a timer.
func helped(t *testing.T, timer string) *steps.Program {
	t.Helper()
	b := tracetest.New(2)
	in := b.Proc("main.helper")
	lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
	tick, stop := b.Object(timer, spec.OpReceive), b.Object("main.stop", spec.OpReceive)
	b.In(tick, in)
	b.In(stop, in)
	closes := b.Object("main.stop", spec.OpClose)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	helper := b.Go(main, "main.helper")
	b.Start(helper, 1)
	b.Enter(helper, in)
	b.Wait(helper, "select", 0, b.Stack("runtime.selectgo", "main.helper"))
	b.UnparkLate(helper, 0)
	b.Start(helper, 1)
	for range 3 {
		b.Sync(helper, tick, 0x200, 0)
		b.Sync(helper, lock, 0x100, 0)
		b.Park(helper, "sleep")
		b.Wait(main, "sync.Mutex.Lock", 0x100, 0)
		b.At(b.Now()+20*ms).UnparkLate(helper, 0)
		b.Start(helper, 1)
		b.Unpark(helper, main)
		b.Sync(helper, unlock, 0x100, 1)
		b.Start(main, 0)
		b.Sync(main, lock, 0x100, 0)
		b.Sync(main, unlock, 0x100, 0)
	}
	b.At(b.Now() + 5*ms)
	b.Sync(main, closes, 0x300, 0)
	b.Wait(main, "chan receive", 0x400, 0)
	b.Sync(helper, stop, 0x300, 0)
	b.Exit(helper, in)
	b.Unpark(helper, main)
	b.End(helper)
	b.Start(main, 0)
	b.At(b.Now() + ms).End(main)
	return program(t, b.Trace())
}
