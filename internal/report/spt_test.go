package report

import (
	"bytes"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/delays"
)

// A barrier that more goroutines meet at than there are processors says so: what the early ones
// wait is no processor's.
func TestBarrierOfMany(t *testing.T) {
	t.Parallel()
	one, five, half := 1., 5., 4.
	r := &delays.Result{Barriers: []delays.Barrier{{Name: "main.meet", Participants: 6, FB1: &one, FB2: &five,
		Difference: &half, Low: &half, High: &half, Verdict: delays.Costly}}}
	for procs, want := range map[int]bool{2: true, 6: false, 0: false} {
		var out bytes.Buffer
		Delays(&delays.Experiment{Unit: "s", Machine: delays.Machine{Procs: procs}}, r).WriteText(&out)
		if text := out.String(); strings.Contains(text, "share 2 processors") != want ||
			!strings.Contains(text, "main.meet is costly") {
			t.Errorf("on %d processors:\n%s", procs, text)
		}
	}
}

// The result of a plan of few parts holds against a screening of many; and for a part that matters
// the page has the change of the run with a tenth less of it.
func TestLess(t *testing.T) {
	t.Parallel()
	x := &delays.Experiment{Unit: "s", Factors: []delays.Factor{{Name: "main.lock"}, {Name: "main.loud"},
		{Name: "main.tiny"}}}
	of := func(factor int, name string, effect, se, takes float64, found bool) delays.Effect {
		return delays.Effect{Factor: factor, Name: name, Effect: effect, SE: se, Low: effect - 2*se,
			High: effect + 2*se, Significant: found, Visits: 1000, Delay: 1e6, Takes: takes}
	}
	gains := func(e delays.Effect, ns, lo, hi float64) delays.Effect {
		e.Gain = &delays.Gain{Ns: ns, Lo: lo, Hi: hi}
		return e
	}
	r := &delays.Result{Plans: []delays.PlanResult{
		{Stage: delays.Screening, Effects: []delays.Effect{of(1, "main.loud", 0.3, 0.1, 1e7, true),
			of(0, "main.lock", 0.2, 0.1, 1e7, true), gains(of(2, "main.tiny", 0.2, 0.05, 1e4, true), 0, -5e4, 5e4)}},
		{Stage: delays.Fuller, Effects: []delays.Effect{gains(of(0, "main.lock", 0.1, 0.01, 1e7, true), 1.1e8, 9e7, 1.3e8),
			of(1, "main.loud", 0.01, 0.01, 1e6, false)}},
	}}
	var out bytes.Buffer
	Delays(x, r).WriteText(&out)
	for _, want := range []string{"longer if they take longer: main.lock, main.tiny.",
		"No difference was seen of 1 more.", "main.lock         10.0s", "-110ms   -130ms  -90.0ms",
		"main.tiny        10.0ms", "+0ns  -50.0us  +50.0us",
		"Delays of main.tiny make the run longer, but less work there gains less"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("expected %q in\n%s", want, out.String())
		}
	}
	if i, j := strings.Index(out.String(), "main.lock         10.0s"),
		strings.Index(out.String(), "main.tiny        10.0ms"); i > j {
		t.Errorf("expected main.lock first, which gains more")
	}
	r.Plans[0].Interactions = []delays.Interaction{{Names: []string{"main.lock", "main.loud"},
		Aliases: [][]string{{"main.tiny", "main.last"}, {"main.a", "main.b"}}, Effect: -0.02}}
	r.Plans[1].Effects[0].Effect = -1
	out.Reset()
	Delays(x, r).WriteText(&out)
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"These parts make the run longer if they take longer: main.tiny. These make it shorter: main.lock.",
		"main.lock and main.loud, or main.tiny and main.last, or another pair, which this plan does not tell apart: the effect of one differs by 40.0ms between"} {
		if !strings.Contains(text, want) {
			t.Errorf("expected %q in\n%s", want, out.String())
		}
	}
	x.Metric = "rate:main.f"
	out.Reset()
	Delays(x, r).WriteText(&out)
	if text := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(text,
		"These parts make the response less if they take longer: main.lock. These make it greater: main.tiny.") {
		t.Errorf("found\n%s", out.String())
	}
	x.Metric = ""
	r.Plans[1].Effects[0].Visits = 1 // a delay of a millisecond is not to be seen
	out.Reset()
	Delays(x, r).WriteText(&out)
	text = strings.Join(strings.Fields(out.String()), " ")
	if !strings.Contains(text, "the delays of main.lock take less time together than runs differ by anyway") ||
		strings.Contains(text, "take longer: main.lock") {
		t.Errorf("found\n%s", out.String())
	}
	r.Plans[1].Procs = 2 // on several numbers of processors there are classes
	out.Reset()
	if Delays(x, r).WriteText(&out); strings.Contains(out.String(), "WHAT LESS WORK") {
		t.Errorf("found\n%s", out.String())
	}
}

// Of two parts of which one contains the other, the inner one alone is listed as what matters,
// since both would promise the same time; and where the critical path tells something else than
// the delays, the page says so. The run without the experiment's probes stands beside that without
// delays.
func TestContainer(t *testing.T) {
	t.Parallel()
	x := &delays.Experiment{Unit: "s", Factors: []delays.Factor{{Name: "main.outer", Calls: []string{"2", "3"}},
		{Name: "main.inner", Calls: []string{"3"}}, {Name: "main.help"}, {Name: "main.beside", Calls: []string{"3"}}}}
	weight := 0.1
	of := func(factor int, id, name string) delays.Effect {
		return delays.Effect{Factor: factor, ID: id, Name: name, Effect: 0.1, SE: 0.01, Low: 0.08, High: 0.12,
			Significant: true, Visits: 100, Delay: 1e6, Takes: 1e6, PerVisit: 1, PerVisitSE: 0.1, Weight: &weight,
			TakesIn: &[2]float64{0.9e6, 1.2e6}, Gain: &delays.Gain{Ns: 1e7, Lo: 9e6, Hi: 1.1e7}}
	}
	r := &delays.Result{Plans: []delays.PlanResult{{Stage: delays.Fuller, Base: 1, Plain: 0.8,
		Effects: []delays.Effect{of(0, "1", "main.outer"), of(1, "2", "main.inner"), of(2, "3", "main.help"),
			of(3, "4", "main.beside")}}}}
	var out bytes.Buffer
	Delays(x, r).WriteText(&out)
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"make the run longer if they take longer: main.inner, main.beside.",
		"Parts that contain one of these, or are called by several of them, are not listed: main.help, main.outer.",
		"main.inner 90.0ms to 120ms -10.0ms",
		"without delays one gives 1.00s, and 800ms with the experiment's probes off",
		"measured in many runs: main.outer, main.inner, main.help, main.beside."} {
		if !strings.Contains(text, want) {
			t.Errorf("expected %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(text, "main.outer 90.0ms") {
		t.Errorf("expected no promise of main.outer, whose part main.inner has it:\n%s", out.String())
	}
}
