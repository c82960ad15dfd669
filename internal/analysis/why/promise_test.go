package why_test

import (
	"strings"
	"testing"

	"qinst.dev/internal/analysis/why"
)

// A verdict needs an interval that tells: apart from the promise, or narrow and above nothing.
func TestJudgePromise(t *testing.T) {
	t.Parallel()
	p := why.Promise{Pct: 20, Lo: 15, Hi: 25}
	for _, c := range []struct {
		lo, hi float64
		want   why.Verdict
	}{
		{16, 24, why.Kept}, {15, 25, why.Kept}, {24, 34, why.Kept}, {10, 15, why.Kept},
		{14, 24.1, why.Undecided}, // wider than half of the promise
		{-1, 16, why.Undecided}, {-5, 40, why.Undecided}, {10, 60, why.Undecided},
		{10, 14.9, why.Less}, {-90, 14.9, why.Less}, {-3, -1, why.Less},
		{25.1, 26, why.More}, {25.1, 90, why.More},
	} {
		if got := p.Judge(c.lo, c.hi); got != c.want {
			t.Errorf("20 %% (15 to 25) promised, %g to %g gained: %s, expected %s", c.lo, c.hi, got, c.want)
		}
	}
	small := why.Promise{Pct: 2, Lo: -1, Hi: 5} // the lower end may be nothing
	if got := small.Judge(-0.2, 0.4); got != why.Undecided {
		t.Errorf("nothing gained of 2 %% (-1 to 5): %s, expected %s", got, why.Undecided)
	}
}

// What promises nothing is no promise, and cannot be named.
func TestPromised(t *testing.T) {
	t.Parallel()
	predicted := &why.Predicted{Pct: 20, Lo: 15, Hi: 25}
	a := &why.Answer{Findings: []why.Finding{
		{ID: "part proc main.parse", Change: "let main.parse do 20 % less", Predicted: predicted, Verdict: why.Confirmed},
		{ID: "gc program", Predicted: predicted, Tried: &why.Tried{Pct: 8, Lo: 7, Hi: 9}, Verdict: why.Improves},
		{ID: "lock sync main.mu", Predicted: predicted, Verdict: why.Less},
		{ID: "pace program", Verdict: why.Rules},
		{ID: "part proc main.idle", Predicted: &why.Predicted{}, Verdict: why.NoEffect},
	}}
	list := a.Promised()
	if len(list) != 2 || list[0] != (why.Promise{"part proc main.parse", 1, "let main.parse do 20 % less", 20, 15, 25}) ||
		list[1] != (why.Promise{ID: "gc program", Rank: 2, Pct: 8, Lo: 7, Hi: 9}) {
		t.Errorf("found %+v, expected the part as predicted and the setting as tried", list)
	}
	for name, rank := range map[string]int{"2": 2, "gc program": 2, "1": 1, "part proc main.parse": 1} {
		if p, err := a.Named(name); err != nil || p.Rank != rank {
			t.Errorf("%s: %+v, %v; expected rank %d", name, p, err, rank)
		}
	}
	for _, name := range []string{"", "0", "3", "lock sync main.mu", "6", "x"} {
		if p, err := a.Named(name); err == nil || !strings.HasSuffix(err.Error(), "expected one that promises a gain: 1 (part proc main.parse), 2 (gc program)") {
			t.Errorf("%q: %+v, %v; expected an error that names both", name, p, err)
		}
	}
	if p, err := (&why.Answer{}).Named("1"); err == nil || !strings.Contains(err.Error(), "the study promises no gain") {
		t.Errorf("of nothing: %+v, %v", p, err)
	}
}
