package critpath_test

import (
	"testing"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// TestChains: a goroutine waits for another one's item, which waits for a lock, and then for a
// timer in a loop. Each of these waits delays it for as long as it waits itself.
func TestChains(t *testing.T) {
	t.Parallel()
	b := tracetest.New(3)
	load, get := b.Proc("main.load"), b.Proc("main.get")
	receive := b.Object("main.done", spec.OpReceive)
	send := b.Object("main.done", spec.OpSend)
	lock := b.Object("main.mu", spec.OpLock)
	unlock := b.Object("main.mu", spec.OpUnlock)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	g, h := b.Go(main, "main.work"), b.Go(main, "main.other")
	b.Start(g, 1)
	b.Start(h, 2)
	b.Channel(main, 0x1000, 0)
	b.Enter(main, get)
	b.Enter(g, load)
	b.Enter(h, load)
	b.Sync(h, lock, 0x2000, 0)
	b.At(10*ms).Wait(main, "chan receive", 0x1000, 0)
	b.Wait(g, "sync.Mutex.Lock", 0x2000, 0)
	b.At(40*ms).Sync(h, unlock, 0x2000, 0)
	b.Unpark(h, g)
	b.End(h)
	b.Start(g, 1)
	b.Sync(g, lock, 0x2000, 0)
	b.Sync(g, unlock, 0x2000, 0)
	b.Park(g, "sleep")
	b.At(90*ms).UnparkLate(g, 0)
	b.Start(g, 1)
	b.Sync(g, send, 0x1000, 0)
	b.Unpark(g, main)
	b.Start(main, 0)
	b.Sync(main, receive, 0x1000, 0)
	b.At(95 * ms).End(g)
	b.At(100*ms).Exit(main, get)
	b.End(main)
	r := critpath.New(program(t, b.Trace()), critpath.Options{AsRun: true, Policy: sim.Sharing})
	list := r.Delayed()
	if len(list) != 2 {
		t.Fatalf("found %+v, expected two", list)
	}
	timer, mutex := list[0], list[1]
	if timer.Object != "main.done" || timer.Kind != "wait:timer" || timer.Name != "main.load" || timer.Ns != 50*ms {
		t.Errorf("found %+v, expected 50 ms for a timer in main.load", timer)
	}
	if mutex.Object != "main.done" || mutex.Next != "main.mu" || mutex.Ns != 30*ms {
		t.Errorf("found %+v, expected 30 ms for main.mu", mutex)
	}
}
