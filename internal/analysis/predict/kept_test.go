package predict_test

import (
	"strings"
	"testing"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// TestKept: a consumer that never waited for its producer gains by being faster until it does. Of a
// channel with unseen operations it is not known when that is, and the page says which these are.
func TestKept(t *testing.T) {
	t.Parallel()
	const items, rest = 40, 20
	const all = 2*items + 1 + rest // ms
	var produce, consume []tracetest.Op
	for range items {
		produce = append(produce, work("produce", 1), tracetest.Signal("ch"))
		consume = append(consume, tracetest.Wait("ch"), work("consume", 2))
	}
	consume = append(consume, work("finish", rest))
	for _, c := range []struct {
		change  string
		counted uint64
		known   bool
		gain    float64 // percent
	}{
		{"main.consume=-75%", 0, true, 100 * (1 - (items+.5+rest)/all)},
		{"main.consume=-75%", 30, false, 0},
		{"main.consume=-10%", 30, true, 100 * .2 * items / all},
		{"cap:main.ch=1", 30, false, 0},
	} {
		b := tracetest.New(2)
		b.Operations = true
		tracetest.SimulateOn(b, []tracetest.Thread{{Name: "main.producer", Ops: produce}, {Name: "main.consumer", Ops: consume}})
		b.Count(b.Object("main.ch", spec.OpSend), c.counted)
		p, _, err := steps.Build(b.Trace(), steps.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w, err := predict.ParseWhatIf(c.change)
		if err == nil {
			err = w.Check(p)
		}
		if err != nil {
			t.Fatal(err)
		}
		x := predict.New(p, predict.Ask{Procs: []int{2}, Policy: sim.Sharing, WhatIf: []predict.WhatIf{w}}).WhatIf[0]
		switch {
		case (x.Unknown == "") != c.known:
			t.Errorf("%+v: found %+v", c, x)
		case !c.known && !strings.Contains(x.Unknown, "30 of 110 operations on main.ch were only counted"):
			t.Errorf("%+v: it says %q", c, x.Unknown)
		case c.known && (x.LoPct > c.gain+.1 || x.HiPct < c.gain-.1):
			t.Errorf("%+v: found %+v", c, x)
		}
	}
}

// TestFromOneProcessor: waits that no operation decides end in a computed run as they did on one
// processor, where others would have come: the time on two is anywhere between half of it and all.
func TestFromOneProcessor(t *testing.T) {
	t.Parallel()
	const items = 40
	var produce, consume []tracetest.Op
	for range items {
		produce = append(produce, tracetest.Signal("ch"), work("produce", 1), tracetest.Wait("room"))
		consume = append(consume, tracetest.Wait("ch"), work("consume", 1), tracetest.Signal("room"))
	}
	for _, operations := range []bool{true, false} {
		b := tracetest.New(1)
		b.Operations = operations
		tracetest.SimulateOn(b, []tracetest.Thread{{Name: "main.producer", Ops: produce}, {Name: "main.consumer", Ops: consume}})
		p, _, err := steps.Build(b.Trace(), steps.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := predict.New(p, predict.Ask{Procs: []int{2}, Policy: sim.Sharing})
		two := r.Runs[0]
		open := two.Lo <= r.T1/2 && two.Hi >= r.T1
		said := strings.Contains(strings.Join(r.Remarks.Notes, " "), "a run on one tells little")
		if open == operations || said == operations {
			t.Errorf("operations seen %v: found %d to %d of %d, and %q", operations, two.Lo, two.Hi, r.T1, r.Remarks.Notes)
		}
	}
}
