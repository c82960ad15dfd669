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
	r := &delays.Result{Plans: []delays.PlanResult{
		{Stage: delays.Screening, Effects: []delays.Effect{of(1, "main.loud", 0.3, 0.1, 1e7, true),
			of(0, "main.lock", 0.2, 0.1, 1e7, true), of(2, "main.tiny", 0.2, 0.05, 1e4, true)}},
		{Stage: delays.Fuller, Effects: []delays.Effect{of(0, "main.lock", 0.1, 0.01, 1e7, true),
			of(1, "main.loud", 0.01, 0.01, 1e6, false)}},
	}}
	var out bytes.Buffer
	Delays(x, r).WriteText(&out)
	for _, want := range []string{"longer if they take longer: main.lock, main.tiny.",
		"No difference was seen of 1 more.", "main.lock         10.0s", "-100ms  -120ms  -80.0ms",
		"main.tiny        10.0ms", "-200us  -300us   -100us"} {
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
