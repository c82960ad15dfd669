package profile_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// Every profile of every trace adds up.
func TestIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := tracetest.Random(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }).Trace()
		if err := tracetest.Validate(tr); err != nil {
			t.Fatal(err)
		}
		p, err := profile.New(tr)
		if err != nil {
			t.Fatal(err)
		}
		identities(t, p)
		waits(t, p)
		inclusiveByDefinition(t, tr, p)
	})
}

// waits: every wait of the program's goroutines is some object's.
func waits(t *rapid.T, p *profile.Profile) {
	var reasons, objects, blamed int64
	for _, w := range p.BlockedBy {
		reasons += w.Time
	}
	for _, o := range p.Objects {
		objects += o.Wait
		var ended, in int64
		for _, w := range o.EndedBy {
			ended += w.Time
		}
		for _, w := range o.WaitedIn {
			in += w.Time
		}
		if ended != o.Wait || in > o.Wait || o.Worst > o.Wait || o.Longest > o.Hold {
			t.Errorf("%+v", o)
		}
		queues(t, &o)
		if most := int64(p.Procs) * o.Away; !o.Apart && (o.Meanwhile < 0 || o.Meanwhile > most) {
			t.Errorf("%s: %d ns of processors while goroutines waited, %d at most", o.Name, o.Meanwhile, most)
		}
		for _, w := range o.Blamed {
			blamed += w.Time
		}
	}
	for _, e := range p.Entries {
		if e.Kind == profile.KindProc {
			blamed -= e.Blame
		}
	}
	if blamed != 0 {
		t.Errorf("%d ns more are blamed by object than by procedure", blamed)
	}
	if reasons != objects {
		t.Errorf("%d ns waited by reason, %d by object", reasons, objects)
	}
}

// queues: the times with n waiting add up to the waits, which is Little's law (arrivals/s x
// mean wait = mean queue, all times the run time); so do blame and what is left.
func queues(t *rapid.T, o *profile.Object) {
	var waited, blamed int64
	for n, ns := range o.Waiting {
		waited += int64(n) * ns
	}
	for _, w := range o.Blamed {
		blamed += w.Time
	}
	if waited != o.Wait || blamed+o.Unattributed != o.Wait || o.Unattributed < 0 {
		t.Errorf("%s: waited %d, %d by queue, %d blamed and %d not: %+v", o.Name, o.Wait, waited, blamed,
			o.Unattributed, o)
	}
}

// inclusiveByDefinition computes every procedure's inclusive busy and ready time
// again, straight from the definition: each goroutine carries the list of all
// procedures that are open in it or were open in its creators at its creation.
func inclusiveByDefinition(t *rapid.T, tr *trace.Trace, p *profile.Profile) {
	type gor struct {
		inherited, own []trace.PointID
		state          trace.State
	}
	gs := map[trace.Slot]*gor{}
	busy, ready := map[trace.PointID]int64{}, map[trace.PointID]int64{}
	last := trace.Time(0)
	advance := func(now trace.Time) {
		for _, g := range gs {
			once := map[trace.PointID]bool{}
			for _, proc := range append(append([]trace.PointID{}, g.inherited...), g.own...) {
				if once[proc] {
					continue
				}
				once[proc] = true
				if g.state.Busy() && !slices.ContainsFunc(g.own,
					func(p trace.PointID) bool { return tr.Points[p].Spins() }) {
					busy[proc] += int64(now - last)
				} else if g.state == trace.Runnable {
					ready[proc] += int64(now - last)
				}
			}
		}
		last = now
	}
	tr.Events(func(batch []trace.Event) error {
		for _, e := range batch {
			advance(e.Time)
			switch e.Kind {
			case trace.Create:
				g := &gor{state: e.To}
				name := ""
				if f := tr.Function(e.Creation().Start); f != nil {
					name = f.Name
				}
				if by := gs[e.By]; by != nil && name != "runtime.gcBgMarkWorker" && name != "runtime.runFinalizers" {
					g.inherited = append(append([]trace.PointID{}, by.inherited...), by.own...)
				}
				gs[e.Slot] = g
			case trace.Change:
				gs[e.Slot].state = e.To
				if e.To == trace.None {
					delete(gs, e.Slot)
				}
			case trace.Enter:
				gs[e.Slot].own = append(gs[e.Slot].own, e.Point())
			case trace.Exit:
				gs[e.Slot].own = gs[e.Slot].own[:len(gs[e.Slot].own)-1]
			}
		}
		return nil
	})
	advance(tr.Wall())
	found := 0
	for i := range tr.Points {
		for _, e := range p.Entries {
			if (e.Kind == profile.KindProc || e.Kind == profile.KindLoop) && e.Name == tr.Points[i].Name {
				found++
				if e.Busy != busy[trace.PointID(i)] || e.Ready != ready[trace.PointID(i)] {
					t.Errorf("%s: busy %d ready %d, by definition %d and %d", e.Name, e.Busy, e.Ready,
						busy[trace.PointID(i)], ready[trace.PointID(i)])
				}
			}
		}
	}
	procs := 0
	for i := range tr.Points {
		if tr.Points[i].Kind != spec.PointSync {
			procs++
		}
	}
	if found != procs {
		t.Errorf("%d of %d procedures have entries", found, len(tr.Points))
	}
}

// A profile is the same bytes each time it is computed.
func TestDeterministic(t *testing.T) {
	data := tracetest.Simulate(4, sorter(5, 1, 2, 3)).Bytes()
	var first []byte
	for range 5 {
		tr, err := trace.New(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		p, err := profile.New(tr)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := p.JSON(&out); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = out.Bytes()
		}
		if !bytes.Equal(first, out.Bytes()) {
			t.Fatal("two profiles of one file differ")
		}
	}
}

// Recursion counts once on behalf, and a procedure both inherited and own counts
// once.
func TestRecursionAndInheritance(t *testing.T) {
	b := tracetest.New(2)
	f, h := b.Proc("main.f"), b.Proc("main.h")
	m := b.Go(0, "runtime.main")
	b.Start(m, 0)
	b.Enter(m, f)
	b.At(10).Enter(m, h)
	b.At(20).Enter(m, f)
	c := b.Go(m, "main.child")
	b.Start(c, 1)
	b.At(30).Enter(c, f)
	b.At(40).Exit(c, f)
	b.At(45).End(c)
	b.At(50).Exit(m, f)
	b.At(60).Exit(m, h)
	b.At(70).Exit(m, f)
	b.At(80)
	p := profileOf(t, b)
	check := func(name, what string, got, want int64) {
		if got != want {
			t.Errorf("%s: %s %d, want %d", name, what, got, want)
		}
	}
	ef, eh, none := entry(t, p, "main.f"), entry(t, p, "main.h"), entry(t, p, "[no procedure]")
	check("main.f", "busy", ef.Busy, 70+25)
	check("main.h", "busy", eh.Busy, 50+25)
	// On top: [0,10] [20,50] [60,70] of main, all of the child.
	check("main.f", "self busy", ef.SelfBusy, 50+25)
	check("main.f", "started", ef.Started, 15)
	check("main.h", "self busy", eh.SelfBusy, 20)
	check("[no procedure]", "self busy", none.SelfBusy, 10)
	check("main.f", "calls", int64(ef.Calls), 3)
	if p.Wall != 80 || p.Idle != 0 {
		t.Errorf("wall %d idle %d", p.Wall, p.Idle)
	}
}

// Each state's time goes to its own column.
func TestStates(t *testing.T) {
	b := tracetest.New(2)
	f := b.Proc("main.f")
	m := b.Go(0, "runtime.main")
	b.Start(m, 0)
	b.Enter(m, f)
	b.At(10).Park(m, "sleep") // busy 10
	b.At(30).Unpark(0, m)     // blocked 20
	b.At(35).Start(m, 1)      // ready 5
	b.At(45).Syscall(m)       // busy 10
	b.At(52).Steal(m)         // busy 7: it kept its processor
	b.At(60).SyscallEndBlocked(m)
	b.At(63).Start(m, 0) // syscall 8, ready 3
	b.At(64).Exit(m, f)  // busy 1
	p := profileOf(t, b)
	e := entry(t, p, "main.f")
	got := fmt.Sprint(e.Busy, e.Blocked, e.Ready, e.Syscall, e.NPT, p.Idle)
	if want := fmt.Sprint(28, 20, 8, 8, 28, 36); got != want {
		t.Errorf("busy, blocked, ready, syscall, npt, idle: %s, want %s", got, want)
	}
	if len(p.BlockedBy) != 1 || p.BlockedBy[0] != (profile.Wait{Reason: "sleep", Time: 20}) {
		t.Errorf("blocked by %v", p.BlockedBy)
	}
}

// Calls that were only counted keep their exact number.
func TestCounted(t *testing.T) {
	b := tracetest.New(1)
	f, only := b.Proc("main.f"), b.Proc("main.only")
	m := b.Go(0, "runtime.main")
	b.Start(m, 0)
	b.Enter(m, f)
	b.Count(f, 41)
	b.Count(only, 7)
	b.At(10).Exit(m, f)
	p := profileOf(t, b)
	if e := entry(t, p, "main.f"); e.Calls != 42 || e.Degraded != 41 || e.Busy != 10 {
		t.Errorf("main.f: %+v", e)
	}
	if e := entry(t, p, "main.only"); e.Calls != 7 || e.NPT != 0 {
		t.Errorf("main.only: %+v", e)
	}
	if p.Degraded != 48 {
		t.Errorf("degraded %d, want 48", p.Degraded)
	}
}

// Roots: the time before main.main is initialization, and the runtime's goroutines do not belong to
// the goroutine that happened to create them.
func TestRoots(t *testing.T) {
	b := tracetest.New(1)
	mm := b.Proc("main.main")
	m := b.Go(0, "runtime.main")
	b.Start(m, 0)
	b.At(3).Enter(m, mm)
	gc := b.Go(m, "runtime.gcBgMarkWorker")
	timer := b.Go(0, "main.onTimer")
	coro := b.Go(m, "runtime.corostart")
	b.At(10).Park(m, "sleep")
	b.Start(gc, 0)
	b.At(15).End(gc)
	b.Start(timer, 0)
	b.At(17).Unpark(timer, m)
	b.End(timer)
	b.Start(coro, 0)
	b.At(18).End(coro)
	b.Start(m, 0)
	b.At(19).Exit(m, mm)
	b.At(20)
	p := profileOf(t, b)
	want := map[string]int64{"init": 3, "main": 10, "gc": 5, "timers": 2, "finalizers": 0, "tool": 0, "other": 0}
	for _, r := range p.Roots {
		if r.NPT != want[r.Name] {
			t.Errorf("root %s: %d, want %d", r.Name, r.NPT, want[r.Name])
		}
	}
	if len(p.Roots) != len(want) {
		t.Errorf("%d roots, want %d", len(p.Roots), len(want))
	}
	if spec.PointProc != "proc" || p.Version != profile.Version {
		t.Error("contract changed")
	}
}

// A goroutine whose own procedure is only counted has no event of it, and ran a procedure with
// probes all the same.
func TestStartedCounted(t *testing.T) {
	for start, want := range map[string]int64{"main.counted": 0, "main.child": 10} {
		b := tracetest.New(2)
		f, counted := b.Proc("main.f"), b.Proc("main.counted")
		m := b.Go(0, "runtime.main")
		b.Start(m, 0)
		b.Enter(m, f)
		c := b.Go(m, start)
		b.Start(c, 1)
		b.Count(counted, 1)
		b.At(10).End(c)
		b.At(20).Exit(m, f)
		if got := entry(t, profileOf(t, b), "main.f").Started; got != want {
			t.Errorf("%s: %d ns of main.f are in goroutines that ran no procedure with probes, expected %d", start, got,
				want)
		}
	}
}

// A million goroutines made at one place share one set and one group.
func TestManyGoroutines(t *testing.T) {
	b := tracetest.New(1)
	f := b.Proc("main.f")
	m := b.Go(0, "runtime.main")
	b.Start(m, 0)
	b.Enter(m, f)
	const n = 20000
	for i := range n {
		c := b.Go(m, "main.child")
		b.At(int64(10 * i)).Yield(m)
		b.Start(c, 0)
		b.At(int64(10*i + 5)).End(c)
		b.Start(m, 0)
	}
	p := profileOf(t, b)
	if e := entry(t, p, "main.child"); e.Calls != n || len(p.Entries) != 4 {
		t.Errorf("%d goroutines in %d entries", e.Calls, len(p.Entries))
	}
}

// The stacks in which goroutines wait tell what a method started them for, if that has no probe and
// is one function.
func TestStartedByMethodsUnprobed(t *testing.T) {
	const start = "example.com/pool.(*Pool[...]).Go.func1"
	for _, c := range []struct {
		want, entered string // by the first one, "": nothing
		outer         []string
	}{
		{"main.main.func1", "", []string{"main.main.func1", "main.main.func1"}},
		{start, "", []string{"main.main.func1", "main.main.func2"}},
		{start, "main.inner", []string{"main.(*a).run-fm", "main.(*b).run-fm"}}, // the other one has no probes
	} {
		b := tracetest.New(2)
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		for i, f := range c.outer {
			g, stack := b.Go(main, start), b.Stack("time.Sleep", "main.inner", f, start)
			b.Start(g, 1)
			if i == 0 && c.entered != "" {
				b.Enter(g, b.Proc(c.entered))
			}
			b.At(b.Now()+1000).Wait(g, "sleep", 0, stack)
		}
		p, err := profile.New(b.Trace())
		if err != nil {
			t.Fatal(err)
		}
		entry(t, p, c.want)
	}
}

// Goroutines that a WaitGroup started are those of the procedure that it was given, if that is one.
func TestStartedByMethods(t *testing.T) {
	for _, c := range []struct {
		start string
		procs []string // that the goroutines enter first
		want  string
	}{
		{"sync.(*WaitGroup).Go.func1", []string{"main.main.func1", "main.main.func1"}, "main.main.func1"},
		{"golang.org/x/sync/errgroup.(*Group).TryGo.func1", []string{"main.main.func2"}, "main.main.func2"},
		{"sync.(*WaitGroup).Go.func1", []string{"main.main.func1", "main.main.func2"}, "sync.(*WaitGroup).Go.func1"},
		{"net/http.(*conn).serve", []string{"main.handle"}, "net/http.(*conn).serve"},
		{"main.main.gowrap2", []string{"main.main.func1", "main.main.func1"}, "main.main.func1"}, // of go f(x)
		{"main.main.gowrap2", []string{"main.main.func1", "main.main.func2"}, "main.main: go"},
		{"main.(*app).work-fm", []string{"main.run"}, "main.(*app).work"}, // a method's value
	} {
		b := tracetest.New(1)
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		var started []tracetest.G
		for range c.procs {
			started = append(started, b.Go(main, c.start))
		}
		b.At(5_000_000).Wait(main, "sync.WaitGroup.Wait", 0, 0)
		procs := map[string]uint32{}
		for i, g := range started {
			f, ok := procs[c.procs[i]]
			if !ok {
				f = b.Proc(c.procs[i])
				procs[c.procs[i]] = f
			}
			b.At(int64(10+10*i)*1_000_000).Start(g, 0)
			b.Enter(g, f)
			b.At(int64(15+10*i)*1_000_000).Exit(g, f)
			b.Wait(g, "sleep", 0, 0)
		}
		p, err := profile.New(b.Trace())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range p.Entries {
			if e.Kind == profile.KindGoroutine && e.Name != "runtime.main" {
				names = append(names, e.Name)
			}
		}
		if len(names) != 1 || names[0] != c.want {
			t.Errorf("%s, %q: found goroutines %q, expected %s", c.start, c.procs, names, c.want)
		}
	}
}
