package critpath_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

const ms = 1_000_000

func program(t *testing.T, source trace.Source) *steps.Program {
	t.Helper()
	p, losses, err := steps.Build(source, steps.Options{})
	if err != nil || losses.Any() {
		t.Fatal(losses, err)
	}
	return p
}

// recorded is the program of threads that ran on some processors.
func recorded(t *testing.T, procs int, threads []tracetest.Thread) *steps.Program {
	t.Helper()
	b := tracetest.New(procs)
	b.Operations = true
	return program(t, tracetest.SimulateOn(b, threads).Trace())
}

// figure4 is W1, VPPB's Figure 4.
func figure4() []tracetest.Thread {
	do := func(name string, units int64) tracetest.Op { return tracetest.Do("main."+name, units*ms) }
	wait, signal := tracetest.Wait, tracetest.Signal
	a, b, c, d, e, f := do("a", 1), do("b", 4), do("c", 1), do("d", 2), do("e", 2), do("f", 3)
	return []tracetest.Thread{
		{Name: "main.t1", Ops: []tracetest.Op{a, signal("X"), b, signal("Z"), c, wait("X2"), e}},
		{Name: "main.t2", Ops: []tracetest.Op{wait("X"), c, signal("Y"), a, wait("Y2"), d}},
		{Name: "main.t3", Ops: []tracetest.Op{wait("Y"), d, wait("Z"), e, signal("X2"), a, signal("Y2"), f}},
	}
}

// self is the times of entries in ms, by name.
func self(r *critpath.Result, of func(*critpath.Entry) int64) map[string]float64 {
	times := map[string]float64{}
	for i := range r.Entries {
		if e := &r.Entries[i]; partitions(e) && of(e) != 0 {
			times[e.Name] += float64(of(e)) / ms
		}
	}
	return times
}

func partitions(e *critpath.Entry) bool {
	return e.Kind == critpath.KindProc || e.Kind == critpath.KindWait
}

func onPath(e *critpath.Entry) int64   { return e.Self }
func weighted(e *critpath.Entry) int64 { return e.Weighted }

func expect(t *testing.T, what string, got, want map[string]float64) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: found %v, expected %v", what, got, want)
	}
}

// W1, and V2 to V4: the path on three processors, weights on two, and both on one; whatever the run
// was recorded on.
func TestFigure4(t *testing.T) {
	t.Parallel()
	path := map[string]float64{"main.a": 2, "main.b": 4, "main.e": 2, "main.f": 3}
	two := map[string]float64{"main.a": 2, "main.b": 4, "main.e": 3, "main.f": 3}
	one := map[string]float64{"main.a": 3, "main.b": 4, "main.c": 2, "main.d": 4, "main.e": 4, "main.f": 3}
	for _, procs := range []int{1, 2, 3, 8} {
		p := recorded(t, procs, figure4())
		r := critpath.New(p, critpath.Options{Procs: 3, Policy: sim.Sharing})
		if r.T != 11*ms {
			t.Errorf("on three processors it takes %d ns, expected 11 ms", r.T)
		}
		expect(t, "path on three", self(r, onPath), path)
		expect(t, "weights on three", self(r, weighted), path)
		r = critpath.New(p, critpath.Options{Procs: 2, Policy: sim.Sharing})
		expect(t, "weights on two", self(r, weighted), two)
		r = critpath.New(p, critpath.Options{Procs: 1, Policy: sim.List})
		expect(t, "path on one", self(r, onPath), one)
		r = critpath.New(p, critpath.Options{Max: true, Policy: sim.List})
		expect(t, "path on as many as goroutines", self(r, onPath), path)
	}
	expect(t, "path as it was, on three", self(critpath.New(recorded(t, 3, figure4()), critpath.Options{AsRun: true}),
		onPath), path)
	expect(t, "path as it was, on one", self(critpath.New(recorded(t, 1, figure4()), critpath.Options{AsRun: true}),
		onPath), one)
}

// A balanced fan-out gains nothing if one of its procedures becomes shorter, since all the others
// are as long; together they do.
func TestTies(t *testing.T) {
	t.Parallel()
	var threads []tracetest.Thread
	for i := range 3 {
		threads = append(threads, tracetest.Thread{Name: "main.worker",
			Ops: []tracetest.Op{tracetest.Do(fmt.Sprint("main.w", i), 5*ms)}})
	}
	r := critpath.New(recorded(t, 3, threads), critpath.Options{Procs: 3, Policy: sim.Sharing})
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Kind == critpath.KindProc && e.Work > 0 &&
			(e.Weighted != 0 || e.WeightedRight != 5*ms) {
			t.Errorf("%s is worth %d and %d, expected 0 and 5 ms", e.Name, e.Weighted, e.WeightedRight)
		}
	}
	for i := range threads {
		threads[i].Ops[0] = tracetest.Do("main.w", 5*ms)
	}
	r = critpath.New(recorded(t, 3, threads), critpath.Options{Procs: 3, Policy: sim.Sharing})
	expect(t, "together", self(r, weighted), map[string]float64{"main.w": 5})
}

// W5, saturated: all that matters is done under the lock, by goroutines of one kind.
func TestHeld(t *testing.T) {
	t.Parallel()
	var threads []tracetest.Thread
	for range 4 {
		var ops []tracetest.Op
		for range 20 {
			ops = append(ops, tracetest.Do("main.outside", ms), tracetest.Lock("main.mu"),
				tracetest.Do("main.inside", ms), tracetest.Unlock("main.mu"))
		}
		threads = append(threads, tracetest.Thread{Name: "main.worker", Ops: ops})
	}
	r := critpath.New(recorded(t, 1, threads), critpath.Options{Procs: 4, Policy: sim.Sharing})
	for kind, want := range map[string][3]int64{critpath.KindSync: {80, 80, 80},
		critpath.KindGoroutine: {81, 81, 160}} {
		found := false
		for i := range r.Entries {
			if e := &r.Entries[i]; e.Kind == kind && e.Work > 0 {
				found = true
				if got := [3]int64{e.Self / ms, e.Weighted / ms, e.Work / ms}; got != want {
					t.Errorf("%s %s: found %v ms on the path, worth and worked, expected %v", kind, e.Name, got, want)
				}
			}
		}
		if !found {
			t.Errorf("found no %s", kind)
		}
	}
}

// TestSleepUnderLock: a goroutine that sleeps, or waits for the network, keeps its locks. That time
// is the lock's too, on the path and in changes of the hold.
func TestSleepUnderLock(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2)
	lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
	const mu = 0x1000
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Sync(g, lock, mu, 0)
	h := b.Go(g, "main.other")
	b.Start(h, 1)
	b.At(ms).Wait(h, "sync.Mutex.Lock", mu, 0)
	b.At(2*ms).Park(g, "sleep")
	b.At(6*ms).Unpark(0, g)
	b.Start(g, 0)
	b.At(7*ms).Sync(g, unlock, mu, 0)
	b.Unpark(g, h)
	b.Wait(g, "sync.WaitGroup.Wait", 0, 0)
	b.Start(h, 1)
	b.Sync(h, lock, mu, 0)
	b.At(8*ms).Sync(h, unlock, mu, 0)
	b.Unpark(h, g)
	b.End(h)
	b.Start(g, 0)
	b.At(10 * ms)
	p := program(t, b.Trace())
	r := critpath.New(p, critpath.Options{AsRun: true, Policy: sim.Sharing})
	found := false
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Kind == critpath.KindSync {
			found = true
			if got, want := [5]int64{e.Self / ms, e.Weighted / ms, e.Work / ms, e.Delays / ms, e.Waited / ms},
				[5]int64{8, 8, 4, 4, 6}; got != want {
				t.Errorf("found %v ms on the path, worth, worked, slept and waited for, expected %v", got, want)
			}
		}
	}
	if !found {
		t.Error("found no lock")
	}
	w, err := predict.ParseWhatIf("hold:main.mu=-50%")
	if err != nil {
		t.Fatal(err)
	}
	if a := predict.New(p, predict.Ask{Procs: []int{2}, Policy: sim.Sharing,
		WhatIf: []predict.WhatIf{w}}); a.WhatIf[0].T != 6*ms {
		t.Errorf("with half the hold it takes %d ns, expected %d", a.WhatIf[0].T, 6*ms)
	}
}

// TestPace: who sleeps until a time of the clock sleeps longer if there was less to do before. Only
// the work before the first sleep, from which the times are counted, and after the last one gains
// something.
func TestPace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		paced, timer bool // it waits for a timer's channel
		want         int64
	}{{true, false, 20 * ms}, {false, false, 18 * ms}, {true, true, 20 * ms}, {false, true, 18 * ms}} {
		b := tracetest.New(1)
		g := b.Go(0, "runtime.main")
		take, work := b.Proc("main.take"), b.Proc("main.work")
		ch := b.Object("time.(*Timer).C", spec.OpReceive)
		b.Start(g, 0)
		for k := range int64(3) {
			b.Enter(g, work)
			b.At(k*10*ms+4*ms).Exit(g, work)
			if k == 2 {
				break
			}
			b.Enter(g, take)
			if c.timer {
				b.Wait(g, "chan receive", 0x200, b.Stack("runtime.chanrecv1", "main.take"))
			} else {
				b.Wait(g, "sleep", 0, b.Stack("time.Sleep", "main.take"))
			}
			b.At(k*10*ms+10*ms).UnparkLate(g, 0)
			b.Start(g, 0)
			if c.timer {
				b.Sync(g, ch, 0x200, 0)
			}
			b.Exit(g, take)
		}
		b.End(g)
		tr := b.Trace()
		if c.paced {
			tr.Points[take].Flags |= spec.FlagPaced
		}
		p := program(t, tr)
		w, err := predict.ParseWhatIf("calls:main.work=-50%")
		if err != nil {
			t.Fatal(err)
		}
		if a := predict.New(p, predict.Ask{Procs: []int{1}, Policy: sim.Sharing,
			WhatIf: []predict.WhatIf{w}}); a.WhatIf[0].T != c.want {
			t.Errorf("paced: %v: with half the work it takes %d ns, expected %d", c, a.WhatIf[0].T, c.want)
		}
		r := critpath.New(p, critpath.Options{AsRun: true, Policy: sim.Sharing})
		for i := range r.Entries {
			if e := &r.Entries[i]; e.Name == "[timer]" && (len(e.In) != 1 || e.In[0].Paced != c.paced) {
				t.Errorf("paced: %v: found %+v", c, e.In)
			}
		}
	}
}

// TestPartition: the path of any run covers it without gaps, and entries partition it.
func TestPartition(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	ends, doubts := 0, 0
	for i := range tracetest.Cases(2000) {
		tr := tracetest.Random(r.IntN).Trace()
		if i%2 == 0 { // all that may be stopped
			for k := range tr.Points {
				tr.Points[k].Flags |= spec.FlagPolls
			}
		}
		p := program(t, tr)
		for _, told := range p.Told {
			ends += len(told)
		}
		for _, o := range []critpath.Options{{AsRun: true, Policy: sim.Sharing}, {Procs: 2, Policy: sim.Sharing},
			{Procs: 1, Policy: sim.List}, {Procs: 2, Policy: sim.Go}} {
			res := critpath.New(p, o)
			self, worth := int64(0), int64(0)
			for k := range res.Entries {
				e := &res.Entries[k]
				least := min(e.Weighted, e.WeightedRight, e.WeightedInclusive)
				most := max(e.Weighted, e.WeightedRight, e.WeightedInclusive)
				if least < 0 || most > res.Replay || e.Unknown && most > 0 {
					t.Fatalf("program %d, %+v: %s is worth from %d to %d of a run of %d", i, o, e.Name, least, most,
						res.Replay)
				}
				if partitions(e) {
					self += e.Self
					worth += e.Weighted
				}
			}
			doubts += res.Anomalies
			if off := worth - res.Replay; o.Policy == sim.Go && max(off, -off) > int64(len(res.Entries)) {
				t.Fatalf("program %d, %+v: weights add up to %d, expected %d", i, o, worth, res.Replay)
			}
			at := int64(0)
			for _, piece := range res.Path {
				if piece.From != at || piece.To < at {
					t.Fatalf("program %d, %+v: a piece of the path is from %d to %d, expected one from %d on", i, o,
						piece.From, piece.To, at)
				}
				at = piece.To
			}
			if self != res.T || at != res.T {
				t.Fatalf("program %d, %+v: self times add up to %d, the path ends at %d, expected %d", i, o, self, at,
					res.T)
			}
			if o.AsRun && res.T != int64(p.End) {
				t.Fatalf("program %d: the run takes %d, expected %d", i, res.T, p.End)
			}
		}
	}
	if doubts == 0 {
		t.Error("no worth was doubted")
	}
	if ends == 0 && tracetest.Thorough() { // one in a thousand is
		t.Error("no goroutine was told to end")
	}
}

// TestRequests: a request that waits for a lock has on its path what the holder did since the
// request began, for another one: nothing that itself did before it waited could have been shorter
// with any effect.
func TestRequests(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	first, second := b.Go(main, "main.a"), b.Go(main, "main.b")
	b.Park(main, "select")
	inside, prepare, answer := b.Proc("main.inside"), b.Proc("main.prepare"), b.Proc("main.answer")
	lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
	const mu = 0x1000
	b.Start(first, 0)
	b.Sync(first, lock, mu, 0)
	b.BeginRegion(first, "other")
	b.Enter(first, inside)
	b.Start(second, 1)
	b.At(1 * ms)
	b.BeginRegion(second, "request")
	b.Enter(second, prepare)
	b.At(3 * ms)
	b.Exit(second, prepare)
	b.Wait(second, "sync.Mutex.Lock", mu, 0)
	b.At(10 * ms)
	b.Exit(first, inside)
	b.EndRegion(first, "other")
	b.Sync(first, unlock, mu, 1)
	b.Unpark(first, second)
	b.Start(second, 1)
	b.Sync(second, lock, mu, 0)
	b.Enter(second, answer)
	b.At(14 * ms)
	b.Exit(second, answer)
	b.Sync(second, unlock, mu, 0)
	b.EndRegion(second, "request")
	b.End(second)
	b.At(20 * ms)
	p := program(t, b.Trace())
	r, err := critpath.NewRequest(p, "request")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "path of the request", self(r, onPath), map[string]float64{"main.inside": 9, "main.answer": 4})
	expect(t, "by others", self(r, func(e *critpath.Entry) int64 { return e.Other }),
		map[string]float64{"main.inside": 9})
	if q := r.Requests; len(q) != 1 || q[0].Count != 1 || q[0].Total != 13*ms || q[0].P50 != 13*ms {
		t.Errorf("found %+v, expected one request of 13 ms", q)
	}
	if _, err := critpath.NewRequest(p, "none"); err == nil {
		t.Error("a request that is not there has a path")
	}
}

// Paths of requests cover them.
func TestRequestsPartition(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	found := 0
	for i := range tracetest.Cases(2000) {
		p := program(t, tracetest.Random(r.IntN).Trace())
		for _, q := range critpath.NewRequests(p).Requests {
			found++
			res, err := critpath.NewRequest(p, q.Name)
			if err != nil {
				t.Fatal(err)
			}
			self := int64(0)
			for k := range res.Entries {
				if partitions(&res.Entries[k]) {
					self += res.Entries[k].Self
				}
			}
			if self != q.Total || res.T != q.Total {
				t.Fatalf("program %d: the paths of %s add up to %d, expected %d", i, q.Name, self, q.Total)
			}
		}
	}
	if found < tracetest.Cases(500) {
		t.Errorf("found %d kinds of requests, expected more", found)
	}
}

// A damaged file may say that two goroutines ended each other's waits. The path ends all the same.
func TestCircle(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.At(ms)
	p := program(t, b.Trace())
	c := p.Gs[0].Context
	p.Steps, p.Tokens, p.Last = steps.List[steps.Step]{}, 3, 1
	p.Gs = []steps.Goroutine{{ID: 1, First: 1, By: -1, Context: c}, {ID: 2, First: 3, By: -1, Context: c}}
	p.Steps.Add(steps.Step{})
	add := func(s steps.Step, next steps.StepID) {
		s.At, s.Next = 10, next
		p.Steps.Add(s)
	}
	add(steps.Takes(2), 2)
	add(steps.Gives(1), 0)
	add(steps.Takes(1), 4)
	add(steps.Gives(2), 5)
	p.Steps.Add(steps.Step{Kind: steps.Cut, At: ms})
	res := critpath.New(p, critpath.Options{AsRun: true, Policy: sim.Sharing})
	self := int64(0)
	for k := range res.Entries {
		if partitions(&res.Entries[k]) {
			self += res.Entries[k].Self
		}
	}
	if self != int64(p.End) {
		t.Errorf("self times add up to %d, expected %d", self, p.End)
	}
}

// TestTimer: a goroutine that a timer starts begins when the timer is over, counted from where it
// was set: if what came before becomes shorter, so does the run.
func TestTimer(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	prepare, fire := b.Proc("main.prepare"), b.Proc("main.fire")
	b.Enter(main, prepare)
	b.At(4*ms).Exit(main, prepare)
	b.SetTimer(main, 0x100) // another one, which is stopped
	b.SetTimer(main, 0x200)
	b.Park(main, "chan receive")
	b.At(10 * ms)
	g := b.Fire(0x200, "main.fire")
	b.Start(g, 1)
	b.Enter(g, fire)
	b.At(12*ms).Exit(g, fire)
	b.Unpark(g, main)
	b.End(g)
	b.Start(main, 0)
	tr := b.Trace()
	if err := tracetest.Validate(tr); err != nil {
		t.Fatal(err)
	}
	p := program(t, tr)
	r := critpath.New(p, critpath.Options{AsRun: true, Policy: sim.Sharing})
	want := map[string]float64{"main.prepare": 4, "[timer]": 6, "main.fire": 2}
	expect(t, "path", self(r, onPath), want)
	expect(t, "worth", self(r, weighted), want)
	half, err := predict.ParseWhatIf("self:main.prepare=-50%")
	if err != nil {
		t.Fatal(err)
	}
	if w := predict.New(p, predict.Ask{Procs: []int{2}, Policy: sim.Sharing,
		WhatIf: []predict.WhatIf{half}}).WhatIf[0]; w.T != 10*ms {
		t.Errorf("with half of the preparation it takes %d, expected 10 ms", w.T)
	}
}

// TestProcessors: a wait for a processor was ended by the goroutine that left that one, not by one
// that left another one later.
func TestProcessors(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	first, other, last := b.Proc("main.first"), b.Proc("main.other"), b.Proc("main.last")
	g, h := b.Go(main, "main.g"), b.Go(main, "main.h")
	b.Start(h, 1)
	b.Enter(main, first)
	b.Enter(h, other)
	b.At(5*ms).Exit(main, first)
	b.Park(main, "chan receive")
	b.At(5*ms+1000).Exit(h, other)
	b.End(h)
	b.At(5*ms + 2000)
	b.Start(g, 0)
	b.Enter(g, last)
	b.At(9*ms).Exit(g, last)
	b.Unpark(g, main)
	b.End(g)
	b.Start(main, 0)
	r := critpath.New(program(t, b.Trace()), critpath.Options{AsRun: true, Policy: sim.Sharing})
	expect(t, "path", self(r, onPath), map[string]float64{"main.first": 5, "[wake-up]": 0.002, "main.last": 3.998})
}

// TestTasks: a task's path goes through goroutines, and one with labels is a request while it has
// them, within one with fewer.
func TestTasks(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	ask, answer := b.Proc("main.ask"), b.Proc("main.answer")
	b.At(1 * ms)
	b.BeginTask(main, "order", 7)
	b.Label(main, "user=1")
	b.Enter(main, ask)
	b.At(3*ms).Exit(main, ask)
	b.Label(main, "a=2,user=1")
	b.At(4 * ms)
	g := b.Go(main, "main.g") // has its labels, and is no request of its own
	b.Label(main, "user=1")
	b.Start(g, 1)
	b.At(5 * ms)
	b.Label(main, "")
	b.Park(main, "chan receive")
	b.Enter(g, answer)
	b.Label(g, "")
	b.Label(g, "a=2,user=1")
	b.At(9*ms).Exit(g, answer)
	b.EndTask(g, 7)
	b.EndTask(g, 8) // which began before the trace
	b.Unpark(g, main)
	b.End(g)
	b.Start(main, 0)
	tr := b.Trace()
	if err := tracetest.Validate(tr); err != nil {
		t.Fatal(err)
	}
	p := program(t, tr)
	got := map[string]int64{}
	for _, q := range critpath.NewRequests(p).Requests {
		got[fmt.Sprint(q.Kind, " ", q.Name, " ", q.Count)] = q.Total / ms
	}
	if want := map[string]int64{"task order 1": 8, "labels user=1 1": 4,
		"labels a=2,user=1 1": 1}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("found %v, expected %v", got, want)
	}
	r, err := critpath.NewRequest(p, "order")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "path of the task", self(r, onPath),
		map[string]float64{"main.ask": 2, "[no procedure]": 2, "main.answer": 4})
}

// TestBenchmark: a benchmark's requests are the iterations of its own loop, not those of a loop
// within.
func TestBenchmark(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	bench, own, inner := b.Proc("p.BenchmarkX"), b.Loop("p.own", false), b.Loop("p.inner", false)
	b.In(own, bench)
	b.In(inner, bench)
	g := b.Go(main, "testing.(*B).launch")
	b.Park(main, "chan receive")
	b.Start(g, 1)
	b.Enter(g, bench)
	b.Enter(g, own)
	b.At(1*ms).Enter(g, inner)
	b.At(2*ms).Leave(g, inner, 3)
	b.At(10*ms).Leave(g, own, 100)
	b.Exit(g, bench)
	b.Unpark(g, main)
	b.End(g)
	b.Start(main, 0)
	if q := critpath.NewRequests(program(t, b.Trace())).Requests; len(q) != 1 || q[0].Count != 100 ||
		q[0].Total != 10*ms || q[0].P50 != ms/10 {
		t.Errorf("found %+v, expected 100 iterations of 0.1 ms", q)
	}
}

// besides begins a program whose main goroutine is in main.parse, and another one in main.index,
// which polls for its stop or does not.
func besides(polls bool) (b *tracetest.Builder, main, g tracetest.G, index, parse uint32) {
	b = tracetest.New(2)
	index, parse = b.Proc("main.index"), b.Proc("main.parse")
	if polls {
		b.Polls(index)
	}
	main = b.Go(0, "runtime.main")
	b.Start(main, 0)
	g = b.Go(main, "main.index")
	b.Start(g, 1)
	b.Enter(g, index)
	b.Enter(main, parse)
	return b, main, g, index, parse
}

// TestTold: a goroutine that works until it is stopped determines nothing, whatever work it did,
// and whichever goroutine waits for it then.
func TestTold(t *testing.T) {
	t.Parallel()
	for _, polls := range []bool{true, false} {
		b, main, g, index, parse := besides(polls)
		lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
		for i := range int64(9) {
			b.At(i*10*ms+5*ms).Sync(g, lock, 0x1000, 0)
			b.At(i*10*ms+6*ms).Sync(g, unlock, 0x1000, 0)
		}
		b.At(100 * ms)
		b.Exit(main, parse)
		b.Wait(main, "sync.WaitGroup.Wait", 0x2000, 0)
		b.At(101 * ms)
		b.Exit(g, index)
		b.Unpark(g, main)
		b.End(g)
		b.Start(main, 0)
		b.At(102 * ms)
		p := program(t, b.Trace())
		want := map[string]float64{"main.parse": 100, "main.index": 1, "[no procedure]": 1}
		if !polls {
			want = map[string]float64{"main.index": 101, "[no procedure]": 1}
		}
		for _, policy := range sim.Policies {
			r := critpath.New(p, critpath.Options{Policy: policy, AsRun: true})
			expect(t, string(policy)+": on the path", self(r, onPath), want)
			if policy != sim.Go { // which has wake-ups
				expect(t, string(policy)+": worth", self(r, weighted), want)
			}
		}
		for change, shorter := range map[string]float64{"main.parse=-50%": 50, "main.parse=+50%": -50,
			"main.index=-50%": 0.5} {
			if !polls {
				continue
			}
			w, err := predict.ParseWhatIf(change)
			if err != nil {
				t.Fatal(err)
			}
			for _, policy := range sim.Policies {
				r := predict.New(p, predict.Ask{Procs: []int{2}, Policy: policy, WhatIf: []predict.WhatIf{w}})
				const wakeUps = 20_000
				if got, want := r.WhatIf[0].T, int64((102-shorter)*ms); got < want || got > want+wakeUps {
					t.Errorf("%s, %s: it takes %d ns, expected %v ms", policy, change, got, 102-shorter)
				}
			}
		}
	}
}

// TestNearer: where evenly shared processors do not explain how long a run took, the policy that
// does is named.
func TestNearer(t *testing.T) {
	t.Parallel()
	do := func(name string, units int64) []tracetest.Op {
		return []tracetest.Op{tracetest.Do("main."+name, units*ms)}
	}
	threads := []tracetest.Thread{{Name: "main.t1", Ops: do("a", 9)}, {Name: "main.t2", Ops: do("b", 5)},
		{Name: "main.t3", Ops: do("c", 4)}}
	p := recorded(t, 2, threads) // 9 ms in order, shared evenly 4.5 longer than that for a
	r := critpath.New(p, critpath.Options{AsRun: true, Policy: sim.Sharing})
	if n := r.Nearer; n == nil || n.Policy != sim.List || n.T != r.T {
		t.Errorf("the run took %d ns, computed %d: found %+v, expected that fifo computes the same", r.T, r.Replay, n)
	}
	if n := critpath.New(p, critpath.Options{AsRun: true, Policy: sim.List}).Nearer; n != nil {
		t.Errorf("the run is explained, and %s is said to be nearer", n.Policy)
	}
}

// TestPlaceOfTimer: a timer that starts a goroutine is at the call that set it. Where several calls
// may have, no line is said, least of all the procedure's first one.
func TestPlaceOfTimer(t *testing.T) {
	t.Parallel()
	for calls := range 3 {
		b := tracetest.New(2)
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		set, fire := b.Proc("main.set"), b.Proc("main.fire")
		b.Calls(set, "main.other", 1)
		for range calls {
			b.Calls(set, "time.AfterFunc", 1)
		}
		b.Enter(main, set)
		b.At(4*ms).SetTimer(main, 0x200)
		b.Exit(main, set)
		b.Park(main, "chan receive")
		b.At(10 * ms)
		g := b.Fire(0x200, "main.fire")
		b.Start(g, 1)
		b.Enter(g, fire)
		b.At(12*ms).Exit(g, fire)
		b.Unpark(g, main)
		b.End(g)
		b.Start(main, 0)
		tr := b.Trace()
		want := critpath.WaitedIn{Name: "main.set", Self: 6 * ms, Count: 1}
		for i := range tr.Points {
			p := &tr.Points[i]
			if p.Name != "time.AfterFunc" {
				continue
			}
			if p.Owner = trace.PointID(set); calls == 1 { // the builder's points are in the packages of their names
				want.File, want.Line = p.File, p.Line
			}
		}
		r := critpath.New(program(t, tr), critpath.Options{AsRun: true, Policy: sim.Sharing})
		for i := range r.Entries {
			if e := &r.Entries[i]; e.Name == "[timer]" && (len(e.In) != 1 || e.In[0] != want) {
				t.Errorf("of %d calls: found %+v, expected %+v", calls, e.In, want)
			}
		}
	}
}

// TestTakenByTimer: what a timer began took the processor from a goroutine that could go on. That
// much of its work is on the path, and the path stays with the goroutine: had the timer come
// sooner, it would not have gained more.
func TestTakenByTimer(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1)
	work, tick := b.Proc("main.work"), b.Proc("main.tick")
	ticker, main := b.Go(0, "main.ticker"), b.Go(0, "runtime.main")
	b.Start(ticker, 0)
	b.Wait(ticker, "sleep", 0, 0)
	b.Start(main, 0)
	b.Enter(main, work)
	b.At(7*ms).Unpark(0, ticker)
	b.At(8 * ms).Yield(main)
	b.Start(ticker, 0)
	b.Enter(ticker, tick)
	b.At(9*ms).Exit(ticker, tick)
	b.Wait(ticker, "sleep", 0, 0)
	b.Start(main, 0)
	b.At(12*ms).Exit(main, work)
	b.End(main)
	r := critpath.New(program(t, b.Trace()), critpath.Options{AsRun: true, Policy: sim.Sharing})
	expect(t, "path", self(r, onPath), map[string]float64{"main.work": 11, "main.tick": 1})
}

// TestTicks: a helper is woken by a ticker every 20 ms until it is stopped, and takes a lock. A
// goroutine that waits for the lock waits for the helper's work. The time of the wake-up decides
// nothing.
func TestTicks(t *testing.T) {
	t.Parallel()
	for name, stops := range map[string]bool{"told": true, "never": false} {
		b := tracetest.New(2)
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		work, compact := b.Proc("main.work"), b.Proc("main.compact")
		lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
		b.Sync(main, b.Object("main.mu", spec.OpUnlock), 0x900, 0) // not all of its operations are known
		stack := b.Stack("main.helper")
		helper := b.Go(main, "main.helper")
		b.Enter(main, work)
		b.Start(helper, 1)
		tick := b.Object("time.(*Ticker).C in main.helper", spec.OpReceive)
		b.Wait(helper, "select", 0, stack)
		for range 2 {
			b.At(b.Now()+20*ms).UnparkLate(helper, 0)
			b.Start(helper, 1)
			b.Sync(helper, tick, 0x200, 0)
			b.Enter(helper, compact)
			b.Sync(helper, lock, 0x100, 0)
			b.At(b.Now() + 5*ms)
			b.Wait(main, "sync.Mutex.Lock", 0x100, 0)
			b.At(b.Now()+5*ms).Unpark(helper, main)
			b.Sync(helper, unlock, 0x100, 0)
			b.Exit(helper, compact)
			b.Wait(helper, "select", 0, stack)
			b.Start(main, 0)
			b.Sync(main, lock, 0x100, 0)
			b.Sync(main, unlock, 0x100, 0)
		}
		b.At(70*ms).Exit(main, work)
		if stops {
			b.Unpark(main, helper)
			b.Wait(main, "chan receive", 0x300, 0)
			b.Start(helper, 1)
			b.Unpark(helper, main)
			b.End(helper)
			b.Start(main, 0)
		}
		tr := b.Trace()
		if err := tracetest.Validate(tr); err != nil {
			t.Fatal(err)
		}
		r := critpath.New(program(t, tr), critpath.Options{AsRun: true, Policy: sim.Sharing})
		want := map[string]float64{"main.work": 60, "main.compact": 10}
		expect(t, name+": path", self(r, onPath), want)
		for i := range r.Entries {
			if e := &r.Entries[i]; e.Name == "[timer]" && e.Weighted > 0 {
				t.Errorf("%s: the timer is worth %d ns", name, e.Weighted)
			}
		}
	}
}

// TestHeldAtMost: not all work between two recorded operations on a lock is done under it, if most
// were only counted.
func TestHeldAtMost(t *testing.T) {
	t.Parallel()
	threads := []tracetest.Thread{{Name: "main.worker",
		Ops: []tracetest.Op{tracetest.Lock("main.mu"), tracetest.Do("main.inside", 80*ms),
			tracetest.Unlock("main.mu")}}}
	for _, c := range []struct{ hold, most, want, held int64 }{{10, 12, 10, 12}, {70, 90, 80, 0}} {
		p := recorded(t, 1, threads)
		list := []predict.Held{{Name: "main.mu", Hold: c.hold * ms, Most: c.most * ms}}
		r := critpath.New(p, critpath.Options{AsRun: true, Policy: sim.Sharing, Held: list})
		found := false
		for i := range r.Entries {
			if e := &r.Entries[i]; e.Kind == critpath.KindSync {
				found = true
				if e.Self != c.want*ms || e.Weighted != c.want*ms || e.Work != c.want*ms || e.Held != c.held*ms {
					t.Errorf("held for %d ms at most: found %d on the path, %d of worth, %d of work and %d at most, expected %d ms", c.most, e.Self, e.Weighted, e.Work, e.Held, c.want)
				}
			}
		}
		w, err := predict.ParseWhatIf("hold:main.mu=-50%")
		if err != nil {
			t.Fatal(err)
		}
		x := predict.New(p, predict.Ask{Procs: []int{1}, Policy: sim.Sharing, WhatIf: []predict.WhatIf{w},
			Held: list}).WhatIf[0]
		if !found || (x.Unknown != "") != (c.held > 0) {
			t.Errorf("held for %d ms at most: a change of the hold is %+v", c.most, x)
		}
	}
}

// TestPlacesOfWaits: a wait in a system call is where its stack says. Without one it is where the
// work before it ended, unless that calls procedures whose calls have no events. A goroutine that
// has done nothing has not waited in the procedure that started it.
func TestPlacesOfWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ calls, stack bool }{"main.session": {}, "": {calls: true},
		"main.deliver os.(*File).Sync": {true, true}} {
		b := tracetest.New(1)
		session, deliver := b.Proc("main.session"), b.Proc("main.deliver")
		if c.calls {
			b.Count(deliver, 9)
			b.Calls(session, "main.deliver", 9)
		}
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		b.Enter(main, session)
		b.At(5 * ms).Syscall(main)
		b.Steal(main)
		if b.At(45 * ms); c.stack {
			b.SyscallEndIn(main, b.StackAt(deliver, "syscall.fsync", "os.(*File).Sync", "main.deliver", "main.session"))
		} else {
			b.SyscallEndBlocked(main)
		}
		b.At(50*ms).Start(main, 0)
		b.At(55*ms).Exit(main, session)
		b.End(main)
		tr := b.Trace()
		for i := range tr.Points {
			if p := &tr.Points[i]; p.Kind == spec.PointCall {
				p.Owner = trace.PointID(session)
			}
		}
		r := critpath.New(program(t, tr), critpath.Options{AsRun: true, Policy: sim.Sharing})
		for i := range r.Entries {
			e := &r.Entries[i]
			if in := ""; e.Name == "[system call]" {
				if len(e.In) > 0 {
					in = strings.TrimSpace(e.In[0].Name + " " + e.In[0].Calls)
				}
				if e.Self < 30*ms || in != name {
					t.Errorf("%v in a system call in %q, expected 40 ms in %q", e.Self, in, name)
				}
			}
		}
	}
}

// Nor does one that sleeps between two questions whether it is stopped: when its sleep ends follows
// from the length of the run, and not the other way round.
func TestToldInSleep(t *testing.T) {
	t.Parallel()
	b, main, g, index, parse := besides(true)
	for i := range int64(100) {
		b.At(i*ms+ms/10).Park(g, "sleep")
		if i == 99 {
			b.At(99*ms + ms/2)
			b.Exit(main, parse)
			b.Wait(main, "sync.WaitGroup.Wait", 0x2000, 0)
		}
		b.At((i+1)*ms).UnparkLate(g, 0)
		b.Start(g, 1)
	}
	b.At(100*ms + ms/10)
	b.Exit(g, index)
	b.Unpark(g, main)
	b.End(g)
	b.Start(main, 0)
	b.At(101 * ms)
	r := critpath.New(program(t, b.Trace()), critpath.Options{Policy: sim.Sharing, AsRun: true})
	if got := self(r, weighted)["main.parse"]; got < 98.5 || got > 100.5 {
		t.Errorf("main.parse is worth %v ms, expected 99.5: the run takes as long as it does", got)
	}
}
