package profile_test

import (
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// One goroutine holds a lock, another waits for it, a third waits for it is not known
// what, and a fourth spins: every number is known.
func TestObjects(t *testing.T) {
	const reason, mutex = "sync.Mutex.Lock", 0xc000_0000_1000
	b := tracetest.New(2)
	lock, unlock := b.Object("main.(*S).mu", spec.OpLock), b.Object("main.(*S).mu", spec.OpUnlock)
	holder, work := b.Proc("main.holder"), b.Proc("main.work")
	loop, spin := b.Loop("range items", false), b.Loop("for !done.Load()", true)
	stack := b.Stack("sync.(*Mutex).Lock", "main.waiter", "runtime.goexit")

	g1 := b.Go(0, "main.holder")
	b.Start(g1, 0)
	g2 := b.Go(g1, "main.waiter")
	b.At(100)
	b.Enter(g1, holder)
	b.Sync(g1, lock, mutex, 0)
	b.Start(g2, 1)
	b.At(200)
	b.Wait(g2, reason, mutex, stack)
	b.Enter(g1, loop)
	b.BeginRegion(g1, "load")
	b.At(500)
	b.EndRegion(g1, "load")
	b.Leave(g1, loop, 7)
	b.Sync(g1, unlock, mutex, 1)
	b.Unpark(g1, g2)
	b.At(600)
	b.Start(g2, 1)
	b.Name(g2, "second")
	b.Sync(g2, lock, mutex, 0)
	b.Enter(g1, spin)
	b.Enter(g2, work)
	b.At(700)
	b.Exit(g2, work)
	b.Sync(g2, unlock, mutex, 0)
	b.Leave(g1, spin, 1000)
	b.Exit(g1, holder)
	b.Wait(g2, "select", 0, 0)
	b.End(g1)
	b.At(1000)

	tr := b.Trace()
	if err := tracetest.Validate(tr); err != nil {
		t.Fatal(err)
	}
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Objects) != 2 {
		t.Fatalf("%d objects: %+v", len(p.Objects), p.Objects)
	}
	unknown, mu := p.Objects[0], p.Objects[1]
	if unknown.Name != "select" {
		unknown, mu = mu, unknown
	}
	if mu.Name != "main.(*S).mu" || mu.Kind != "lock" || mu.Ops != 4 || mu.Waits != 1 || mu.Wait != 300 ||
		mu.Worst != 300 ||
		mu.Holds != 2 || mu.Hold != 400+100 || mu.Longest != 400 || mu.Queue != 1 || mu.Objects != 1 {
		t.Errorf("the lock: %+v", mu)
	}
	if len(mu.EndedBy) != 1 || mu.EndedBy[0] != (profile.Wait{Reason: "main.holder", Time: 300}) ||
		len(mu.WaitedIn) != 1 || mu.WaitedIn[0] != (profile.Wait{Reason: "main.waiter", Time: 300}) {
		t.Errorf("it was waited for in %v, until %v", mu.WaitedIn, mu.EndedBy)
	}
	if unknown.Wait != 300 || unknown.EndedBy[0].Reason != "[end of the trace]" {
		t.Errorf("the wait that does not end: %+v", unknown)
	}
	if p.Spin != 100 {
		t.Errorf("%d ns spun, expected 100", p.Spin)
	}
	for name, want := range map[string]struct{ calls, trips, npt, spin int64 }{
		// Both work from 100 to 200; the spinning from 600 on is no work.
		"main.holder":      {1, 0, 50 + 400, 100},
		"range items":      {1, 7, 300, 0},
		"for !done.Load()": {1, 1000, 0, 100},
		"main.work":        {1, 0, 100, 0},
		"load":             {1, 0, 300, 0},
		"second":           {1, 0, 100, 0},
	} {
		found := false
		for _, e := range p.Entries {
			if e.Name != name {
				continue
			}
			found = true
			if int64(e.Calls) != want.calls || int64(e.Trips) != want.trips || e.Kind == profile.KindLoop &&
				e.TripsOf != 1 || e.SelfNPT != want.npt && e.NPT != want.npt || e.SelfSpin != want.spin {
				t.Errorf("%s: %+v, want %+v", name, e, want)
			}
		}
		if !found {
			t.Errorf("%s: no such entry", name)
		}
	}
}

// Whoever holds a lock in a procedure whose calls are only counted is known by the point of the
// operation: the blame is that procedure's, not its caller's. A goroutine that ends another wait
// there may have called it for a moment: what was done meanwhile is its caller's.
func TestBlameOnCounted(t *testing.T) {
	b := tracetest.New(2)
	hold, send := b.Proc("main.hold"), b.Proc("main.send")
	lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
	ch := b.Object("main.ch", spec.OpSend)
	serve := b.Proc("main.serve")
	b.In(lock, hold)
	b.In(unlock, hold)
	b.In(ch, send)
	b.Count(hold, 1)
	b.Count(send, 1)
	stack := b.Stack("main.waiter")

	g1 := b.Go(0, "main.serve")
	b.Start(g1, 0)
	g2 := b.Go(g1, "main.waiter")
	b.Enter(g1, serve)
	b.Sync(g1, lock, 0x1000, 0)
	b.Start(g2, 1)
	b.At(100)
	b.Wait(g2, "sync.Mutex.Lock", 0x1000, stack)
	b.At(400)
	b.Sync(g1, unlock, 0x1000, 1)
	b.Unpark(g1, g2)
	b.At(500)
	b.Start(g2, 1)
	b.Wait(g2, "chan receive", 0x2000, stack)
	b.At(700)
	b.Sync(g1, ch, 0x2000, 0)
	b.Unpark(g1, g2)
	b.At(100_000)
	b.Start(g2, 1)
	b.Wait(g2, "chan receive", 0x2000, stack)
	b.At(150_000)
	b.Unpark(g1, g2) // by an operation that has no probe
	b.At(200_000)
	b.Exit(g1, serve)

	p := profileOf(t, b)
	for name, want := range map[string]int64{"main.hold": 300, "main.send": 0, "main.serve": 50_200} {
		if e := entry(t, p, name); e.Blame != want {
			t.Errorf("%s is blamed for %d ns, expected %d", name, e.Blame, want)
		}
	}
}

// A goroutine that waits for a condition holds no lock meanwhile, and has it again when it
// runs; a lock that was given back where it was not seen it is nobody's when another takes it.
func TestLocksAndConditions(t *testing.T) {
	b := tracetest.New(2)
	lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
	hidden := b.Object("main.hidden", spec.OpLock)
	read := b.Object("main.rw", spec.OpRLock)
	stack := b.Stack("sync.(*Cond).Wait", "main.waiter")
	g1 := b.Go(0, "main.waiter")
	b.Start(g1, 0)
	g2 := b.Go(g1, "main.other")
	b.Start(g2, 1)
	at := int64(0)
	for range 1000 { // more than anybody could hold
		b.Sync(g1, lock, 0x1000, 0)
		at += 10
		b.At(at)
		b.Sync(g1, hidden, 0x2000, 0)
		b.Sync(g1, read, 0x3000, 0)
		b.Sync(g1, lock, 0x1000, 0) // the in turn locks again
		b.Wait(g1, "sync.Cond.Wait", 0x4000, stack)
		at += 100
		b.At(at)
		b.Sync(g2, lock, 0x1000, 0)
		at += 1000
		b.At(at)
		b.Sync(g2, unlock, 0x1000, 0)
		b.Unpark(g2, g1)
		b.Start(g1, 0)
		at += 10000
		b.At(at)
		b.Sync(g1, unlock, 0x1000, 0)
		at += 100000
		b.At(at)
	}
	p := profileOf(t, b)
	mu := entry(t, p, "main.mu")
	// The other's, and those after the wait; it is not known how much of the first 10 ns.
	if want := int64(1000 * (1000 + 10000)); mu.Hold != want {
		t.Errorf("main.mu was held for %d ns, expected %d", mu.Hold, want)
	}
}

// A lock without events, or with some: three wait while main.long has it, and then for each other,
// in main.short. The goroutine that unlocks is not to blame for the time before it had the lock.
func TestBlameByWaking(t *testing.T) {
	for _, counted := range []bool{false, true} {
		b := tracetest.New(4)
		long, short := b.Proc("main.long"), b.Proc("main.short")
		lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
		stack := b.Stack("sync.(*Mutex).Lock", "main.short")
		holder := b.Go(0, "main.holder")
		b.Start(holder, 0)
		b.Enter(holder, long)
		if counted { // the unlocking is not seen, and it does not have the lock all the time
			b.Count(unlock, 4)
			b.Sync(holder, lock, 0x1000, 0)
		}
		var gs []tracetest.G
		for k := range 3 {
			g := b.Go(holder, "main.waiter")
			b.Start(g, k+1)
			b.Enter(g, short)
			gs = append(gs, g)
		}
		b.At(1000)
		for _, g := range gs {
			b.Wait(g, "sync.Mutex.Lock", 0x1000, stack)
		}
		b.At(10_000)
		by := holder
		for k, g := range gs {
			b.Unpark(by, g)
			b.Start(g, k+1)
			b.At(b.Now() + 100)
			by = g
		}
		b.At(50_000)
		for _, g := range gs {
			b.Exit(g, short)
		}
		b.Exit(holder, long)
		p := profileOf(t, b)
		for name, want := range map[string]int64{"main.long": 3 * 9000, "main.short": 2*100 + 100} {
			if e := entry(t, p, name); e.Blame != want {
				t.Errorf("counted %v: %s is blamed for %d ns, expected %d", counted, name, e.Blame, want)
			}
		}
		if counted && entry(t, p, "main.mu").Hold != 0 {
			t.Errorf("main.mu was held for %d ns, and nobody knows how long", entry(t, p, "main.mu").Hold)
		}
	}
}

// A goroutine that sleeps with a lock has held it meanwhile, although it runs only for a moment
// before it gives it back. After a wait for the lock it had it when it ran.
func TestBlameForSleeping(t *testing.T) {
	for reason, want := range map[string]int64{"sleep": 8900, "sync.Cond.Wait": 100} {
		b := tracetest.New(2)
		long, short, unlock := b.Proc("main.long"), b.Proc("main.short"), b.Object("main.mu", spec.OpUnlock)
		b.Count(unlock, 4)
		holder := b.Go(0, "main.holder")
		b.Start(holder, 0)
		b.Enter(holder, long)
		waiter := b.Go(holder, "main.waiter")
		b.Start(waiter, 1)
		b.Enter(waiter, short)
		b.At(1000)
		b.Wait(waiter, "sync.Mutex.Lock", 0x1000, b.Stack("sync.(*Mutex).Lock", "main.short"))
		b.Wait(holder, reason, 0x2000, 0)
		b.At(9800)
		b.Unpark(0, holder)
		b.Start(holder, 0)
		b.At(9900)
		b.Unpark(holder, waiter)
		b.Start(waiter, 1)
		b.At(20_000)
		b.Exit(waiter, short)
		b.Exit(holder, long)
		if e := entry(t, profileOf(t, b), "main.long"); e.Blame != want {
			t.Errorf("%s: main.long is blamed for %d ns, expected %d", reason, e.Blame, want)
		}
	}
}

// One operation ends many waits, each of which takes long because a thread is woken: it is to blame
// for the last of them, too.
func TestBlameForAll(t *testing.T) {
	b := tracetest.New(2)
	all, other := b.Proc("main.all"), b.Proc("main.other")
	cond, counted := b.Object("main.cond", spec.OpBroadcast), b.Object("main.cond", spec.OpSignal)
	b.In(cond, all)
	b.In(counted, other)
	b.Count(counted, 9)
	b.Count(other, 9)
	g := b.Go(0, "main.all")
	b.Start(g, 0)
	b.Enter(g, all)
	stack := b.Stack("main.waiter")
	var gs []tracetest.G
	for range 4 {
		w := b.Go(g, "main.waiter")
		b.Start(w, 1)
		b.Wait(w, "sync.Cond.Wait", 0x1000, stack)
		gs = append(gs, w)
	}
	b.At(100_000)
	b.Sync(g, cond, 0x1000, 0)
	for _, w := range gs {
		b.At(b.Now() + 15_000)
		b.Unpark(g, w)
	}
	b.Exit(g, all)
	ended := profileOf(t, b).Objects[0].EndedBy
	if len(ended) != 1 || ended[0].Reason != "main.all" {
		t.Errorf("the waits were ended by %+v, expected all by main.all", ended)
	}
}

// Goroutines wait for each other in one procedure, which the last one calls, too: what it did
// meanwhile is its caller's. The waits end together, even if the last one loses its processor while
// it ends them.
func TestBlameAtBarrier(t *testing.T) {
	b := tracetest.New(4)
	work, await := b.Proc("main.work"), b.Proc("main.await")
	cond := b.Object("main.cond", spec.OpBroadcast)
	b.In(cond, await)
	stack := b.Stack("sync.(*Cond).Wait", "main.await", "main.work")
	var gs []tracetest.G
	for k := range 4 {
		g := b.Go(0, "main.work")
		b.Start(g, k)
		b.Enter(g, work)
		gs = append(gs, g)
	}
	b.At(1000)
	for _, g := range gs[1:] {
		b.Enter(g, await)
		b.Wait(g, "sync.Cond.Wait", 0x1000, stack)
	}
	last := gs[0]
	b.At(100_000).Enter(last, await)
	b.Sync(last, cond, 0x1000, 0)
	for _, g := range gs[1:] {
		b.At(b.Now() + 10_000_000)
		b.Unpark(last, g)
	}
	b.Exit(last, await)
	o := object(t, profileOf(t, b), "main.cond")
	if o.Together != 3 || len(o.Blamed) != 1 || o.Blamed[0].Reason != "main.work" || len(o.EndedBy) != 1 ||
		o.EndedBy[0].Reason != "main.await" {
		t.Errorf("%d waits ended together, by %+v, for %+v; expected 3, by main.await, for main.work", o.Together,
			o.EndedBy, o.Blamed)
	}
}

// Who hands out items in a row ends waits within a short time of each other, but never all: whoever
// had one waits again. That is no barrier.
func TestStreamIsNoBarrier(t *testing.T) {
	b := tracetest.New(4)
	ch := b.Object("main.jobs", spec.OpReceive)
	stack := b.StackAt(ch, "main.receive", "runtime.goexit")
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	var all []tracetest.G
	for range 8 {
		g := b.Go(main, "main.receive")
		b.Start(g, 1)
		b.Wait(g, "chan receive", 0x1000, stack)
		all = append(all, g)
	}
	b.At(100_000)
	for k := range 400 {
		g := all[k%8]
		b.At(b.Now()+5_000).Unpark(main, g)
		b.Start(g, 1)
		b.At(b.Now()+1_000).Wait(g, "chan receive", 0x1000, stack)
	}
	if o := object(t, profileOf(t, b), "main.jobs"); o.Waits != 408 || o.Together != 0 {
		t.Errorf("%d of %d waits ended together, expected none of 408", o.Together, o.Waits)
	}
}

// A goroutine that WaitGroup.Go started ends the wait after the procedure that it was started for.
// Who started it waits, and did nothing.
func TestBlameForGo(t *testing.T) {
	for _, start := range []string{"main.all.func1", "sync.(*WaitGroup).Go.func1"} {
		// newer files have what was passed to it
		blameForGo(t, start)
	}
}

func blameForGo(t *testing.T, start string) {
	b := tracetest.New(2)
	all, work := b.Proc("main.all"), b.Proc("main.all.func1")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, all)
	w := b.Go(g, start)
	b.Wait(g, "sync.WaitGroup.Wait", 0x1000, b.Stack("sync.(*WaitGroup).Wait", "main.all"))
	b.Start(w, 1)
	b.Enter(w, work)
	b.At(100_000)
	b.Exit(w, work)
	b.Unpark(w, g)
	o := profileOf(t, b).Objects[0]
	if len(o.EndedBy) != 1 || o.EndedBy[0].Reason != "main.all.func1" || len(o.Blamed) != 1 ||
		o.Blamed[0].Reason != "main.all.func1" {
		t.Errorf("%s: the wait was ended by %+v, and %+v is to blame, expected main.all.func1", start, o.EndedBy,
			o.Blamed)
	}
}

// Waits of the runtime's own have its names, whatever allocates or ends a collection.
func TestRuntimesWaits(t *testing.T) {
	for _, c := range []struct {
		reason string
		stack  []string
		want   string
	}{
		{"semacquire", []string{"runtime.semacquire1", "runtime.semacquire", "runtime.gcStart", "runtime.mallocgc",
			"bufio.(*Scanner).Text"}, "semacquire in runtime.gcStart"},
		{"semacquire", []string{"runtime.semacquire1", "internal/poll.runtime_Semacquire",
			"internal/poll.(*fdMutex).rwlock", "os.(*File).Write"}, "semacquire in os.(*File).Write"},
		{"chan receive", []string{"runtime.gopark", "runtime.chanrecv", "runtime.chanrecv1",
			"runtime.gcBgMarkStartWorkers", "runtime.gcStart", "runtime.mallocgc", "main.results"},
			"chan receive in runtime.gcBgMarkStartWorkers"},
		{"chan receive", []string{"runtime.gopark", "runtime.chanrecv", "runtime.chanrecv1", "main.results"},
			"chan receive in main.results"},
		{"chan receive", []string{"runtime.gopark", "runtime.chanrecv", "runtime.chanrecv1", "runtime.gcenable",
			"runtime.main", "runtime.goexit"}, "chan receive in runtime.gcenable"},
		{"", []string{"runtime.goexit"}, "[not known]"},
		{"flushing proc caches", []string{"runtime.gcMarkTermination", "main.results"}, "flushing proc caches"},
	} {
		b := tracetest.New(1)
		g := b.Go(0, "runtime.main")
		b.Start(g, 0)
		b.At(10_000_000).Wait(g, c.reason, 0x1000, b.Stack(c.stack...))
		b.At(20_000_000).Unpark(0, g)
		b.Start(g, 0)
		p, err := profile.New(b.Trace())
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Objects) != 1 || p.Objects[0].Name != c.want {
			t.Errorf("found %+v, expected %s", p.Objects, c.want)
		}
	}
}

// An object of the runtime's own is given up when the program starts, and another one gets its
// address.
func TestRuntimesAddress(t *testing.T) {
	b := tracetest.New(1)
	g := b.Go(0, "runtime.main")
	for i, stack := range [][]string{{"runtime.gopark", "runtime.chanrecv1", "runtime.gcenable", "runtime.main",
		"runtime.goexit"}, {"runtime.gopark", "runtime.chanrecv1", "net/http.(*persistConn).readLoop",
		"runtime.goexit"}} {
		b.Start(g, 0)
		b.At(int64(20*i+10)*1_000_000).Wait(g, "chan receive", 0x1000, b.Stack(stack...))
		b.At(int64(20*i+20)*1_000_000).Unpark(0, g)
	}
	b.Start(g, 0)
	p := profileOf(t, b)
	for _, name := range []string{"chan receive in runtime.gcenable",
		"chan receive in net/http.(*persistConn).readLoop"} {
		o := object(t, p, name)
		if o.Waits != 1 {
			t.Errorf("%s: %d waits", name, o.Waits)
		}
		sum, queued := o.Unattributed, int64(0)
		for _, w := range o.Blamed {
			sum += w.Time
		}
		for n, ns := range o.Waiting {
			queued += int64(n) * ns
		}
		if sum != o.Wait || queued != o.Wait {
			t.Errorf("%s: waits of %d ns, of which %d are blamed or unattributed, and %d are in queues", name, o.Wait,
				sum, queued)
		}
	}
}

// An operation on another object that has the address later does not name a wait: not one of
// another kind, nor one of the runtime's, nor a timer's channel that another procedure uses.
func TestOthersAddress(t *testing.T) {
	b := tracetest.New(1)
	retry := b.Proc("main.retry")
	g := b.Go(0, "runtime.main")
	waits := func(at int64, reason string, stack ...string) {
		b.Start(g, 0)
		b.At(at).Wait(g, reason, 0x1000, b.Stack(stack...))
		b.At(at+10).Unpark(0, g)
	}
	waits(10, "chan receive", "runtime.gopark", "runtime.chanrecv1", "runtime.gcenable", "runtime.main",
		"runtime.goexit")
	waits(30, "chan receive", "runtime.gopark", "runtime.chanrecv1", "net/http.read", "runtime.goexit")
	waits(50, "select", "runtime.gopark", "runtime.selectgo", "net/http.roundTrip", "runtime.goexit")
	waits(70, "sync.WaitGroup.Wait", "sync.(*WaitGroup).Wait", "main.main", "runtime.goexit")
	waits(90, "select", "runtime.gopark", "runtime.selectgo", "main.retry", "runtime.goexit")
	b.Start(g, 0)
	group, after := b.Object("main.wg", spec.OpWait), b.Object("time.After() in main.retry", spec.OpReceive)
	b.File(group, "main/elsewhere.go")
	b.File(after, "main/elsewhere.go")
	b.Sync(g, group, 0x1000, 0)
	b.Sync(g, after, 0x1000, 0)
	tr := b.Trace()
	tr.Points[after].Owner = trace.PointID(retry)
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"chan receive in runtime.gcenable", "chan receive in net/http.read",
		"select in net/http.roundTrip", "main.wg", "time.After() in main.retry"} {
		o := object(t, p, name)
		if o.Waits != 1 {
			t.Errorf("%s: %d waits", name, o.Waits)
		}
		sum, queued := o.Unattributed, int64(0)
		for _, w := range o.Blamed {
			sum += w.Time
		}
		for n, ns := range o.Waiting {
			queued += int64(n) * ns
		}
		if sum != o.Wait || queued != o.Wait {
			t.Errorf("%s: waits of %d ns, of which %d are blamed or unattributed, and %d are in queues", name, o.Wait,
				sum, queued)
		}
	}
}

// The procedures of a package may all be small, so that calls are only counted: what waits in it is
// in the user's own code even so.
func TestPlaceInSmall(t *testing.T) {
	b := tracetest.New(1)
	b.Proc("main.main")
	small := b.Proc("example.com/me/fake.Query")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.At(10).Wait(g, "sleep", 0, b.Stack("time.Sleep", "example.com/me/fake.Query", "database/sql.(*DB).Query",
		"main.main", "runtime.goexit"))
	b.At(20).Unpark(0, g)
	tr := b.Trace()
	tr.Points[small].Kind = spec.PointFunc
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	if o := &p.Objects[0]; o.Name != "time.Sleep in example.com/me/fake.Query" || o.Line != 2 {
		t.Errorf("found %s at line %d, expected line 2", o.Name, o.Line)
	}
}

// A context's channel has a name for each procedure that waits for it, and the operations of that.
func TestOperationsOnContext(t *testing.T) {
	b := tracetest.New(1)
	names := []string{"context.Context.Done() in main.first", "context.Context.Done() in main.second"}
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	var points []uint32
	for _, name := range names {
		points = append(points, b.Object(name, spec.OpReceive))
	}
	b.At(10).Sync(g, points[0], 0x1000, 0)
	b.At(20).Sync(g, points[1], 0x1000, 0)
	b.At(30).Sync(g, points[1], 0x1000, 0)
	tr := b.Trace()
	for _, p := range points {
		tr.Points[p].Flags |= spec.FlagWeakName
	}
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if o := object(t, p, name); o.Ops != uint64(i+1) || o.More {
			t.Errorf("%s: %d operations, more %v, expected %d", name, o.Ops, o.More, i+1)
		}
	}
}

// Operations may be at places without a probe, too: in a procedure that is inlined, or under
// another name, where a channel has no senders.
func TestMoreOperations(t *testing.T) {
	for name, want := range map[string]bool{"site": true, "both sides": false, "sent": true, "received": true,
		"closed": false} {
		b := tracetest.New(1)
		send, receive, end := b.Object("main.ch", spec.OpSend), b.Object("main.ch", spec.OpReceive),
			b.Object("main.ch", spec.OpClose)
		site := b.Object("main.ch", spec.OpSend)
		g := b.Go(0, "runtime.main")
		b.Start(g, 0)
		for _, op := range map[string][]uint32{"site": {send, receive}, "both sides": {send, receive}, "sent": {send},
			"received": {receive, receive, end}, "closed": {receive, end}}[name] {
			b.At(b.Now()+10).Sync(g, op, 0x1000, 0)
		}
		tr := b.Trace()
		if name == "site" {
			tr.Points[site].Kind = spec.PointSite
		}
		p, err := profile.New(tr)
		if err != nil {
			t.Fatal(err)
		}
		if o := object(t, profile.Merge([]*profile.Profile{p, p}), "main.ch"); o.More != want {
			t.Errorf("%s: %d operations, more %v, expected %v", name, o.Ops, o.More, want)
		}
	}
}

// A select of channels of the time and of contexts waits for no channel of the program's, whatever
// was at the address before.
func TestSelectOfTimers(t *testing.T) {
	for list, want := range map[string]string{
		"select(time.(*Ticker).C, context.Context.Done())": "select(time.(*Ticker).C, context.Context.Done())",
		"select(time.(*Ticker).C, main.wait.in)":           "main.(*solver).sem",
	} {
		b := tracetest.New(1)
		site, sem := b.Object(list, spec.OpSelect), b.Object("main.(*solver).sem", spec.OpSend)
		g := b.Go(0, "runtime.main")
		b.Start(g, 0)
		b.Sync(g, sem, 0x1000, 0)
		b.At(10).Wait(g, "select", 0x1000, b.StackAt(site, "main.progress", "runtime.goexit"))
		b.At(30).Unpark(0, g)
		b.Start(g, 0)
		tr := b.Trace()
		tr.Points[site].Kind = spec.PointSite
		p, err := profile.New(tr)
		if err != nil {
			t.Fatal(err)
		}
		if o := object(t, p, want); o.Waits != 1 {
			t.Errorf("%s: %s has %d waits", list, want, o.Waits)
		}
	}
}

// Operations through a parameter that stands for objects of several names are in no row of theirs.
func TestOperationsThroughParameter(t *testing.T) {
	b := tracetest.New(1)
	first, second := b.Object("main.first", spec.OpDone), b.Object("main.second", spec.OpDone)
	alone, param := b.Object("main.alone", spec.OpDone), b.Object("main.put.to", spec.OpDone)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	for i, o := range []uint32{first, second, alone} {
		b.At(10).Sync(g, o, uint64(0x1000*(i+1)), 0)
	}
	b.At(20).Sync(g, param, 0x1000, 0)
	b.At(30).Sync(g, param, 0x2000, 0)
	tr := b.Trace()
	tr.Points[param].Flags |= spec.FlagWeakName
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	for name, more := range map[string]bool{"main.first": true, "main.second": true, "main.alone": false,
		"main.put.to": false} {
		if o := object(t, p, name); o.More != more {
			t.Errorf("%s: more operations: %v, expected %v", name, o.More, more)
		}
	}
}

// A closure of the standard library that is inlined has the name of where it is: what waits in it
// is its caller.
func TestInlinedClosures(t *testing.T) {
	b := tracetest.New(1)
	b.Proc("main.main")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.At(10).Wait(g, "sync.Mutex.Lock", 0x1000, b.Stack("runtime.gopark", "sync.(*Mutex).Lock",
		"main.main.OnceValue[...].func2", "main.main", "runtime.goexit"))
	b.At(20).Unpark(0, g)
	tr := b.Trace()
	for _, s := range tr.Stacks {
		for i := range s {
			switch s[i].Function {
			case "main.main.OnceValue[...].func2":
				s[i].File = "/go/src/sync/oncefunc.go"
			case "runtime.gopark":
				s[i].File = "/go/src/runtime/proc.go"
			}
		}
	}
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	if o := &p.Objects[0]; o.Name != "sync.Mutex.Lock in main.main" || o.Line != 4 {
		t.Errorf("found %s at line %d, expected main.main and line 4", o.Name, o.Line)
	}
}

// Processors are those of the whole program, also where the operating system has taken one, from
// when the first goroutine waits until the last one runs again.
func TestMeanwhile(t *testing.T) {
	const address = 0xc000_0000_1000
	b := tracetest.New(3).Switches()
	jobs := b.Object("main.jobs", spec.OpReceive)
	in := b.StackAt(jobs, "main.work", "runtime.goexit")
	giver, first, second := b.Go(0, "main.give"), b.Go(0, "main.work"), b.Go(0, "main.work")
	b.Start(giver, 0)
	b.Start(first, 1)
	b.Start(second, 2)
	b.At(100).Wait(first, "chan receive", address, in) // two are busy, then one, then two
	b.At(150).Wait(second, "chan receive", address, in)
	b.At(180).Off(giver, true)
	b.At(240).On(giver)
	b.At(250).Unpark(giver, first)
	b.Start(first, 1)
	b.At(300).Unpark(giver, second) // who runs a little later
	b.At(320)
	b.Start(second, 2)
	b.At(500)
	for _, g := range []tracetest.G{giver, first, second} {
		b.End(g)
	}
	p := profileOf(t, b)
	if len(p.Objects) != 1 || p.Objects[0].Away != 220 || p.Objects[0].Meanwhile != 2*50+1*100+2*70 ||
		p.Objects[0].OffMeanwhile != 60 {
		t.Errorf("found %+v, expected 220 ns, and 340 ns of processors meanwhile", p.Objects)
	}
}

// Of waits that tell only afterwards what they were for it is not known how many there were at a
// time, and the time without any is no less than none.
func TestWaitsApart(t *testing.T) {
	b := tracetest.New(1)
	stack := b.Stack("main.next", "runtime.goexit")
	first, second, last := b.Go(0, "runtime.main"), b.Go(0, "main.second"), b.Go(0, "main.last")
	for _, g := range []tracetest.G{first, second} {
		b.Start(g, 0)
		b.Wait(g, "coroutine switch", 0, stack)
	}
	b.Start(last, 0)
	b.At(10_000_000).Unpark(last, first)
	b.Unpark(last, second)
	b.At(11_000_000).End(last)
	p := profileOf(t, b)
	if len(p.Objects) != 1 || !p.Objects[0].Apart || p.Objects[0].Waiting[0] != 0 {
		t.Errorf("found %+v", p.Objects)
	}
}

// A channel that one side knows as a variable and the other as a field is one object, with the
// variable's name. Another channel that has its address later is not.
func TestTwoNames(t *testing.T) {
	const address, later = 0xc000_0000_2000, "main.later"
	b := tracetest.New(2)
	sends, receives := b.Object("main.(*stage).out", spec.OpSend), b.Object("main.jobs", spec.OpReceive)
	other := b.Object(later, spec.OpReceive)
	in := b.StackAt(receives, "main.consume", "runtime.goexit")
	out := b.StackAt(sends, "main.(*stage).run", "runtime.goexit")
	elsewhere := b.StackAt(other, "main.other", "runtime.goexit")
	producer := b.Go(0, "main.produce")
	b.Start(producer, 0)
	consumer := b.Go(producer, "main.consume")
	b.Start(consumer, 1)
	b.At(100)
	b.Wait(consumer, "chan receive", address, in)
	b.At(300)
	b.Unpark(producer, consumer)
	b.Sync(producer, sends, address, 0) // the probe is after the operation
	b.At(310)
	b.Start(consumer, 1)
	b.Sync(consumer, receives, address, 0)
	b.Wait(producer, "chan send", address, out)
	b.At(400)
	b.Unpark(consumer, producer)
	b.Sync(consumer, receives, address, 0)
	b.Start(producer, 0)
	b.Sync(producer, sends, address, 0)
	b.At(500)
	b.Wait(consumer, "chan receive", address, elsewhere)
	b.At(600)
	b.Unpark(producer, consumer)
	b.Sync(producer, sends, 0xc000_0000_3000, 0)
	b.Start(consumer, 1)
	b.Sync(consumer, other, address, 0)
	b.End(consumer)
	b.End(producer)
	b.At(700)
	tr := b.Trace()
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 { // whichever name comes first
		if p, err := profile.New(tr); err != nil || object(t, p, "main.jobs").Turns != 90 {
			t.Fatalf("receivers waited for %d ns after senders had, expected 90 (%v)", object(t, p, "main.jobs").Turns,
				err)
		}
	}
	want := map[string]int64{"main.jobs": 200 + 90, later: 100}
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Wait != want[o.Name] {
			t.Errorf("%s was waited for for %d ns, expected %d", o.Name, o.Wait, want[o.Name])
		}
		if o.Name == "main.jobs" && (o.Objects != 1 || len(o.Also) != 1 || o.Also[0] != "main.(*stage).out" ||
			o.Ops != 2 || !o.More) {
			t.Errorf("%s: %d objects, also named %q, %d operations, others %v; expected one, the field, 2 operations or more, because the field is another channel's, too", o.Name, o.Objects, o.Also, o.Ops, o.More)
		}
		delete(want, o.Name)
	}
	if len(want) > 0 {
		t.Errorf("not there: %v", want)
	}
}

// A lock may be given back by another goroutine: then the hold is its holder's, and ends there.
// Where some operations have no probe, the other goroutine may have taken the lock unseen, so that
// the end of the hold is not known.
func TestHandedOver(t *testing.T) {
	const mutex = 0xc000_0000_1000
	for _, unseen := range []bool{false, true} {
		b := tracetest.New(2)
		lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
		g1 := b.Go(0, "main.takes")
		b.Start(g1, 0)
		g2 := b.Go(g1, "main.gives")
		b.Start(g2, 1)
		b.At(100)
		b.Sync(g1, lock, mutex, 0)
		b.At(200)
		b.Sync(g2, unlock, mutex, 0)
		b.At(700)
		b.Sync(g1, lock, mutex, 0)
		b.At(800)
		b.Sync(g1, unlock, mutex, 0)
		b.End(g1)
		b.End(g2)

		tr := b.Trace()
		if unseen {
			tr.Points[unlock].Flags |= spec.FlagUnseen
		}
		p, err := profile.New(tr)
		if err != nil {
			t.Fatal(err)
		}
		mu := &p.Objects[0]
		holds, npt, mark := int64(2), int64(100), ""
		if unseen {
			holds, npt, mark = 1, 50, "≥"
		}
		if mu.Partly != unseen || mu.Holds != holds || mu.Hold != 100*holds || mu.NPT() != npt || mu.Mark() != mark {
			t.Errorf("unseen %v: %d holds, %s%d ns, npt %d, partly %v", unseen, mu.Holds, mu.Mark(), mu.Hold, mu.NPT(),
				mu.Partly)
		}
	}
}

// The place of an object is where most of its waits are: in the user's own packages, even if a
// dependency with probes waits longer.
func TestPlaceOfObject(t *testing.T) {
	b := tracetest.New(2)
	b.File(b.Proc("example.com/dep.Use"), "/home/u/go/pkg/mod/example.com/dep@v1.2.3/dep.go")
	b.Proc("main.f")
	lock := b.Object("main.mu", spec.OpLock)
	holder, waiter := b.Go(0, "runtime.main"), b.Go(0, "main.waiter")
	b.Start(holder, 0)
	b.Sync(holder, lock, 0x1000, 0)
	now := int64(0)
	for _, w := range []struct {
		ns    int64
		stack []string
	}{
		{1000, []string{"sync.(*Mutex).Lock", "main.f", "runtime.goexit"}}, // line 2
		// line 4, below a dependency
		{5000, []string{"sync.(*Mutex).Lock", "example.com/dep.Use", "other.g", "main.f", "runtime.goexit"}},
		// nothing of the user's
		{9000, []string{"sync.(*Mutex).Lock", "other.g", "example.com/dep.Use", "runtime.goexit"}},
	} {
		b.At(now).Start(waiter, 1)
		b.Wait(waiter, "sync.Mutex.Lock", 0x1000, b.Stack(w.stack...))
		now += w.ns
		b.At(now).Unpark(holder, waiter)
	}
	p := profileOf(t, b)
	both := profile.Merge([]*profile.Profile{p, p})
	for _, p := range []*profile.Profile{p, both} {
		if o := object(t, p, "main.mu"); o.Line != 4 || o.Lines != 3 {
			t.Errorf("%s:%d, one of %d lines with waits; expected line 4 of 3", o.File, o.Line, o.Lines)
		}
		if e := entry(t, p, "main.mu"); e.Line != 4 {
			t.Errorf("entry: %s:%d, expected line 4", e.File, e.Line)
		}
	}
}
