package predict_test

import (
	"math"
	"testing"

	"qinst.dev/cmd/internal/analysis/graph"
	"qinst.dev/cmd/internal/analysis/predict"
	"qinst.dev/cmd/internal/trace/tracetest"
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
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := predict.ParseWhatIf(c.change)
			if err != nil {
				t.Fatal(err)
			}
			b := tracetest.New(1)
			b.Operations = true
			p, _, err := graph.Build(tracetest.SimulateOn(b, c.threads).Trace(), graph.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Check(p); err != nil {
				t.Fatal(err)
			}
			r := predict.New(p, predict.Ask{Procs: []int{c.procs}, Policy: predict.Sharing, WhatIf: []predict.WhatIf{w}})
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

// A channel's capacity: with a buffer of one a stage waits for the next one at once.
func TestCapacity(t *testing.T) {
	t.Parallel()
	send := []op{}
	get := []op{}
	for range 10 {
		send = append(send, do("send", 1), signal("ch"))
		get = append(get, wait("ch"), do("get", 3))
	}
	for capacity, ends := range map[int]float64{-1: 10, 0: 1 + 3*9, 2: 1 + 3*7, 20: 10} {
		caps := map[string]int{"ch": capacity}
		if capacity < 0 {
			delete(caps, "ch")
		}
		p := writeWith(caps, send, get)
		p.Last = 0 // the sender
		if r := predict.Simulate(p.Program, predict.Options{Policy: predict.Sharing}); !near(r.T, ends) {
			t.Errorf("capacity %d: the sender ends at %v, expected %v", capacity, r.T, ends)
		}
	}
}

func TestWhatIfErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "main.f", "=", "main.f=", "main.f=30", "main.f=-101%", "main.f=x%", "gc=on", "split:main.mu=0", "split:main.mu=1000000000", "workers:main.f=0", "cap:main.ch=-1", "hold:=-5%", "main.f=NaN%", "main.f=Inf%"} {
		if _, err := predict.ParseWhatIf(text); err == nil {
			t.Errorf("%q is taken for a change", text)
		}
	}
}
