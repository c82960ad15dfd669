package experiment

import (
	"slices"

	"qinst.dev/internal/analysis/why"
	"qinst.dev/internal/report"
	"qinst.dev/internal/report/doc"
)

// ofStudy is a study of what to change: the gains of changes, and the experiment that tests them,
// next to the computed runs with the same delays.
func ofStudy(s *why.Study) (*Experiment, error) {
	a, err := why.Judge(s)
	if err != nil {
		return nil, err
	}
	said := report.Findings(a, false).Section("findings")
	y := &Experiment{Version: Version, Kind: Kind, By: why.FileKind, Program: s.Program.Name, Hash: s.Program.Hash,
		Args: s.Program.Args, Response: "time of a run", Unit: "s", Seed: &s.Seed, Said: texts(said, true)}
	gains := Plan{Title: "What changes gain", Factors: []Factor{}, Runs: []Run{}, Parts: []Part{}, Said: []*doc.Text{}}
	for i := range a.Findings {
		gains.Parts = append(gains.Parts, gain(a, &a.Findings[i]))
	}
	y.Plans = []Plan{gains}
	if s.Tested.Experiment == nil {
		return y, nil
	}
	x, err := ofDelays(s.Tested.Experiment)
	if err != nil {
		return nil, err
	}
	for i := range x.Plans {
		for k := range x.Plans[i].Parts {
			computed(a, &x.Plans[i].Parts[k])
		}
	}
	y.Plans = append(y.Plans, x.Plans...)
	return y, nil
}

// gain is what a finding promises, in s.
func gain(a *why.Answer, f *why.Finding) Part {
	part := Part{Names: []string{f.Change}, Verdict: string(f.Verdict), Note: f.Reason}
	seconds := func(percent float64) float64 { return percent / 100 * float64(a.Run.T) / 1e9 }
	if p := f.Predicted; p != nil && f.Promises() {
		lo, hi := seconds(p.Lo), seconds(p.Hi)
		part.Predicted, part.PredictedBy = &Interval{Value: seconds(p.Pct), Low: &lo, High: &hi}, "computed runs"
		part.Found = p.Lo > 0
		for _, l := range p.Curve {
			part.Curve = append(part.Curve, Point{l.By, seconds(l.Gain)})
		}
	}
	if t := f.Tried; t != nil {
		lo, hi := seconds(t.Lo), seconds(t.Hi)
		part.Measured, part.Found = &Interval{Value: seconds(t.Pct), Low: &lo, High: &hi}, t.Lo > 0
	}
	return part
}

// computed gives the effect of delays what the computed run has with the same ones.
func computed(a *why.Answer, part *Part) {
	i := slices.IndexFunc(a.Findings, func(f why.Finding) bool {
		return f.Tested != nil && len(part.Names) == 1 && f.Subject == part.Names[0]
	})
	if i < 0 {
		return
	}
	f := &a.Findings[i]
	part.Predicted, part.PredictedBy = &Interval{Value: float64(f.Tested.Model) / 1e9}, "the computed run with the same delays"
	part.Verdict, part.Note = string(f.Verdict), f.Reason
}
