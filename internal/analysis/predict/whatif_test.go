package predict_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace/tracetest"
)

// Changes of W4, W5 and W9, whose gains are formulas.
func TestWhatIf(t *testing.T) {
	t.Parallel()
	plateau := func() []tracetest.Thread {
		return []tracetest.Thread{
			{Name: "main.t1", Ops: []tracetest.Op{work("foo", 7)}},
			{Name: "main.t2", Ops: []tracetest.Op{work("bar", 10)}},
		}
	}
	saturated := func() []tracetest.Thread { return convoy(8, 50, 4, 1) }
	for _, c := range []struct {
		name    string
		threads []tracetest.Thread
		procs   int
		change  string
		t       float64 // ms
	}{
		{"W9: bar gains", plateau(), 2, "main.bar=-20%", 8},
		{"W9: up to 30 %", plateau(), 2, "main.bar=-60%", 7},
		{"W9: foo does not", plateau(), 2, "self:main.foo=-50%", 10},
		{"W9: longer", plateau(), 2, "main.foo=+100%", 14},
		{"W5: outside", saturated(), 8, "main.outside=-10%", 403.6},
		{"W5: inside", saturated(), 8, "main.inside=-10%", 364},
		{"W5: the hold", saturated(), 8, "hold:main.mu=-10%", 364},
		{"W5: as many locks as goroutines", saturated(), 8, "split:main.mu=8", 250},
		{"W4: the slowest stage", pipeline(20, 2, 5, 3), 3, "main.s2=-20%", 20*4 + 5},
		{"W4: another stage", pipeline(20, 2, 5, 3), 3, "main.s3=-50%", 20*5 + 2 + 1.5},
		{"more workers", workers(2, 40), 4, "workers:main.worker=4", 10},
		{"more workers than processors", workers(2, 40), 4, "workers:main.worker=8", 10},
		{"fewer workers", workers(3, 42), 4, "workers:main.worker=1", 42},
		{"as many workers", workers(2, 40), 4, "workers:main.worker=2", 20},
		{"no collector", plateau(), 2, "gc=off", 10},
		{"W9: both", plateau(), 2, "main.bar=-60% + main.foo=-50%", 4},
		{"W9: the same twice", plateau(), 2, "main.bar=-20% + main.bar=-20%", 7},
		{"W4: two stages", pipeline(10, 2, 5, 3), 3, "main.s2=-20% + main.s3=-50%", 10*4 + 2 + 1.5},
		{"W5: the hold, and less of its work", saturated(), 8, "hold:main.mu=-10% + main.inside=-10%", 328},
		{"W5: less work, and more locks", saturated(), 8, "main.inside=-10% + split:main.mu=8", 245},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := predict.ParseWhatIf(c.change)
			if err != nil {
				t.Fatal(err)
			}
			p := built(t, c.threads)
			if err := w.Check(p); err != nil {
				t.Fatal(err)
			}
			r := predict.New(p, predict.Ask{Procs: []int{c.procs}, Policy: sim.Sharing, WhatIf: []predict.WhatIf{w}})
			if got := float64(r.WhatIf[0].T) / ms; math.Abs(got-c.t) > 1e-5*c.t {
				t.Errorf("it takes %v ms, expected %v", got, c.t)
			}
		})
	}
}

// workers take jobs of 1 ms from a channel, and end with one that is none.
func workers(n, jobs int) (all []tracetest.Thread) {
	var deal []tracetest.Op
	for range jobs + n {
		deal = append(deal, tracetest.Signal("jobs"))
	}
	all = []tracetest.Thread{{Name: "main.deal", Ops: deal}}
	for range n {
		var ops []tracetest.Op
		for range jobs / n {
			ops = append(ops, tracetest.Wait("jobs"), work("job", 1))
		}
		all = append(all, tracetest.Thread{Name: "main.worker", Ops: append(ops, tracetest.Wait("jobs"))})
	}
	return all
}

// changed runs a program with a change on four processors, and returns how long it takes, in ms.
func changed(t *testing.T, p *steps.Program, change string) float64 {
	t.Helper()
	w, err := predict.ParseWhatIf(change)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Check(p); err != nil {
		t.Fatal(err)
	}
	r := predict.New(p, predict.Ask{Procs: []int{4}, Policy: sim.Sharing, WhatIf: []predict.WhatIf{w}})
	return float64(r.WhatIf[0].T) / ms
}

func built(t *testing.T, threads []tracetest.Thread) *steps.Program {
	t.Helper()
	return builtOn(t, 1, threads)
}

// builtOn is built of a run on a number of processors.
func builtOn(t *testing.T, procs int, threads []tracetest.Thread) *steps.Program {
	t.Helper()
	b := tracetest.New(procs)
	b.Operations = true
	p, _, err := steps.Build(tracetest.SimulateOn(b, threads).Trace(), steps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Goroutines that a worker starts before its first job are not started again by additional workers:
// one that waited would wait twice, and be woken for ever.
func TestHiredStartNothingTwice(t *testing.T) {
	t.Parallel()
	p := built(t, workers(2, 40))
	add := func(s steps.Step, next steps.StepID) steps.StepID {
		s.Next = next
		p.Steps.Add(s)
		return steps.StepID(p.Steps.Len() - 1)
	}
	of := func(name string) steps.G {
		return steps.G(slices.IndexFunc(p.Gs, func(g steps.Goroutine) bool {
			id := p.R.Contexts.Node(g.Context).Group
			return id != replay.NoGroup && p.R.Groups.Group(id).Func == name
		}))
	}
	first := of("main.worker")
	token := p.Tokens
	p.Tokens++
	helper := p.Gs[of("main.deal")]
	helper.By, helper.Done, helper.First = first, 0, add(steps.Takes(token), add(steps.Step{Kind: steps.End}, 0))
	p.Gs[first].First = add(steps.Starts(steps.G(len(p.Gs))), p.Gs[first].First)
	last := p.Gs[first].First // the worker's last receive, which has no job after it
	for id := last; p.Step(id).Kind != steps.End; id = p.Step(id).Next {
		last = id
	}
	p.Step(last).Next = add(steps.Gives(token), p.Step(last).Next)
	p.Gs = append(p.Gs, helper)
	if got := changed(t, p, "workers:main.worker=4"); math.Abs(got-10) > 1e-3 {
		t.Errorf("it takes %v ms, expected 10", got)
	}
}

// Goroutines with a channel each are no pool of workers.
func TestReadersAreNoWorkers(t *testing.T) {
	t.Parallel()
	var all []tracetest.Thread
	for _, ch := range []string{"a", "b", "c"} {
		send, receive := []tracetest.Op{}, []tracetest.Op{}
		for range 20 {
			send = append(send, tracetest.Signal(ch))
			receive = append(receive, tracetest.Wait(ch), work("read", 1))
		}
		all = append(all, tracetest.Thread{Name: "main.write", Ops: send},
			tracetest.Thread{Name: "main.reader", Ops: receive})
	}
	p := built(t, all)
	w, err := predict.ParseWhatIf("workers:main.reader=6")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Check(p); err == nil {
		t.Error("readers of three channels are taken for three workers of one")
	}
}

func TestWhatIfErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "main.f", "=", "main.f=", "main.f=30", "main.f=-101%", "main.f=x%", "gc=on",
		"split:main.mu=0", "split:main.mu=1000000000", "workers:main.f=0", "cap:main.ch=-1", "hold:=-5%", "main.f=NaN%",
		"main.f=Inf%"} {
		if _, err := predict.ParseWhatIf(text); err == nil {
			t.Errorf("%q is taken for a change", text)
		}
	}
}

// The gain of a change is not known where the recorded order decides the waits for the changed
// object, and the work under a channel is not known.
func TestUnknown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change string
		unseen bool
		known  bool
	}{
		{"workers:main.worker=4", false, true},
		{"cap:jobs=4", false, true},
		{"cap:jobs=4", true, false},
		{"split:jobs=2", true, false},
		{"hold:jobs=-50%", false, false},
		{"main.worker=-50%", true, true},
	} {
		w, err := predict.ParseWhatIf(c.change)
		if err != nil {
			t.Fatal(err)
		}
		p := built(t, workers(2, 40))
		if c.unseen {
			p.Fix()
		}
		if err := w.Check(p); err != nil {
			t.Fatal(err)
		}
		if x := predict.New(p, predict.Ask{Procs: []int{2}, Policy: sim.Sharing,
			WhatIf: []predict.WhatIf{w}}).WhatIf[0]; (x.Unknown == "") != c.known || !c.known && x.Gain != 0 {
			t.Errorf("%s, with operations that were not seen %v: found %+v, expected that the gain is known %v",
				c.change, c.unseen, x, c.known)
		}
	}
}

// Goroutines that also take from a channel with unseen operations are no pool of workers: each does
// the job that it did in the run.
func TestWorkersWithTokens(t *testing.T) {
	t.Parallel()
	threads := workers(2, 40)
	for i := range threads {
		var ops []tracetest.Op
		for _, op := range threads[i].Ops {
			if ops = append(ops, op); op == tracetest.Signal("jobs") {
				ops = append(ops, tracetest.Signal("tokens"))
			} else if op == tracetest.Wait("jobs") {
				ops = append(ops, tracetest.Wait("tokens"))
			}
		}
		threads[i].Ops = ops
	}
	w, err := predict.ParseWhatIf("workers:main.worker=4")
	if err != nil {
		t.Fatal(err)
	}
	p := built(t, threads)
	if err := w.Check(p); err != nil {
		t.Fatal(err)
	}
	for i := range p.Objects {
		if name := p.Objects[i].Name; name >= 0 && strings.HasSuffix(p.R.T.Points[name].Name, "jobs") {
			p.Objects[i].Free = false
		}
	}
	if err := w.Check(p); err == nil {
		t.Errorf("found workers although who takes which job is not known")
	}
}

// What a procedure calls is part of it, and what it starts is part of it only in changes without a
// prefix.
func TestCalls(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1)
	f, k, job := b.Proc("main.f"), b.Proc("main.k"), b.Proc("main.h")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, f)
	h := b.Go(g, "main.h")
	b.At(2*ms).Enter(g, k)
	b.At(6*ms).Exit(g, k)
	b.Exit(g, f)
	b.Park(g, "chan receive")
	b.Start(h, 0)
	b.Enter(h, job)
	b.At(16*ms).Unpark(h, g)
	b.End(h)
	b.Start(g, 0)
	b.At(17 * ms).End(g)
	p, _, err := steps.Build(b.Trace(), steps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for change, want := range map[string]float64{"self:main.f=-50%": 16, "calls:main.f=-50%": 14, "main.f=-50%": 9} {
		w, err := predict.ParseWhatIf(change)
		if err == nil {
			err = w.Check(p)
		}
		if err != nil {
			t.Fatal(err)
		}
		r := predict.New(p, predict.Ask{Procs: []int{1}, Policy: sim.Sharing, WhatIf: []predict.WhatIf{w}})
		if got := float64(r.WhatIf[0].T) / ms; math.Abs(got-want) > 1e-3 {
			t.Errorf("with %s it takes %v ms, expected %v", change, got, want)
		}
	}
}

// Changes at the same time are those that one run can have.
func TestAtTheSameTime(t *testing.T) {
	t.Parallel()
	p := built(t, convoy(8, 50, 4, 1))
	for change, want := range map[string]string{
		"hold:main.mu=-10% + main.outside=-10%": "",
		"split:main.mu=2 + split:main.mu=4":     "two changes of one kind",
		"main.outside=-10% + main.nothing=-10%": "main.nothing",
		"main.outside=-10% + ":                  "expected a change",
	} {
		w, err := predict.ParseWhatIf(change)
		if err == nil {
			err = w.Check(p)
		}
		if found := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(found, want) {
			t.Errorf("%s: found %s, expected %q", change, found, want)
		}
	}
}
