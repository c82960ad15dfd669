package why_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/analysis/doe"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/why"
)

// truth is what an experiment and the computed run have for one part.
type truth struct {
	name            string
	gain, lo, hi    float64 // percent
	effect, model   float64 // of delays of 0.1 s, in s
	work            float64 // ns
	unknown, factor string
}

// study is one of parts, whose runs take 1 s and differ by noise, in s.
func study(t *testing.T, noise float64, parts ...truth) *why.Study {
	t.Helper()
	s := &why.Study{Version: why.FileVersion, Kind: why.FileKind, By: 20, Seed: 1}
	r := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		s.Runs = append(s.Runs, why.Run{T: 1e9})
	}
	x := &delays.Experiment{Version: delays.FileVersion, Unit: "s", Alpha: 0.05}
	p := delays.Plan{Stage: delays.Screening, Base: []float64{1}, Took: 1}
	var names []string
	for i, part := range parts {
		c := why.Candidate{Kind: why.Part, Change: advice.LessWork, Work: part.work, Factor: part.name,
			Subject: advice.Subject{Kind: "proc", Name: part.name, File: "main.go", Line: 10 + i}}
		for range s.Runs {
			c.Gains = append(c.Gains, predict.Change{GainPct: part.gain, LoPct: part.lo, HiPct: part.hi,
				Unknown: part.unknown})
		}
		s.Found = append(s.Found, c)
		if part.factor != "none" {
			x.Factors = append(x.Factors, delays.Factor{Name: part.name, Rule: part.name, Visits: 1000, Delay: 1e5})
			p.Factors = append(p.Factors, len(names))
			names = append(names, part.name)
		}
	}
	plan, err := doe.New(names, doe.Options{Kind: doe.Full, Replicates: 8})
	if err != nil {
		t.Fatal(err)
	}
	times, model := map[string]int{}, []float64{}
	for _, run := range plan.Runs {
		times[fmt.Sprint(run.Levels)]++ // each replicate is a block
		run.Block = times[fmt.Sprint(run.Levels)]
		y, m := 1+noise*r.NormFloat64(), 1.
		for k, level := range run.Levels {
			y += parts[p.Factors[k]].effect * float64(level+1) / 2
			m += parts[p.Factors[k]].model * float64(level+1) / 2
		}
		p.Runs = append(p.Runs, delays.Run{Block: run.Block, Levels: run.Levels, Made: true, Response: y})
		model = append(model, m)
	}
	s.Tested.Model = [][]float64{model}
	x.Plans = []delays.Plan{p}
	s.Tested.Experiment = x
	return s
}

func judge(t *testing.T, s *why.Study) *why.Answer {
	t.Helper()
	a, err := why.Judge(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// finding is that about a part.
func finding(t *testing.T, a *why.Answer, name string) *why.Finding {
	t.Helper()
	for i := range a.Findings {
		if a.Findings[i].Subject == name {
			return &a.Findings[i]
		}
	}
	t.Fatalf("no finding about %s", name)
	return nil
}

// What delays do decides what is promised.
func TestVerdicts(t *testing.T) {
	s := study(t, 0.002,
		truth{name: "main.a", gain: 10, lo: 8, hi: 12, effect: 0.05, model: 0.05, work: 0.5e9},
		truth{name: "main.b", gain: 15, lo: 12, hi: 18, effect: 0.02, model: 0.06, work: 0.5e9},
		truth{name: "main.c", gain: 6, lo: 5, hi: 7, effect: 0.08, model: 0.04, work: 0.5e9},
		truth{name: "main.d", gain: 0, lo: 0, hi: 1, work: 0.5e9})
	a := judge(t, s)
	for name, want := range map[string]why.Verdict{"main.a": why.Confirmed, "main.b": why.Less, "main.c": why.More,
		"main.d": why.NoEffect} {
		f := finding(t, a, name)
		if f.Verdict != want || f.Promises() != (want == why.Confirmed || want == why.NoEffect) {
			t.Errorf("%s: found %q (%s), promises: %v, expected %q", name, f.Verdict, f.Reason, f.Promises(), want)
		}
	}
	if f := a.Findings[0]; f.Subject != "main.a" || f.Tested.Delay != 1e8 || f.Tested.Model != 5e7 ||
		f.Tested.Effect < 48e6 || f.Tested.Effect > 52e6 {
		t.Errorf("found first %s, tested %+v, expected main.a with an effect of 50 ms of 100", f.Subject, f.Tested)
	}
	want := "Let main.a do 20 % less at main.go:10, and the run becomes 10 % shorter (8 to 12); an experiment confirms it."
	if a.First != want {
		t.Errorf("found %q, expected %q", a.First, want)
	}
}

// Delays that cost more than all of them have changed how the program runs, and refute nothing.
func TestBeyond(t *testing.T) {
	a := judge(t, study(t, 0.002, truth{name: "main.a", gain: 10, lo: 8, hi: 12, effect: 0.15, model: 0.08}))
	if f := a.Findings[0]; f.Verdict != why.Undecided || !f.Promises() || !strings.Contains(f.Reason, "more than all of them") {
		t.Errorf("found %q (%s), expected that delays of 100 ms cannot cost 150", f.Verdict, f.Reason)
	}
	a = judge(t, study(t, 0.002, truth{name: "main.a", gain: 10, lo: 8, hi: 12, effect: 0.1, model: 0.05}))
	if f := a.Findings[0]; f.Verdict != why.More || f.Promises() {
		t.Errorf("found %q (%s), expected more", f.Verdict, f.Reason)
	}
	want := "Let main.a do 20 % less at main.go:10: the run waits for it, by more than is computed, so that the gain is not known."
	if a.First != want {
		t.Errorf("found %q, expected %q", a.First, want)
	}
}

// A gain that is hardly known is not confirmed.
func TestWide(t *testing.T) {
	a := judge(t, study(t, 0.002, truth{name: "main.a", gain: 20, lo: 4, hi: 32, effect: 0.05, model: 0.05},
		truth{name: "main.b", gain: 3, lo: 0, hi: 9, effect: 0.05, model: 0.05},
		truth{name: "main.c", gain: 3, lo: 0, hi: 6, effect: 0.05, model: 0.05},
		truth{name: "main.d", gain: 20, lo: 11, hi: 38, effect: 0.05, model: 0.05}))
	for name, want := range map[string]why.Verdict{"main.a": why.Undecided, "main.b": why.Undecided,
		"main.c": why.Confirmed, "main.d": why.Confirmed} {
		if f := finding(t, a, name); f.Verdict != want {
			t.Errorf("%s: found %q (%s), expected %q", name, f.Verdict, f.Reason, want)
		}
	}
}

// On a busy machine delays take longer than their time, and a run of them does not tell more.
func TestBusy(t *testing.T) {
	s := study(t, 0.002, truth{name: "main.a", gain: 10, lo: 8, hi: 12, effect: 0.09, model: 0.05})
	s.Machine.Processors = 2
	runs := s.Tested.Experiment.Plans[0].Runs
	for _, load := range []float64{1, 2.4, 3} {
		for i := range runs {
			runs[i].Load = load
		}
		want := why.More
		if load > 2.5 {
			want = why.Undecided
		}
		if f := judge(t, s).Findings[0]; f.Verdict != want {
			t.Errorf("load %v: found %q (%s), expected %q", load, f.Verdict, f.Reason, want)
		}
	}
	s.Tested.Experiment.Plans[0].Base = []float64{1.5}
	if f := judge(t, s).Findings[0]; f.Verdict != why.Undecided || !strings.Contains(f.Reason, "busier") {
		t.Errorf("found %q (%s), expected that the machine was busier", f.Verdict, f.Reason)
	}
}

// An experiment that could not have seen the effect decides nothing.
func TestUndecided(t *testing.T) {
	a := judge(t, study(t, 0.3, truth{name: "main.a", gain: 10, lo: 8, hi: 12, effect: 0.05, model: 0.05},
		truth{name: "main.b", gain: 5, lo: 4, hi: 6, effect: 0.05, model: 0.05}))
	for _, f := range a.Findings {
		if f.Verdict != why.Undecided || !strings.Contains(f.Reason, "would not be seen") {
			t.Errorf("%s: found %q (%s), expected that nothing is decided", f.Subject, f.Verdict, f.Reason)
		}
	}
}

// How far computed runs are apart is no difference to the measured one.
func TestModels(t *testing.T) {
	s := study(t, 0.002, truth{name: "main.a", gain: 10, lo: 8, hi: 12, effect: 0.05, model: 0.08})
	model := s.Tested.Model[0]
	if f := judge(t, s).Findings[0]; f.Verdict != why.Less {
		t.Errorf("found %q, expected less by one computed run", f.Verdict)
	}
	for _, share := range []float64{0.5, 1.5} { // of its effect
		other := slices.Clone(model)
		for i := range other {
			other[i] = 1 + share*(other[i]-1)
		}
		s.Tested.Model = append(s.Tested.Model, other)
	}
	if f := judge(t, s).Findings[0]; f.Verdict != why.Undecided || f.Tested.Model != 8e7 ||
		!strings.Contains(f.Reason, "computed runs differ too much") {
		t.Errorf("found %q (%s), computed %d, expected their mean, and that they neither confirm nor refute", f.Verdict,
			f.Reason, f.Tested.Model)
	}
}

// One run that the machine disturbed changes no verdict.
func TestOutlier(t *testing.T) {
	s := study(t, 0.002, truth{name: "main.a", gain: 10, lo: 8, hi: 12, effect: 0.05, model: 0.05},
		truth{name: "main.b", gain: 5, lo: 4, hi: 6, effect: 0.02, model: 0.05})
	s.Tested.Experiment.Plans[0].Runs[5].Response = 3
	a := judge(t, s)
	for name, want := range map[string]why.Verdict{"main.a": why.Confirmed, "main.b": why.Less} {
		if f := finding(t, a, name); f.Verdict != want {
			t.Errorf("%s: found %q (%s), expected %q", name, f.Verdict, f.Reason, want)
		}
	}
}

// Delays of a part that others nearly tie with cost all they take, and less work gains little.
func TestTie(t *testing.T) {
	a := judge(t, study(t, 0.002, truth{name: "main.a", gain: 2, lo: 1, hi: 3, effect: 0.1, model: 0.1, work: 0.5e9},
		truth{name: "main.b", gain: 9, lo: 8, hi: 10, effect: 0.1, model: 0.1, work: 0.5e9}))
	if f := finding(t, a, "main.a"); f.Verdict != why.Confirmed || !strings.Contains(f.Reason, "nearly as long") {
		t.Errorf("found %q (%s), expected that others take nearly as long", f.Verdict, f.Reason)
	}
	if f := finding(t, a, "main.b"); f.Reason != "" {
		t.Errorf("found %q, expected no reason", f.Reason)
	}
	a = judge(t, study(t, 0.002, truth{name: "main.a", gain: 4, lo: 0, hi: 16, effect: 0.1, model: 0.1, work: 0.5e9}))
	if f := &a.Findings[0]; f.Verdict != why.Undecided || !strings.Contains(f.Reason, "; others take nearly as long") {
		t.Errorf("found %q (%s), expected that others take nearly as long, too", f.Verdict, f.Reason)
	}
}

// What is not known is said to be so, and is no 0.
func TestUnknown(t *testing.T) {
	s := study(t, 0.002, truth{name: "main.a", gain: 10, lo: 8, hi: 12, effect: 0.05, model: 0.05},
		truth{name: "main.b", unknown: "operations are missing", factor: "none"},
		truth{name: "main.c", gain: 5, lo: 4, hi: 6, factor: "none"})
	s.Tested.Refused = []why.Refused{{Factor: "main.c", Why: "it is small"}}
	a := judge(t, s)
	if f := finding(t, a, "main.b"); f.Predicted != nil || f.Verdict != why.NotTestable || f.Reason == "" {
		t.Errorf("found %+v, expected no prediction, and why there is no test", f)
	}
	if f := finding(t, a, "main.c"); f.Verdict != why.NotTestable || f.Reason != "it is small" {
		t.Errorf("found %q (%s), expected why it was not tested", f.Verdict, f.Reason)
	}
}

// A setting that was tried has what it gained.
func TestSettings(t *testing.T) {
	s := study(t, 0.002, truth{name: "main.a", gain: 3, lo: 2, hi: 4, effect: 0.05, model: 0.05})
	s.Found = append(s.Found, why.Candidate{Kind: "garbage-collector", Change: advice.RaiseGC})
	tried := why.Setting{Text: "GOGC=400", Kind: "garbage-collector"}
	for i := range 8 {
		tried.Base, tried.Change = append(tried.Base, 1+0.001*float64(i)), append(tried.Change, 0.9+0.001*float64(i))
	}
	s.Settings = []why.Setting{tried}
	a := judge(t, s)
	f := &a.Findings[0]
	if f.Verdict != why.Improves || f.Tried == nil || f.Tried.Pct < 9 || f.Tried.Pct > 11 {
		t.Errorf("found %+v, expected 10 %% by GOGC=400", f)
	}
	if !strings.HasPrefix(a.First, "Set GOGC=400, and the run becomes 10 % shorter") {
		t.Errorf("found %q, expected the setting first", a.First)
	}
	s.Settings[0].Change = s.Settings[0].Base
	if f := finding(t, judge(t, s), ""); f.Verdict != why.Undecided || f.Measured() {
		t.Errorf("found %q, expected a setting without effect to be undecided", f.Verdict)
	}
}

// A channel's capacity is tried for that channel, and a trial that decides nothing leaves the
// prediction as it is.
func TestCapacities(t *testing.T) {
	s := study(t, 0.002, truth{name: "main.a", gain: 3, lo: 2, hi: 4, effect: 0.05, model: 0.05})
	for _, name := range []string{"main.jobs", "main.done"} {
		c := why.Candidate{Kind: "small-buffer", Change: advice.LargerBuffer, Subject: advice.Subject{Name: name}}
		for range s.Runs {
			c.Gains = append(c.Gains, predict.Change{GainPct: 20, LoPct: 15, HiPct: 25})
		}
		s.Found = append(s.Found, c)
	}
	tried := why.Setting{Text: "-cap=main.jobs=64", Kind: "small-buffer", Subject: "main.jobs", Capacity: 64}
	for i := range 8 {
		tried.Base, tried.Change = append(tried.Base, 1+0.001*float64(i)), append(tried.Change, 0.7+0.001*float64(i))
	}
	s.Settings = []why.Setting{tried}
	a := judge(t, s)
	if want := "Give main.jobs a capacity of 64, and the run becomes 30 % shorter (30 to 30): tried."; a.First != want {
		t.Errorf("found %q, expected %q", a.First, want)
	}
	if f := finding(t, a, "main.done"); f.Tried != nil || f.Verdict != why.NotTestable {
		t.Errorf("found %+v, expected that the other channel was not tried", f)
	}
	s.Settings[0].Change = s.Settings[0].Base
	s.Program.Load = "ask"
	a = judge(t, s)
	if want := "Give main.jobs a larger buffer, and the load becomes 20 % shorter (15 to 25); an experiment could not decide it."; a.First != want {
		t.Errorf("found %q, expected %q", a.First, want)
	}
}

// A conclusion of few of the runs comes last, and says so.
func TestSeldom(t *testing.T) {
	s := study(t, 0.002, truth{name: "main.a", gain: 3, lo: 2, hi: 4, effect: 0.05, model: 0.05})
	c := why.Candidate{Kind: "semaphore", Change: advice.MoreWorkers, Subject: advice.Subject{Name: "main.permits"}, Seen: 1,
		AtMost: 9e8}
	for range s.Runs {
		c.Gains = append(c.Gains, predict.Change{Unknown: "nothing can be predicted of this run"})
	}
	s.Found = append(s.Found, c)
	a := judge(t, s)
	if f := &a.Findings[1]; f.Subject != "main.permits" || !strings.HasSuffix(f.Reason, fmt.Sprintf("only 1 of %d runs show it", len(s.Runs))) {
		t.Errorf("found %s (%s) last, expected the conclusion of one run", f.Subject, f.Reason)
	}
	s.Found[1].Seen = len(s.Runs)
	if f := &judge(t, s).Findings[0]; f.Subject != "main.permits" || strings.Contains(f.Reason, "only") {
		t.Errorf("found %s (%s) first, expected the conclusion of all runs", f.Subject, f.Reason)
	}
}

// A conclusion whose gain is not known counts a part of its bound, a defect more than all.
func TestOrder(t *testing.T) {
	s := study(t, 0.002, truth{name: "main.a", gain: 12, lo: 10, hi: 14, effect: 0.05, model: 0.05})
	for _, c := range []why.Candidate{{Kind: "bounded", AtMost: 2e8}, {Kind: "unknown"}, {Kind: "pace", Ruled: true},
		{Kind: "defect", Defect: true, Change: advice.Release}} {
		c.Subject.Name = c.Kind
		s.Found = append(s.Found, c)
	}
	var order []string
	a := judge(t, s)
	for _, f := range a.Findings {
		order = append(order, f.Subject)
	}
	if got, want := strings.Join(order, " "), "defect unknown main.a bounded pace"; got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
	if want := "Release what defect keeps: that is wrong, whatever it costs."; a.First != want {
		t.Errorf("found %q, expected %q", a.First, want)
	}
	s.Found = s.Found[:3]
	if a := judge(t, s); a.First != "See unknown: its gain is not known." {
		t.Errorf("found %q, expected that the gain is not known", a.First)
	}
}

// Less work that an experiment confirms comes before other that gains about as much, and not before
// what gains more.
func TestProof(t *testing.T) {
	for gain, want := range map[float64]string{12: "main.b", 15: "main.a"} {
		s := study(t, 0.002, truth{name: "main.a", gain: gain, lo: gain - 2, hi: gain + 2, effect: 0.15, model: 0.08},
			truth{name: "main.b", gain: 11, lo: 9, hi: 13, effect: 0.05, model: 0.05})
		if f := judge(t, s).Findings[0]; f.Subject != want {
			t.Errorf("gain of %g %%: found %s (%s) first, expected %s", gain, f.Subject, f.Verdict, want)
		}
	}
}

// A plateau is the median of those of all runs.
func TestPlateau(t *testing.T) {
	s := study(t, 0.002, truth{name: "main.a", gain: 10, lo: 8, hi: 12, effect: 0.05, model: 0.05})
	s.Found[0].Most, s.Found[0].Ends = &why.Plateau{Pct: 40, Other: "main.b"}, []float64{31, 20, 24}
	if p := judge(t, s).Findings[0].Predicted; p.Plateau == nil || *p.Plateau != 24 || p.PlateauFor != "main.b" {
		t.Errorf("found %+v, expected 24 %%, then main.b", p)
	}
}

// Nothing found is said in words, with what bounds the run.
func TestNothing(t *testing.T) {
	s := study(t, 0.002, truth{name: "main.a", effect: 0, model: 0})
	s.Bound = "the run waits for most of the time"
	if a := judge(t, s); !strings.Contains(a.First, "gains anything: the run waits") {
		t.Errorf("found %q, expected what bounds the run", a.First)
	}
	if a := judge(t, &why.Study{}); a.Findings == nil || !strings.Contains(a.First, "gains anything") {
		t.Errorf("found %+v, expected no finding", a)
	}
}

// A brief answer has as many whole lines as fit.
func TestBrief(t *testing.T) {
	var parts []truth
	for _, name := range []string{"main.a", "main.b", "main.c"} {
		parts = append(parts, truth{name: name, gain: 5, lo: 4, hi: 6, effect: 0.05, model: 0.05})
	}
	a := judge(t, study(t, 0.002, parts...))
	all := a.Brief(4000)
	if n := strings.Count(all, "\n"); n != 4 || !strings.Contains(all, `verdict="confirmed"`) {
		t.Errorf("found %d lines, expected the sentence and three findings:\n%s", n, all)
	}
	if some := a.Brief(len(all) - 1); strings.Count(some, "\n") != 3 || !strings.HasPrefix(all, some) {
		t.Errorf("found %q, expected one line less", some)
	}
}

// Readers take any content, and return an error for what is no study.
func FuzzRead(f *testing.F) {
	text, err := json.Marshal(study(&testing.T{}, 0.01, truth{name: "main.a", gain: 1, effect: 0.1, model: 0.1}))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(text), "{}", "", `{"kind":"qinst why","version":1}`,
		`{"kind":"qinst why","version":1,"test":{"experiment":{}}}`,
		`{"kind":"qinst why","version":1,"candidates":[{"gains":[{},{}]}],"runs":[{}]}`,
		strings.Replace(string(text), `"model_s":[[`, `"model_s":[[7,`, 1)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		s, err := why.Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		if a, err := why.Judge(s); err == nil {
			_ = a.Brief(100)
		}
	})
}

// TestRule: that a run keeps the pace of a clock is said first, unless something gains much.
func TestRule(t *testing.T) {
	for gain, want := range map[float64]string{
		4:  "The run keeps the pace of a clock: main.tick (a.go:1) waits, so that neither less work nor more workers help.",
		30: "Let main.a do 20 % less at main.go:10, and the run becomes 30 % shorter (30 to 30); an experiment confirms it.",
	} {
		s := study(t, 0.002, truth{name: "main.a", gain: gain, lo: gain, hi: gain, effect: 0.05, model: 0.05})
		s.Found = append(s.Found, why.Candidate{Kind: "pace", Ruled: true, AtMost: 9e8,
			Subject: advice.Subject{Name: "main.tick"},
			Text:    "The run keeps the pace of a clock: main.tick (a.go:1) waits. If that pace is meant, nothing is slow here"})
		a := judge(t, s)
		if a.First != want {
			t.Errorf("gain of %g %%: found %q, expected %q", gain, a.First, want)
		}
		if f := finding(t, a, "main.tick"); f.Change != "change the pace of main.tick" || f.Verdict != why.Rules {
			t.Errorf("found %q, %s", f.Change, f.Verdict)
		}
	}
}
