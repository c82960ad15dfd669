package gate

import (
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"qinst.dev/internal/analysis/why"
	"qinst.dev/internal/stats"
)

// timed is a result with an interval of head's time, and one of equal programs, as ratios.
func timed(aa, ratio stats.Interval) *Result {
	return &Result{Names: Names{"before", "after"}, Plain: true, Pairs: 10,
		Times: []Time{{ID: Wall, Base: 100, Head: 80, AA: aa, Ratio: ratio}}}
}

var quiet = stats.Interval{Mean: 1, Low: 0.99, High: 1.01}

func around(mean, half float64) stats.Interval {
	return stats.Interval{Mean: mean, Low: mean - half, High: mean + half}
}

// The status is decided by the worst that is certain.
func TestStatus(t *testing.T) {
	t.Parallel()
	fifth := why.Promise{ID: "part", Rank: 1, Pct: 20, Lo: 15, Hi: 25}
	much, tenth := why.Promise{Pct: 40, Lo: 35, Hi: 45}, why.Promise{Pct: 10, Lo: 9, Hi: 11}
	wide := why.Promise{Pct: 5, Lo: 0, Hi: 30}
	tiny := why.Promise{ID: "tiny", Rank: 2, Pct: 1, Lo: 0.5, Hi: 1.5}
	loud := stats.Interval{Mean: 1, Low: 0.85, High: 1.15}
	for name, c := range map[string]struct {
		r        *Result
		promises []why.Promise
		verdicts string
		want     int
	}{
		"faster":                  {timed(quiet, around(0.8, 0.01)), nil, "", Proven},
		"as fast":                 {timed(quiet, around(1, 0.01)), nil, "", Proven},
		"slower":                  {timed(quiet, around(1.05, 0.01)), nil, "", Slower},
		"not certainly slower":    {timed(stats.Interval{Mean: 1.1, Low: 1.05, High: 1.15}, around(1.05, 0.01)), nil, "", Proven},
		"vague":                   {timed(quiet, around(0.98, 0.2)), nil, "", Undecided},
		"vague, but faster":       {timed(quiet, around(0.7, 0.2)), nil, "", Proven},
		"kept":                    {timed(quiet, around(0.8, 0.02)), []why.Promise{fifth}, "kept", Proven},
		"less":                    {timed(quiet, around(0.9, 0.02)), []why.Promise{fifth}, "less", Proven},
		"more":                    {timed(quiet, around(0.5, 0.02)), []why.Promise{fifth}, "more", Proven},
		"undecided":               {timed(quiet, around(0.8, 0.06)), []why.Promise{fifth}, "undecided", Undecided},
		"loud":                    {timed(loud, around(0.8, 0.06)), []why.Promise{fifth}, "undecided", Loud},
		"more on a loud one":      {timed(loud, around(0.5, 0.02)), []why.Promise{fifth}, "more", Proven},
		"less, and one open":      {timed(quiet, around(0.9, 0.04)), []why.Promise{much, tenth}, "less undecided", Undecided},
		"less, and one loud":      {timed(loud, around(0.9, 0.04)), []why.Promise{much, tenth}, "less undecided", Loud},
		"kept, and one open":      {timed(quiet, around(0.8, 0.02)), []why.Promise{fifth, wide}, "kept undecided", Proven},
		"loud for one of two":     {timed(quiet, around(0.9, 0.14)), []why.Promise{fifth, tiny}, "undecided undecided", Undecided},
		"slower on a loud one":    {timed(loud, around(1.4, 0.1)), []why.Promise{tiny}, "less", Slower},
		"slower than its load":    {timed(loud, around(1.2, 0.1)), []why.Promise{tiny}, "undecided", Loud},
		"one of two":              {timed(quiet, around(0.8, 0.02)), []why.Promise{fifth, tiny}, "kept more", Proven},
		"the same program":        {&Result{Same: true}, []why.Promise{fifth, tiny}, "less less", Proven},
		"recorded":                {&Result{Counted: true}, []why.Promise{fifth}, "undecided", Undecided},
		"a condition holds":       {&Result{Failed: []Verdict{{}}}, nil, "", Slower},
		"a condition is not told": {&Result{Undecided: []Verdict{{}}, Times: timed(quiet, around(1, 0.01)).Times}, nil, "", Undecided},
	} {
		p := NewProof(c.r, c.promises)
		var verdicts []string
		for _, q := range p.Promises {
			verdicts = append(verdicts, string(q.Verdict))
		}
		if got := p.Status(); got != c.want || strings.Join(verdicts, " ") != c.verdicts {
			t.Errorf("%s: status %d, %v; expected %d, %s", name, got, verdicts, c.want, c.verdicts)
		}
	}
}

// The contract of -json, and what the page says.
func TestProofForms(t *testing.T) {
	t.Parallel()
	r := timed(stats.Interval{Mean: 1, Low: 0.98, High: 1.03}, around(0.8, 0.02))
	r.Counted = true
	r.Counts = []Count{{ID: "calls", Base: Range{7, 7}, Head: Range{8, 8}}, {ID: Allocs, Base: Range{1, 2}, Head: Range{1, 2}},
		{ID: "locks:main.mu", Base: Range{7, 7}, Head: Range{8, 8}}, {ID: "calls:main.f", Base: Range{7, 9}, Head: Range{8, 8}}}
	p := NewProof(r, []why.Promise{{ID: "part proc main.f", Rank: 3, Change: "less", Pct: 20, Lo: 15, Hi: 25}})
	p.By = 20
	var out strings.Builder
	want := `{"version":1,"gain_pct":20,"lo_pct":18,"hi_pct":22,"aa_lo_pct":-3,"aa_hi_pct":2,` +
		`"promises":[{"id":"part proc main.f","predicted_pct":20,"realized_pct":20,"lo_pct":18,"hi_pct":22,"verdict":"kept"}],` +
		`"counts":[{"id":"locks:main.mu","before":7,"after":8}]}` + "\n"
	if err := p.WriteJSON(&out); err != nil || out.String() != want {
		t.Errorf("found %s, %v; expected %s", out.String(), err, want)
	}
	out.Reset()
	if err := p.Doc("then", "now").WriteText(&out); err != nil || !strings.Contains(out.String(), "The program takes 20.0 % less time (18.0 to 22.0).") {
		t.Errorf("%v, %s", err, out.String())
	}
	out.Reset()
	want = `{"version":1,"gain_pct":null,"lo_pct":null,"hi_pct":null,"aa_lo_pct":null,"aa_hi_pct":null,"promises":[],"counts":[]}` + "\n"
	if err := NewProof(&Result{}, nil).WriteJSON(&out); err != nil || out.String() != want {
		t.Errorf("found %s, %v; expected %s", out.String(), err, want)
	}
}

// proof is an experiment with a program that gains something by a change that promises a fifth,
// without an interval of its own.
func (m *machine) proof(t testing.TB, gain float64) *Proof {
	t.Helper()
	const pairs = 10
	one, err := newTime(Wall, m.runs(pairs, 1e9), m.runs(pairs, 1e9), m.runs(pairs, 1e9), m.runs(pairs, 1e9*(1-gain)))
	if err != nil {
		t.Fatal(err)
	}
	return NewProof(&Result{Times: []Time{one}}, []why.Promise{{Pct: 20, Lo: 20, Hi: 20}})
}

// Equal programs are called slower, or said to keep a promise, in at most 2.5 of 100 experiments
// each. A change that gains what was promised is said to gain less, or more, in at most 2.5 each.
// The test fails if a number of false alarms has a probability below 1 % at these rates.
func TestProofFalseAlarms(t *testing.T) {
	t.Parallel()
	const experiments = 1000
	for name, form := range forms {
		for _, noise := range []float64{0.005, 0.02, 0.2} {
			m := &machine{rand.New(rand.NewPCG(uint64(1000*noise), 79)), noise, form}
			wrong, right := map[string]int{}, 0
			for range experiments {
				p := m.proof(t, 0)
				if p.Status() == Slower {
					wrong["equal programs slower"]++
				}
				if v := p.Promises[0].Verdict; v == why.Kept || v == why.More {
					wrong["nothing gained, kept"]++
				}
				switch p := m.proof(t, 0.2); p.Promises[0].Verdict {
				case why.Less:
					wrong["a fifth gained, less"]++
				case why.More:
					wrong["a fifth gained, more"]++
				case why.Kept:
					right++
				}
			}
			t.Logf("%s, %g %%: %v of %d, kept promises found: %d", name, 100*noise, wrong, experiments, right)
			for what, n := range wrong {
				if chance := 1 - (distuv.Binomial{N: experiments, P: 0.025}).CDF(float64(n)-1); chance < 0.01 {
					t.Errorf("%s, %g %%: %s in %d of %d, expected at most 2.5 of 100", name, 100*noise, what, n, experiments)
				}
			}
			if noise <= 0.02 && right < experiments*9/10 {
				t.Errorf("%s, %g %%: %d of %d kept promises are found, expected nine of ten", name, 100*noise, right, experiments)
			}
		}
	}
}
