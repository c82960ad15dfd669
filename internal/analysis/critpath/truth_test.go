package critpath_test

import (
	"fmt"
	"testing"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

type ops = []tracetest.Op

func do(name string, units float64) tracetest.Op { return tracetest.Do("main."+name, int64(units*ms)) }

// threads are threads that all begin at once.
func threads(all ...ops) (list []tracetest.Thread) {
	for i, o := range all {
		list = append(list, tracetest.Thread{Name: fmt.Sprint("main.t", i+1), Ops: o})
	}
	return list
}

// repeat is a step that is done some times.
func repeat(n int, o ...tracetest.Op) (all ops) {
	for range n {
		all = append(all, o...)
	}
	return all
}

// TestWorkloads: T, the path and the weights of workloads for which they are formulas, in ms,
// whatever they were recorded on.
func TestWorkloads(t *testing.T) {
	t.Parallel()
	wait, signal := tracetest.Wait, tracetest.Signal
	pipeline := func() []tracetest.Thread { // W4: stages of 2, 5 and 3 for 20 items
		return threads(
			repeat(20, do("s1", 2), signal("a")),
			repeat(20, wait("a"), do("s2", 5), signal("b")),
			repeat(20, wait("b"), do("s3", 3)))
	}
	convoy := func(n, rounds int, outside, inside float64) []tracetest.Thread { // W5
		var all []ops
		for range n {
			all = append(all, repeat(rounds, do("outside", outside), tracetest.Lock("main.mu"), do("inside", inside),
				tracetest.Unlock("main.mu")))
		}
		return threads(all...)
	}
	logging := func(p int) []tracetest.Thread { // W6: a serial part, work of 12 by p goroutines, a serial log
		first := ops{do("serial", 3)}
		all := []ops{nil}
		for i := range p {
			go1 := fmt.Sprint("go", i)
			first = append(first, signal(go1))
			all = append(all, ops{wait(go1), do("work", 12/float64(p)), signal("done")})
		}
		all[0] = append(append(first, repeat(p, wait("done"))...), do("log", 2))
		return threads(all...)
	}
	imbalance := func(p int, heavy float64) []tracetest.Thread { // W8
		all := []ops{{do("heavy", heavy)}}
		for range p - 1 {
			all = append(all, ops{do("light", 1)})
		}
		return threads(all...)
	}
	rounds := threads( // W11
		repeat(10, signal("go"), do("slow", 2), wait("done")),
		repeat(10, wait("go"), do("fast", 1), signal("done")))
	for _, c := range []struct {
		name    string
		threads []tracetest.Thread
		procs   int
		t       float64
		weights map[string]float64
	}{
		{"W4", pipeline(), 3, 105, map[string]float64{"main.s1": 2, "main.s2": 100, "main.s3": 3}},
		{"W5 saturated", convoy(8, 50, 4, 1), 8, 404, map[string]float64{"main.outside": 4, "main.inside": 400}},
		{"W5 not saturated", convoy(4, 50, 10, 1), 4, 553, map[string]float64{"main.outside": 500, "main.inside": 53}},
		{"W6 on 4", logging(4), 4, 8, map[string]float64{"main.serial": 3, "main.work": 3, "main.log": 2}},
		{"W6 on 2", logging(4), 2, 11, map[string]float64{"main.serial": 3, "main.work": 6, "main.log": 2}},
		{"W8 on 4", imbalance(4, 3), 4, 3, map[string]float64{"main.heavy": 3}},
		{"W8 on 1", imbalance(4, 3), 1, 6, map[string]float64{"main.heavy": 3, "main.light": 3}},
		{"W9", threads(ops{do("foo", 7)}, ops{do("bar", 10)}), 2, 10, map[string]float64{"main.bar": 10}},
		{"W11", rounds, 2, 20, map[string]float64{"main.slow": 20}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, on := range []int{1, 2, 8} {
				r := critpath.New(recorded(t, on, c.threads), critpath.Options{Procs: c.procs, Policy: sim.Sharing})
				if r.T != int64(c.t*ms) {
					t.Errorf("recorded on %d: it takes %v ms, expected %v", on, float64(r.T)/ms, c.t)
				}
				expect(t, fmt.Sprint("recorded on ", on), self(r, weighted), c.weights)
			}
		})
	}
}

// V5: VPPB's Table 1. The path is all of it: a and b of one thread, c of another one between, and a
// time that is not in the table.
func TestV5(t *testing.T) {
	t.Parallel()
	at := func(s float64) int64 { return int64(s*1e9 + 0.5) }
	b := tracetest.New(2).Switches()
	t1 := b.Go(0, "runtime.main")
	b.Start(t1, 0)
	t2 := b.Go(t1, "main.t2")
	b.Start(t2, 1)
	procA, procB, procC := b.Proc("main.a"), b.Proc("main.b"), b.Proc("main.c")
	b.Enter(t1, procA)
	b.Enter(t2, procC)
	b.At(at(0.000001)).Park(t2, "chan receive")
	b.At(at(3.894285)).Enter(t1, procB)
	b.At(at(7.788569)).Off(t1, false)
	b.At(at(7.789474)).On(t1)
	b.At(at(7.789651)).Unpark(t1, t2)
	b.Start(t2, 1)
	b.At(at(7.789658)).Park(t1, "chan receive")
	b.At(at(11.718678)).Unpark(t2, t1)
	b.Start(t1, 0)
	b.At(at(15.551031)).Exit(t2, procC)
	b.At(at(15.551089)).End(t2)
	b.At(at(15.603257)).Exit(t1, procB)
	b.At(at(19.487836)).Exit(t1, procA)
	b.At(at(19.487890))
	r := critpath.New(program(t, b.Trace()), critpath.Options{AsRun: true, Policy: sim.Sharing})
	want := map[string][2]int64{ // self, inclusive
		"main.a": {at(7.778864), at(15.557904)}, "main.b": {at(7.779040), at(7.779040)},
		"main.c":    {at(3.929027), at(3.929027)},
		"[off-cpu]": {at(0.000905), at(0.000905)}, "[no procedure]": {at(0.000054), at(0.000054)},
	}
	for i := range r.Entries {
		e := &r.Entries[i]
		if w, ok := want[e.Name]; ok && partitions(e) {
			delete(want, e.Name)
			if near := func(a, b int64) bool { return max(a-b, b-a) <= 2 }; !near(e.Self, w[0]) ||
				!near(e.Inclusive, w[1]) {
				t.Errorf("%s: found %d and %d with what it calls, expected %d and %d", e.Name, e.Self, e.Inclusive,
					w[0], w[1])
			}
		}
	}
	if len(want) > 0 || r.T != at(19.487890) {
		t.Errorf("T = %d, and %v are not on the path", r.T, want)
	}
}

// V7: bubble sort is not on the sorter's path, though it has most of the processor time.
func TestV7(t *testing.T) {
	t.Parallel()
	var all []ops
	const n = 7
	for i := range n {
		var o ops
		if i > 0 {
			o = append(o, tracetest.Wait(fmt.Sprint("read", i)))
		}
		o = append(o, do("read", .1034), tracetest.Signal(fmt.Sprint("read", i+1)))
		if i == n-1 {
			for k := range n {
				o = append(o, tracetest.Signal(fmt.Sprint("all", k)))
			}
		}
		o = append(o, do("sort", .5), tracetest.Wait(fmt.Sprint("all", i)))
		if i > 0 {
			o = append(o, tracetest.Wait(fmt.Sprint("merge", i)))
		}
		all = append(all, append(o, do("merge", .1465), tracetest.Signal(fmt.Sprint("merge", i+1))))
	}
	p := recorded(t, 8, threads(all...))
	for _, o := range []critpath.Options{{AsRun: true, Policy: sim.Sharing}, {Max: true, Policy: sim.Sharing}} {
		r := critpath.New(p, o)
		for i := range r.Entries {
			if e := &r.Entries[i]; e.Name == "main.sort" && (e.Self != 0 || e.Weighted != 0 || e.Work != 3_500_000) {
				t.Errorf("sorting is on the path for %d, worth %d, and worked for %d; expected 0, 0 and 3.5 ms", e.Self,
					e.Weighted, e.Work)
			}
		}
	}
}

// A run without waits has one path, with all work on it.
func TestOneGoroutine(t *testing.T) {
	t.Parallel()
	b := tracetest.New(4)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	p := b.Proc("main.main")
	b.Enter(g, p)
	b.At(5*ms).Sync(g, b.Object("main.mu", spec.OpLock), 0x100, 0)
	b.At(10 * ms)
	r := critpath.New(program(t, trace.Source(b.Trace())), critpath.Options{AsRun: true, Policy: sim.Sharing})
	expect(t, "path", self(r, onPath), map[string]float64{"main.main": 10})
	expect(t, "worth", self(r, weighted), map[string]float64{"main.main": 10})
}
