package report_test

import (
	"bytes"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/why"
	"qinst.dev/internal/report"
)

// Findings are one table; what they have in common is said once, and what is not promised has no
// number.
func TestFindings(t *testing.T) {
	t.Parallel()
	busy, most := "the machine was busy", 15.
	a := &why.Answer{First: "Let main.a do 20 % less.", Run: why.Length{T: 1e9, Lo: 9e8, Hi: 11e8, Runs: 5},
		Bound: "all 2 processors are busy", Notes: []string{"runs differ"}, Findings: []why.Finding{
			{Place: why.Place{Subject: "main.a", File: "/src/a.go", Line: 3}, Change: "let main.a do 20 % less",
				Verdict: why.Undecided, Reason: busy,
				Predicted: &why.Predicted{Gain: 1e8, Pct: 10, Lo: 8, Hi: 12, Plateau: &most, PlateauFor: "main.b"},
				Tested:    &why.Tested{Delay: 2e8, Effect: 19e7, SE: 1e7, Model: 2e8}},
			{Change: "split main.mu", Verdict: why.NotTestable, Reason: "it is small", AtMost: 3e8,
				Text: "goroutines queue for it"},
			{Change: "let main.b do 20 % less", Verdict: why.Less, Reason: "delays do less",
				Predicted: &why.Predicted{Pct: 77}},
			{Change: "let main.c do 20 % less", Verdict: why.Undecided, Reason: busy},
			{Change: "raise GOGC", Verdict: why.Improves, Tried: &why.Tried{Setting: "GOGC=400", Pct: 9, Lo: 7, Hi: 11}},
		}}
	var text bytes.Buffer
	if err := report.Findings(a, false).WriteText(&text); err != nil {
		t.Fatal(err)
	}
	got := text.String()
	for _, want := range []string{
		"Let main.a do 20 % less.\n", "A run takes 1.00s (900ms to 1.10s in 5 runs).\n", "Now all 2 processors are busy.\n",
		"a.go:3", "10 % (8 to 12)", "190ms +- 10.0ms", "30.0% at most", "nothing is promised", "not known", "9 % (7 to 11)",
		"1, 4: undecided: the machine was busy.\n", "2: not testable: it is small.\n",
		"1: however much less, it gains 15 % at most: the run then takes its time for main.b.\n", "note: runs differ\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("found no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "77") || strings.Contains(got, "queue for it") {
		t.Errorf("found a gain that is not promised, or a text that nobody asked for:\n%s", got)
	}
	text.Reset()
	err := report.Findings(a, true).WriteText(&text)
	if err != nil || !strings.Contains(text.String(), "2. goroutines queue for it") {
		t.Errorf("found (%v)\n%s\nexpected the conclusion's text", err, text.String())
	}
}
