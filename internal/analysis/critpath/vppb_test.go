package critpath_test

import (
	"fmt"
	"testing"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/trace/tracetest"
)

// V4's other half: what VPPB's section 3.3 marks in Figure 4 on two processors takes 14 units of a
// run of 12.
func TestMarked(t *testing.T) {
	t.Parallel()
	marked := func(e *critpath.Entry) int64 { return e.Marked }
	for procs, want := range map[int]map[string]float64{
		3: {"main.a": 2, "main.b": 4, "main.e": 2, "main.f": 3},
		2: {"main.a": 3, "main.b": 4, "main.e": 4, "main.f": 3},
		1: {"main.a": 3, "main.b": 4, "main.c": 2, "main.d": 4, "main.e": 4, "main.f": 3},
	} {
		r := critpath.New(recorded(t, 2, figure4()), critpath.Options{Procs: procs, Policy: sim.Sharing})
		expect(t, fmt.Sprint("marked for ", procs), self(r, marked), want)
	}
}

// Slack of W4, of W9, and of a semaphore that was given before it was taken.
func TestSlack(t *testing.T) {
	t.Parallel()
	wait, signal := tracetest.Wait, tracetest.Signal
	for _, c := range []struct {
		name    string
		threads []tracetest.Thread
		want    map[string][2]int64
	}{
		{"W4", threads(
			repeat(20, do("s1", 2), signal("a")),
			repeat(20, wait("a"), do("s2", 5), signal("b")),
			repeat(20, wait("b"), do("s3", 3))),
			map[string][2]int64{"main.s1": {0, 57}, "main.s2": {0, 0}, "main.s3": {0, 38}}},
		{"W9", threads(ops{do("foo", 7)}, ops{do("bar", 10)}),
			map[string][2]int64{"main.foo": {3, 3}, "main.bar": {0, 0}}},
		{"given before", threads(ops{do("early", 2), signal("s"), do("on", 4)},
			ops{do("late", 5), wait("s"), do("last", 4)}),
			map[string][2]int64{"main.early": {3, 3}, "main.on": {3, 3}, "main.late": {0, 0}, "main.last": {0, 0}}},
		{"lock", threads(ops{do("x", 1), tracetest.Lock("main.mu"), do("held", 3), tracetest.Unlock("main.mu")},
			ops{do("y", 2), tracetest.Lock("main.mu"), do("held2", 3), tracetest.Unlock("main.mu")}),
			map[string][2]int64{"main.x": {0, 0}, "main.held": {0, 0}, "main.y": {2, 2}, "main.held2": {0, 0}}},
	} {
		for _, on := range []int{1, 2, 8} {
			r := critpath.New(recorded(t, on, c.threads), critpath.Options{Procs: 8, Policy: sim.Sharing})
			for i := range r.Entries {
				e := &r.Entries[i]
				want, ok := c.want[e.Name]
				if !ok || e.Kind != critpath.KindProc {
					continue
				}
				if e.Slack == nil || *e.Slack != [2]int64{want[0] * ms, want[1] * ms} {
					t.Errorf("%s, recorded on %d: slack of %s is %v, expected %v ms", c.name, on, e.Name, e.Slack, want)
				}
			}
		}
	}
}

// V6: VPPB's Figure 10. Seven threads read numbers from a file in turn, and translate them while
// the next one reads; seven others merge them in turn.
func TestV6(t *testing.T) {
	t.Parallel()
	const threads, numbers, ns = 7, 2048, 1000
	const initData, readWrapper, atoi, merge, main = 281087 * ns, 434731 * ns, 7679 * ns, 1025768 * ns, 1691 * ns
	const reads = threads * (4*numbers - 1)
	b := tracetest.New(16)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	start, init, read, translate, merges := b.Proc("main.main"), b.Proc("main.init_data"), b.Proc("main.read_wrapper"),
		b.Proc("main.atoi_wrapper"), b.Proc("main.merge")
	b.Enter(g, start)
	b.At(main)
	now, done := int64(main), 0 // and reads
	spend := func(k, of int, all int64) { now += all*int64(k+1)/int64(of) - all*int64(k)/int64(of) }
	var gs []tracetest.G
	for i := range threads {
		gs = append(gs, b.Go(g, "main.init"))
		b.Start(gs[i], i+1)
		b.Enter(gs[i], init)
		if i > 0 {
			b.Park(gs[i], "sync.Mutex.Lock")
		}
	}
	b.Park(g, "chan receive")
	for i, r := range gs {
		spend(i, threads, initData)
		for range 4*numbers - 1 {
			b.At(now).Enter(r, read)
			spend(done, reads, readWrapper)
			b.At(now).Exit(r, read)
			done++
		}
		if i+1 < threads {
			b.Unpark(r, gs[i+1])
			b.Start(gs[i+1], i+2)
			continue
		}
		for k := range numbers {
			b.Enter(r, translate)
			spend(k, numbers, atoi)
			b.At(now).Exit(r, translate)
		}
		b.Unpark(r, g)
		b.Start(g, 0)
	}
	var mergers []tracetest.G
	for i := range threads {
		mergers = append(mergers, b.Go(g, "main.merger"))
		b.Start(mergers[i], threads+1+i)
		b.Enter(mergers[i], merges)
		if i > 0 {
			b.Park(mergers[i], "sync.Mutex.Lock")
		}
	}
	b.Park(g, "chan receive")
	for i, m := range mergers {
		spend(i, threads, merge)
		b.At(now)
		if i+1 < threads {
			b.Unpark(m, mergers[i+1])
			b.Start(mergers[i+1], threads+2+i)
		} else {
			b.Unpark(m, g)
			b.Start(g, 0)
		}
	}
	r := critpath.New(program(t, b.Trace()), critpath.Options{AsRun: true, Policy: sim.Sharing})
	type want struct {
		self, inclusive      int64
		entries, activations int
	}
	all := map[string]want{
		"main.merge": {merge, merge, 1, 7}, "main.read_wrapper": {readWrapper, readWrapper, 57337, 57337},
		"main.init_data":    {initData, initData + readWrapper + atoi, 1, 7},
		"main.atoi_wrapper": {atoi, atoi, 2048, 2048},
	}
	for i := range r.Entries {
		e := &r.Entries[i]
		if w, ok := all[e.Name]; ok && e.Kind == critpath.KindProc {
			delete(all, e.Name)
			if got := (want{e.Self, e.Inclusive, e.Entries, e.Activations}); got != w {
				t.Errorf("%s: found %+v, expected %+v", e.Name, got, w)
			}
		}
	}
	if len(all) > 0 || r.T != 1750956*ns {
		t.Errorf("T = %d, and %v are not on the path", r.T, all)
	}
}
