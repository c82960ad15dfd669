package replay_test

import (
	"fmt"
	"maps"
	"testing"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

// path is the skeleton of a critical path: the proof that a visitor is told enough for one. It
// keeps each goroutine's steps, and walks back from the end: through what a goroutine did to
// where its last wait ended, and after that through what the goroutine did that ended it.
type path struct {
	replay.Nop
	r     *replay.Replay
	steps map[trace.GoID][]step
	by    map[trace.GoID]trace.GoID // creators
	last  trace.GoID                // that ended last
	end   trace.Time
}

// step is a time in which a goroutine did one thing.
type step struct {
	from, to trace.Time
	what     string
	waits    bool
	by       trace.GoID // that ended the wait, 0: none did
}

func (p *path) Create(g, by *replay.G, now trace.Time) {
	p.by[g.ID] = 0
	if by != nil {
		p.by[g.ID] = by.ID
	}
}

func (p *path) Segment(g *replay.G, from, to trace.Time) {
	s := step{from: from, to: to, what: "ready", waits: g.State == trace.Waiting}
	if proc := p.r.Contexts.Node(g.Where()).Proc; g.Busy() && proc != trace.NoPoint {
		s.what = p.r.T.Points[proc].Name
	}
	p.steps[g.ID] = append(p.steps[g.ID], s)
}

func (p *path) Wake(g *replay.G, _ *replay.Wait, by replay.Waker, _ trace.Time) {
	if list := p.steps[g.ID]; by.G != nil && len(list) > 0 {
		list[len(list)-1].by = by.G.ID
	}
}

func (p *path) End(g *replay.G, now trace.Time) { p.last, p.end = g.ID, now }

// walk returns the time on the path by what was done, and all of it.
func (p *path) walk() (times map[string]int64, all int64) {
	times = map[string]int64{}
	g, at := p.last, p.end
	for g != 0 {
		list := p.steps[g]
		for len(list) > 0 && list[len(list)-1].from >= at {
			list = list[:len(list)-1]
		}
		p.steps[g] = list // nobody comes back to a later time
		if len(list) == 0 {
			g = p.by[g]
			continue
		}
		if s := list[len(list)-1]; s.waits && s.by != 0 {
			g = s.by
		} else {
			times[s.what] += int64(at - s.from)
			all += int64(at - s.from)
			at = s.from
		}
	}
	return times, all
}

func criticalPath(t *testing.T, source trace.Source) (map[string]int64, int64) {
	t.Helper()
	r := replay.New(source, replay.Options{})
	p := &path{r: r, steps: map[trace.GoID][]step{}, by: map[trace.GoID]trace.GoID{}}
	losses, err := r.Run(p)
	if err != nil || losses.Any() {
		t.Fatal(losses, err)
	}
	return p.walk()
}

// W1: VPPB Figure 4, whose path on three processors is T1 a, b, then T3 e, a, f.
func TestCriticalPathW1(t *testing.T) {
	const unit = 1e6
	wait, signal := tracetest.Wait, tracetest.Signal
	do := func(name string, units int64) tracetest.Op { return tracetest.Do("main."+name, units*unit) }
	a, b, c, d, e, f := do("a", 1), do("b", 4), do("c", 1), do("d", 2), do("e", 2), do("f", 3)
	got, all := criticalPath(t, tracetest.Simulate(3, []tracetest.Thread{
		{Name: "main.t1", Ops: []tracetest.Op{a, signal("X"), b, signal("Z"), c, wait("X2"), e}},
		{Name: "main.t2", Ops: []tracetest.Op{wait("X"), c, signal("Y"), a, wait("Y2"), d}},
		{Name: "main.t3", Ops: []tracetest.Op{wait("Y"), d, wait("Z"), e, signal("X2"), a, signal("Y2"), f}},
	}).Trace())
	want := map[string]int64{"main.a": 2 * unit, "main.b": 4 * unit, "main.e": 2 * unit, "main.f": 3 * unit}
	if all != 11*unit || !maps.Equal(got, want) {
		t.Errorf("found a path of %d with %v, expected 11 units with %v", all, got, want)
	}
}

// W2: the VPPB sorter. Reads and merges are serial and all that matters; sorts have slack,
// though they take most processor time.
func TestCriticalPathW2(t *testing.T) {
	const n, read, sort, merge = 7, 103_400, 500_000, 146_500
	wait, signal := tracetest.Wait, tracetest.Signal
	var threads []tracetest.Thread
	for i := range n {
		var ops []tracetest.Op
		if i > 0 {
			ops = append(ops, wait(fmt.Sprint("read", i)))
		}
		ops = append(ops, tracetest.Do("main.read", read), signal(fmt.Sprint("read", i+1)))
		for range n {
			if i == n-1 {
				ops = append(ops, signal("all"))
			}
		}
		ops = append(ops, tracetest.Do("main.sort", sort), wait("all"))
		if i > 0 {
			ops = append(ops, wait(fmt.Sprint("merge", i)))
		}
		ops = append(ops, tracetest.Do("main.merge", merge), signal(fmt.Sprint("merge", i+1)))
		threads = append(threads, tracetest.Thread{Name: "main.worker", Ops: ops})
	}
	got, all := criticalPath(t, tracetest.Simulate(8, threads).Trace())
	if want := n*read + n*merge; all != int64(want) || got["main.read"] != n*read || got["main.merge"] != n*merge ||
		got["main.sort"] != 0 {
		t.Errorf("found a path of %d with %v, expected %d with reads of %d and merges of %d alone", all, got, want,
			n*read, n*merge)
	}
}
