package predict_test

import (
	"math"
	"testing"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/trace/tracetest"
)

// Delays at visits, in programs whose lengths are formulas: each visit takes as much longer,
// whatever its own length.
func TestDelays(t *testing.T) {
	t.Parallel()
	plateau := []tracetest.Thread{
		{Name: "main.t1", Ops: []tracetest.Op{work("foo", 7)}},
		{Name: "main.t2", Ops: []tracetest.Op{work("bar", 10)}},
	}
	helper := []tracetest.Thread{ // main.help takes 10 ms once, and 1 ms nine times
		{Name: "main.t1", Ops: []tracetest.Op{work("help", 10)}},
		{Name: "main.t2"},
	}
	for range 9 {
		helper[1].Ops = append(helper[1].Ops, work("help", 1))
	}
	foo, bar := &predict.Delayed{Name: "main.foo"}, &predict.Delayed{Name: "main.bar"}
	for _, c := range []struct {
		name    string
		threads []tracetest.Thread
		parts   []*predict.Delayed
		delays  []float64 // ms, of all visits together
		t       float64   // ms
	}{
		{"none", plateau, []*predict.Delayed{foo}, []float64{0}, 10},
		{"W9: less than another takes", plateau, []*predict.Delayed{foo}, []float64{2}, 10},
		{"W9: more", plateau, []*predict.Delayed{foo}, []float64{5}, 12},
		{"W9: both", plateau, []*predict.Delayed{foo, bar}, []float64{5, 1}, 12},
		{"each visit as much", helper, []*predict.Delayed{{Name: "main.help"}}, []float64{10}, 18},
		{"W5: the hold", convoy(8, 50, 4, 1), []*predict.Delayed{{Name: "main.mu", Lock: true}}, []float64{40}, 444},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := predict.NewPredictor(builtOn(t, 8, c.threads), sim.Sharing, nil)
			ns := make([]float64, len(c.delays))
			for i, d := range c.parts {
				one := *d
				if c.parts[i] = &one; !q.Visits(&one) {
					t.Fatalf("found no visit of %s", d.Name)
				}
				ns[i] = c.delays[i] * ms
			}
			if got := q.WithDelays(c.parts, ns) / ms; math.Abs(got-c.t) > 1e-5*c.t {
				t.Errorf("it takes %v ms, expected %v", got, c.t)
			}
		})
	}
	q := predict.NewPredictor(builtOn(t, 8, plateau), sim.Sharing, nil)
	for _, d := range []predict.Delayed{{Name: "main.none"}, {Name: "main.foo", Lock: true}} {
		if q.Visits(&d) {
			t.Errorf("found visits of %+v, expected none", d)
		}
	}
}

// The part of all work that a change applies to.
func TestAmount(t *testing.T) {
	t.Parallel()
	q := predict.NewPredictor(builtOn(t, 8, convoy(8, 50, 4, 1)), sim.Sharing, nil)
	for part, want := range map[string]float64{"calls:main.inside": 400, "hold:main.mu": 400, "main.outside": 1600} {
		if got, err := q.Amount(part); err != nil || math.Abs(got/ms-want) > 1e-5*want {
			t.Errorf("%s: found %v ms (%v), expected %v", part, got/ms, err, want)
		}
	}
}
