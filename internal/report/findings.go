package report

import (
	"fmt"
	"path/filepath"
	"strings"

	"qinst.dev/internal/analysis/why"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
)

// Findings writes what to change, what it gains, and what tests say of that. All of it has the
// conclusions' texts and evidence, too.
func Findings(a *why.Answer, all bool) *doc.Doc {
	d := &doc.Doc{Title: "findings"}
	s := d.Add("findings", "")
	s.Say("%s", a.First)
	if a.Failed == "" {
		s.Say("A %s takes %s (%s to %s in %d runs).", a.What(), measure.Time(a.Run.T), measure.Time(a.Run.Lo),
			measure.Time(a.Run.Hi), a.Run.Runs)
	} else {
		s.Say("The program fails each time (%s), so that no gain is known. The last run took %s.", a.Failed,
			measure.Time(a.Run.T))
	}
	if a.Bound != "" {
		s.Say("Now %s.", a.Bound)
	}
	t := doc.NewTable("rank", "change", "place", "gain", "of the "+a.What(), "delays", "lengthen it by", "computed",
		"verdict").Left(1, 2, 8)
	for i := range a.Findings {
		f := &a.Findings[i]
		effect, delay, model := "", "", ""
		if f.Tested != nil {
			delay, model = measure.Time(f.Tested.Delay), measure.Time(f.Tested.Model)
			effect = measure.Time(f.Tested.Effect) + " +- " + measure.Time(f.Tested.SE)
		}
		ns, percent := gainOf(f, a.Run.T)
		t.Row(fmt.Sprint(i+1), doc.Name(f.Change, 2*nameWidth), placeOf(f), ns, percent, delay, effect, model,
			string(f.Verdict))
	}
	s.Table(t)
	reasons(s, a)
	if all {
		for i := range a.Findings {
			if f := &a.Findings[i]; f.Text != "" {
				s.Say("%d. %s", i+1, f.Text)
			}
		}
	}
	for _, n := range a.Notes {
		s.Note("%s", n)
	}
	return d
}

func placeOf(f *why.Finding) string {
	if f.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
}

// gainOf is the gain of a finding, in time and as a share of a run of run ns, with its interval; in
// words where there is none.
func gainOf(f *why.Finding, run int64) (ns, percent string) {
	switch {
	case f.Measured():
		return "", fmt.Sprintf("%.0f %% (%.0f to %.0f)", f.Tried.Pct, f.Tried.Lo, f.Tried.Hi)
	case !f.Promises():
		return "", "nothing is promised"
	case f.Predicted == nil && f.AtMost > 0:
		return "", fmt.Sprintf("%s at most", measure.Percent(f.AtMost, run))
	case f.Predicted == nil:
		return "", "not known"
	}
	p := f.Predicted
	return measure.Time(p.Gain), fmt.Sprintf("%.0f %% (%.0f to %.0f)", p.Pct, p.Lo, p.Hi)
}

// reasons gives the reasons of verdicts, each once with all of its findings, and the ends of gains.
func reasons(s *doc.Section, a *why.Answer) {
	ranks, order := map[string][]string{}, []string{}
	for i := range a.Findings {
		f := &a.Findings[i]
		if f.Reason == "" {
			continue
		}
		text := fmt.Sprintf("%s: %s", f.Verdict, f.Reason)
		if ranks[text] == nil {
			order = append(order, text)
		}
		ranks[text] = append(ranks[text], fmt.Sprint(i+1))
	}
	for _, text := range order {
		s.Say("%s: %s.", strings.Join(ranks[text], ", "), text)
	}
	for i := range a.Findings {
		f := &a.Findings[i]
		if f.Predicted == nil || f.Predicted.Plateau == nil || !f.Promises() {
			continue
		}
		p, other := f.Predicted, ""
		if p.PlateauFor != "" {
			other = fmt.Sprintf(": the run then takes its time for %s", p.PlateauFor)
		}
		s.Say("%d: however much less, it gains %.0f %% at most%s.", i+1, *p.Plateau, other)
	}
}
