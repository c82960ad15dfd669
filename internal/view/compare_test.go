package view_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/internal/view"
)

// worked are two goroutines that do a piece of work under a lock, and one without it.
func worked(locked, free int64) *trace.Trace {
	var threads []tracetest.Thread
	for _, name := range []string{"main.a", "main.b"} {
		var ops []tracetest.Op
		for range 100 {
			ops = append(ops, tracetest.Lock("main.mu"), tracetest.Do("main.f", locked), tracetest.Unlock("main.mu"),
				tracetest.Do("main.g", free))
		}
		threads = append(threads, tracetest.Thread{Name: name, Ops: ops})
	}
	return tracetest.Simulate(2, threads).Trace()
}

func compared(t *testing.T, was, now *trace.Trace) *view.View {
	t.Helper()
	v := view.New(now)
	v.File = "new.sddf"
	v.Before = view.New(was)
	v.Before.File = "old.sddf"
	if err := v.Wait(); err != nil {
		t.Fatal(err)
	}
	return v
}

// A lock that was held long and is not any more: its procedure takes less time, and the other one
// takes what it took.
func TestCompared(t *testing.T) {
	v := compared(t, worked(10000, 5000), worked(100, 5000))
	s := view.NewServer(v)
	var c view.Comparison
	answer(t, s, "compared", &c)
	if c.Was.File != "old.sddf" || c.Was.Wall < 2*c.Now.Wall {
		t.Errorf("found %+v before %+v", c.Was, c.Now)
	}
	times := map[string][2]int64{}
	for _, e := range c.Entries {
		if e.Kind == "proc" && e.Was != nil && e.Now != nil {
			times[e.Name] = [2]int64{e.Was.Busy, e.Now.Busy}
		}
	}
	if f := times["main.f"]; f[0] != 200*10000 || f[1] != 200*100 || c.Entries[0].Name != "main.f" {
		t.Errorf("main.f took %d and %d", f[0], f[1])
	}
	if g := times["main.g"]; g[0] != g[1] || g[0] != 200*5000 {
		t.Errorf("main.g took %d and %d", g[0], g[1])
	}

	var run, before view.Run
	answer(t, s, "trace", &run)
	answer(t, s, "before/trace", &before)
	if run.Before != "old.sddf" || before.File != "old.sddf" || before.Wall != c.Was.Wall || before.Before != "" {
		t.Errorf("found %+v before %+v", before, run)
	}
	var flame view.Flame
	answer(t, s, "flame", &flame)
	if flame.Was == nil || flame.Was.Busy <= flame.Busy {
		t.Errorf("found %+v, %+v before", flame.Times, flame.Was)
	}
}

// What only one trace has is in the comparison, and on the paths: conclusions, too.
func TestComparedOther(t *testing.T) {
	s := view.NewServer(compared(t, kept(t, "quicksort"), locks()))
	var c view.Comparison
	answer(t, s, "compared", &c)
	found := map[string]bool{}
	for _, e := range c.Entries {
		if e.Kind == "proc" {
			found[e.Name] = e.Was == nil || e.Now == nil
		}
	}
	if !found["main.f"] || !found["main.partition"] {
		t.Errorf("found %v", found)
	}
	if len(c.Conclusions) == 0 || c.Conclusions[0].State != "gone" || c.Conclusions[0].Was == nil {
		t.Errorf("found %+v", c.Conclusions)
	}
	var flame view.Flame
	answer(t, s, "flame", &flame)
	if n := gone(&flame); n == 0 {
		t.Error("no path of the trace before is in the flame graph")
	}
}

func gone(f *view.Flame) (n int) {
	if f.NPT == 0 && f.Was != nil && f.Was.NPT > 0 {
		n++
	}
	for _, c := range f.Children {
		n += gone(c)
	}
	return n
}

// Without a trace before there is nothing to compare, and in a file there is what the server says.
func TestComparedFile(t *testing.T) {
	if status, _ := refusedBy(serve(t, locks()), "compared"); status != http.StatusNotFound {
		t.Errorf("found %d, expected 404", status)
	}
	var out bytes.Buffer
	if err := view.WriteHTML(&out, compared(t, locks(), locks())); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`"compared":`, `"before/bands":`} {
		if !strings.Contains(out.String(), key) {
			t.Errorf("found no %s in the file", key)
		}
	}
}

// A part of the program has its picture in both traces, also where no conclusion is about it.
func TestNamed(t *testing.T) {
	v := compared(t, worked(10000, 5000), worked(100, 5000))
	s := view.NewServer(v)
	for below, most := range map[string]float64{"": 2 * 100 * 100 * 1.5, "before/": 200 * 10000 * 1.1} {
		var run view.Run
		answer(t, s, below+"trace", &run)
		var list []*view.Band
		answer(t, s, fmt.Sprintf("%sbands?from=0&to=%d&px=50&kind=sync&name=main.mu", below, run.Wall), &list)
		queue := bandOf(list, "subject")
		if got := ns(queue, run.Wall); got <= 0 || got > most || queue.Series[0].Name != "main.f" {
			t.Errorf("%s: found %v ns of waits, expected %v at most: %+v", below, got, most, queue)
		}
		answer(t, s, fmt.Sprintf("%sbands?from=0&to=%d&px=50&kind=proc&name=main.none", below, run.Wall), &list)
		if b := bandOf(list, "subject"); b.Title != "" {
			t.Errorf("found %+v of a name that is not there", b)
		}
	}
	status, said := refusedBy(s, "bands?from=0&to=1&px=1&kind=none&name=main.mu")
	if status != http.StatusBadRequest || !strings.Contains(said, "found kind=none, expected one of proc") {
		t.Errorf("found %d %s", status, said)
	}
}

// Procedures have the order of their own time, alternately with those of the trace before. A page
// in a file has the same list.
func TestNames(t *testing.T) {
	v := compared(t, kept(t, "quicksort"), worked(10000, 4000))
	var list []string
	answer(t, view.NewServer(v), "names", &list)
	want := []string{"main.f", "workloads/cpu.burn", "main.g"}
	if !slices.Equal(list[:len(want)], want) || !slices.Contains(list, "main.partition") {
		t.Errorf("found %v", list)
	}
	var before []string
	if answer(t, view.NewServer(v.Before), "names", &before); before[0] != "workloads/cpu.burn" {
		t.Errorf("found %v before", before)
	}
	var out bytes.Buffer
	if err := view.WriteHTML(&out, v); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"names":["main.f","workloads/cpu.burn","main.g",`) {
		t.Error("found no names in the file")
	}
}
