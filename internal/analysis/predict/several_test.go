package predict_test

import (
	"math"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

// ran is a run of a program in which main.part takes a time, in ms.
func ran(t *testing.T, part float64, other string) *steps.Program {
	t.Helper()
	return built(t, []tracetest.Thread{{Name: "main.worker", Ops: []tracetest.Op{work("part", part), work(other, 10)}}})
}

// TestSeveral: figures of several runs are the means, in intervals that are no wider than one run's
// if the runs agree, and wider if they do not.
func TestSeveral(t *testing.T) {
	t.Parallel()
	joined := func(parts ...float64) predict.Change {
		w, err := predict.ParseWhatIf("main.part=-50%")
		if err != nil {
			t.Fatal(err)
		}
		var runs []*steps.Program
		var took []trace.Time
		for _, part := range parts {
			runs = append(runs, ran(t, part, "rest"))
			took = append(took, runs[len(runs)-1].End)
		}
		var list []*predict.Result
		for _, p := range runs {
			list = append(list, predict.New(p, predict.Ask{Procs: []int{1}, Policy: sim.Sharing,
				WhatIf: []predict.WhatIf{w}, Differ: predict.Differ(took)}))
		}
		r := predict.Join(list)
		if x, mean := r.WhatIf[0], float64(r.Recorded.T-r.WhatIf[0].Gain); math.Abs(float64(x.T)-mean) > 1 {
			t.Errorf("%v: it takes %d ns of %d, and gains %d", parts, x.T, r.Recorded.T, x.Gain)
		}
		if n := r.Remarks.Notes; len(parts) > 1 && !strings.HasPrefix(n[len(n)-1], "from ") {
			t.Errorf("notes are %q", n)
		}
		return r.WhatIf[0]
	}
	width := func(c predict.Change) float64 { return c.HiPct - c.LoPct }
	one, same, apart := joined(10), joined(10, 10, 10, 10, 10), joined(6, 8, 10, 12, 14)
	if math.Abs(one.GainPct-25) > 1e-3 || math.Abs(same.GainPct-25) > 1e-3 || math.Abs(apart.GainPct-24.5) > .5 {
		t.Errorf("it gains %v %%, %v, %v, expected 25 and a little less", one.GainPct, same.GainPct, apart.GainPct)
	}
	if !(width(same) < width(one) && width(one) < width(apart)) {
		t.Errorf("intervals are %.1f, %.1f, %.1f points wide, expected the second to be least and the third to be most",
			width(one), width(same), width(apart))
	}
}

// TestSeveralDiffer: runs of which nothing is predicted are left out, numbers of processors are
// compared with the same ones, and what one run does not know is not known.
func TestSeveralDiffer(t *testing.T) {
	t.Parallel()
	of := func(procs int, ms int64) predict.Of {
		return predict.Of{Procs: procs, T: ms * 1e6, Lo: ms * 1e6, Hi: ms * 1e6}
	}
	none := func() *predict.Result {
		r := &predict.Result{}
		r.Remarks.Warn("nothing is predicted")
		return r
	}
	one := &predict.Result{T1: 12e6, TInf: 6e6, Runs: []predict.Of{of(1, 12), of(2, 6)}}
	two := &predict.Result{T1: 0, TInf: 8e6, Runs: []predict.Of{of(2, 8), of(4, 8), of(1, 16)}}
	r := predict.Join([]*predict.Result{none(), one, two})
	if len(r.Runs) != 2 || r.Runs[0].T != 14e6 || r.Runs[1].T != 7e6 {
		t.Errorf("runs are %+v, expected 14 ms on one and 7 on two", r.Runs)
	}
	if r.T1 != 0 || r.TInf != 7e6 {
		t.Errorf("on one processor %d ns, on all %d, expected the first not to be known, and 7 ms", r.T1, r.TInf)
	}
	if all := strings.Join(r.Remarks.All(), "\n"); !strings.Contains(all, "1 of 3 runs are left out") ||
		strings.Contains(all, "nothing is predicted") {
		t.Errorf("remarks are %q", all)
	}
	if r := predict.Join([]*predict.Result{two, one}); len(r.Runs) != 3 || !r.Runs[1].Unknown || r.Runs[0].T != 7e6 {
		t.Errorf("runs are %+v, expected 7 ms on two, and none on four", r.Runs)
	}
	if r := predict.Join([]*predict.Result{none(), none()}); len(r.Runs) != 0 || len(r.Remarks.Warnings) != 1 {
		t.Errorf("two runs of which nothing is predicted: %+v", r)
	}
}

func TestSameProgram(t *testing.T) {
	t.Parallel()
	a, b, c := ran(t, 10, "rest"), ran(t, 12, "rest"), ran(t, 10, "more")
	if err := predict.SameProgram(a.R.T, b.R.T); err != nil {
		t.Errorf("two runs of a program: %v", err)
	}
	if err := predict.SameProgram(a.R.T, c.R.T); err == nil || !strings.Contains(err.Error(), "main.more") {
		t.Errorf("runs of two programs: %v", err)
	}
}
