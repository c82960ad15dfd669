package predict_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

const ms = 1_000_000

func work(name string, units float64) tracetest.Op {
	return tracetest.Do("main."+name, int64(units*ms))
}

// recordedFigure4 is W1, VPPB's Figure 4.
func recordedFigure4() []tracetest.Thread {
	a, b, c, d, e, f := work("a", 1), work("b", 4), work("c", 1), work("d", 2), work("e", 2), work("f", 3)
	return []tracetest.Thread{
		{Name: "main.t1", Ops: []tracetest.Op{a, tracetest.Signal("X"), b, tracetest.Signal("Z"), c,
			tracetest.Wait("X2"), e}},
		{Name: "main.t2", Ops: []tracetest.Op{tracetest.Wait("X"), c, tracetest.Signal("Y"), a, tracetest.Wait("Y2"),
			d}},
		{Name: "main.t3", Ops: []tracetest.Op{tracetest.Wait("Y"), d, tracetest.Wait("Z"), e, tracetest.Signal("X2"), a,
			tracetest.Signal("Y2"), f}},
	}
}

// sorter is W2, the VPPB sorter.
func sorter(n int, read, sort, merge float64) (threads []tracetest.Thread) {
	for i := range n {
		var ops []tracetest.Op
		if i > 0 {
			ops = append(ops, tracetest.Wait(fmt.Sprint("read", i)))
		}
		ops = append(ops, work("read", read), tracetest.Signal(fmt.Sprint("read", i+1)))
		for k := range n {
			if i == n-1 {
				ops = append(ops, tracetest.Signal(fmt.Sprint("all", k)))
			}
		}
		ops = append(ops, work("sort", sort), tracetest.Wait(fmt.Sprint("all", i)))
		if i > 0 {
			ops = append(ops, tracetest.Wait(fmt.Sprint("merge", i)))
		}
		ops = append(ops, work("merge", merge), tracetest.Signal(fmt.Sprint("merge", i+1)))
		threads = append(threads, tracetest.Thread{Name: "main.worker", Ops: ops})
	}
	return threads
}

// convoy is W5: goroutines that take a lock in turn.
func convoy(n, rounds int, outside, inside float64) (threads []tracetest.Thread) {
	for range n {
		var ops []tracetest.Op
		for range rounds {
			ops = append(ops, work("outside", outside), tracetest.Lock("main.mu"), work("inside", inside),
				tracetest.Unlock("main.mu"))
		}
		threads = append(threads, tracetest.Thread{Name: "main.worker", Ops: ops})
	}
	return threads
}

// pipeline is W4: items that go through stages.
func pipeline(items int, stages ...float64) (threads []tracetest.Thread) {
	for i, s := range stages {
		var ops []tracetest.Op
		for range items {
			if i > 0 {
				ops = append(ops, tracetest.Wait(fmt.Sprint("stage", i)))
			}
			ops = append(ops, work(fmt.Sprint("s", i+1), s))
			if i < len(stages)-1 {
				ops = append(ops, tracetest.Signal(fmt.Sprint("stage", i+1)))
			}
		}
		threads = append(threads, tracetest.Thread{Name: "main.stage", Ops: ops})
	}
	return threads
}

// TestTruths: a trace, on however many processors it was made, gives the run on any other.
func TestTruths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		threads func() []tracetest.Thread
		procs   int
		t       float64 // ms
	}{
		{"W1 on 3", recordedFigure4, 3, 11},
		{"W1 on 2", recordedFigure4, 2, 12},
		{"W1 on 1", recordedFigure4, 1, 20},
		{"W2 index order", func() []tracetest.Thread { return sorter(7, .1034, .5, .1465) }, 8, 7*.1034 + 7*.1465},
		{"W2 sorts matter", func() []tracetest.Thread { return sorter(7, .1034, .8, .1465) }, 8, .1034 + .8 + 7*.1465},
		{"W4", func() []tracetest.Thread { return pipeline(20, 2, 5, 3) }, 3, 105},
		{"W5 saturated", func() []tracetest.Thread { return convoy(8, 50, 4, 1) }, 8, 404},
		{"W5 not saturated", func() []tracetest.Thread { return convoy(4, 50, 10, 1) }, 4, 553},
		{"W5 on one", func() []tracetest.Thread { return convoy(4, 5, 2, 2) }, 1, 80},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, recorded := range []int{1, 2, 8} {
				b := tracetest.New(recorded)
				b.Operations = true
				p, losses, err := steps.Build(tracetest.SimulateOn(b, c.threads()).Trace(), steps.Options{})
				if err != nil || losses.Any() {
					t.Fatal(losses, err)
				}
				r := sim.Simulate(p, sim.Options{Procs: c.procs, Policy: sim.Sharing})
				if math.Abs(r.T-c.t*ms) > 1 || r.Forced > 0 {
					t.Errorf("recorded on %d processors: found T = %v ms, %d forced, expected %v", recorded, r.T/ms,
						r.Forced, c.t)
				}
			}
		})
	}
}

// TestSettle: of an object with missing operations that mattered the order of the run decides, and
// the page says so; of others their operations do.
func TestSettle(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	h := b.Go(g, "main.worker")
	send, receive := b.Object("main.ch", spec.OpSend), b.Object("main.ch", spec.OpReceive)
	lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
	b.Sync(g, lock, 0x2000, 0)
	b.Sync(g, unlock, 0x2000, 0)
	b.Channel(g, 0x1000, 2)
	b.Sync(g, send, 0x1000, 0) // of a value whose receive was not seen
	b.Wait(g, "chan receive", 0x1000, 0)
	b.Start(h, 1)
	b.At(10*ms).Unpark(h, g)
	b.Sync(h, send, 0x1000, 0)
	b.End(h)
	b.Start(g, 0)
	b.Sync(g, receive, 0x1000, 0)
	b.At(11 * ms)
	p, _, err := steps.Build(b.Trace(), steps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := predict.New(p, predict.Ask{Procs: []int{2}, Policy: sim.Sharing})
	if r.Recorded.Replay != 11*ms {
		t.Errorf("computed it takes %d ns, expected %d", r.Recorded.Replay, 11*ms)
	}
	if !slices.ContainsFunc(r.Remarks.All(), func(n string) bool { return strings.Contains(n, "on main.ch must be missing") }) {
		t.Errorf("notes are %q", r.Remarks.All())
	}
	for _, o := range p.Objects[1:] {
		if name := p.R.T.Points[o.Name].Name; o.Free != (name == "main.mu") {
			t.Errorf("operations on %s decide: %v", name, o.Free)
		}
	}
}
