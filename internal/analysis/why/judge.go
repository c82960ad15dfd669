package why

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/stats"
)

const (
	// agrees is the error of computed effects, as a share of them: two points of a gain of ten
	agrees = 0.2
	// sees is the share of the computed effect that an experiment must be able to see.
	sees = 1. / 3
	// worthIt is the gain from which a finding is the first sentence, in percent of the run.
	worthIt = 1
	// beyond is the effect, as a multiple of all delays, from which these have changed how the
	// program is scheduled: between pieces of work of some microseconds threads stay awake, and a
	// delay lets them fall asleep.
	beyond = 1.1
	// muchLonger, and starts in ns, is by how much runs without delays may take longer.
	muchLonger, starts = 1.25, 3e7
	// mostLoad is how many threads more than processors could run that are taken for none.
	mostLoad = 0.5
	// points is how well a gain is known that is confirmed, in percent of the run, if it is small.
	points = 3
	// nothing is the share of delays below which the run does not depend on them.
	nothing = 0.1
	// unknownWorth is the worth of a conclusion whose gain has no bound, in percent of the run.
	unknownWorth = 25
	// partWorth is the weight of the middle of an interval whose lower end may be 0, for less work
	// in a part, and mechanismWorth that for a conclusion, and of the bound of an unknown gain:
	// that names what is wrong, while less work gains something nearly everywhere.
	partWorth, mechanismWorth = 0.25, 0.4
	// doubt is the weight of less work whose gain no experiment confirms, next to what one does.
	doubt = 0.8
)

// Judge judges all candidates of a study: those that gain most first, and last those that promise
// nothing.
func Judge(s *Study) (*Answer, error) {
	tests, err := s.Tested.tested()
	if err != nil {
		return nil, err
	}
	a := &Answer{Version: Version, Run: s.length(), Bound: s.Bound, Findings: []Finding{},
		Notes: append([]string{}, s.Notes...), Load: s.Program.Load, Failed: s.Failed}
	if s.Tested.Experiment != nil {
		a.Notes = append(a.Notes, s.Tested.Experiment.Notes...)
	}
	for i := range s.Found {
		a.Findings = append(a.Findings, s.finding(&s.Found[i], tests[s.Found[i].Factor]))
	}
	slices.SortStableFunc(a.Findings, func(x, y Finding) int {
		return cmp.Compare(y.worth(a.Run.T), x.worth(a.Run.T))
	})
	a.First = a.first()
	return a, nil
}

func (s *Study) length() Length {
	var all []int64
	for _, r := range s.Runs {
		all = append(all, r.T)
	}
	if len(all) == 0 {
		return Length{}
	}
	slices.Sort(all)
	return Length{stats.Median(all), all[0], all[len(all)-1], len(all)}
}

// finding judges one candidate.
func (s *Study) finding(c *Candidate, t *Tested) Finding {
	f := Finding{ID: c.ID(), Kind: c.Kind, Place: Place{c.Subject.Name, c.Subject.File, c.Subject.Line},
		Change: c.words(s.By), WhatIf: c.WhatIf, AtMost: c.AtMost, Defect: c.Defect, Tested: t, Text: c.Text,
		Evidence: append([]advice.Fact{}, c.Facts...)}
	if c.Kind == Part {
		f.By = s.By
	}
	f.Predicted = c.predicted(s.length().T)
	f.Tried = s.tried(c)
	f.Verdict, f.Reason = s.verdict(c, &f)
	f.Reason = s.tie(c, &f)
	if f.seldom = c.Seen > 0 && 2*c.Seen < len(s.Runs); f.seldom {
		f.Reason = strings.TrimPrefix(fmt.Sprintf("%s; only %d of %d runs show it", f.Reason, c.Seen, len(s.Runs)), "; ")
	}
	return f
}

// ID is the same in each study of a program.
func (c *Candidate) ID() string {
	return fmt.Sprintf("%s %s %s", c.Kind, c.Subject.Kind, c.Subject.Name)
}

// predicted is the gain of a candidate from the runs that have one; nil: most have none.
func (c *Candidate) predicted(t int64) *Predicted {
	var known []predict.Change
	for _, g := range c.Gains {
		if g.Unknown == "" {
			known = append(known, g)
		}
	}
	of := len(c.Gains)
	if c.Seen > 0 { // runs that do not show a conclusion know nothing of its gain
		of = c.Seen
	}
	if len(known) == 0 || 2*len(known) < of {
		return nil
	}
	g := predict.JoinChanges(known)
	p := &Predicted{Gain: int64(math.Round(g.GainPct / 100 * float64(t))), Pct: max(0, g.GainPct),
		Lo: max(0, g.LoPct), Hi: max(0, g.HiPct)}
	if c.Kind == Part {
		p.Curve = c.Curve
	}
	if c.Most != nil && c.Kind == Part && c.Most.Pct > 0 {
		most := c.Most.Pct
		if len(c.Ends) > 0 {
			most = stats.Median(slices.Sorted(slices.Values(c.Ends)))
		}
		p.Plateau, p.PlateauFor = &most, c.Most.Other
	}
	return p
}

// tried is the effect of a setting; nil: none was tried for the candidate.
func (s *Study) tried(c *Candidate) *Tried {
	i := slices.IndexFunc(s.Settings, func(t Setting) bool {
		return t.Kind == c.Kind && (t.Capacity == 0 || t.Subject == c.Subject.Name)
	})
	if i < 0 {
		return nil
	}
	t := &s.Settings[i]
	ratio, ok := stats.Ratio(t.Base, t.Change)
	if !ok {
		return nil
	}
	return &Tried{t.Text, 100 * (1 - ratio.Mean), 100 * (1 - ratio.High), 100 * (1 - ratio.Low), t.ask()}
}

// verdict compares a promise with the test of it. The reason may be empty.
func (s *Study) verdict(c *Candidate, f *Finding) (Verdict, string) {
	if f.Tried != nil {
		switch {
		case f.Tried.Lo > 0:
			return Improves, "tried with " + f.Tried.Setting
		case f.Tried.Hi < 0:
			return Worsens, "tried with " + f.Tried.Setting
		}
		return Undecided, fmt.Sprintf("%s made the %s shorter by %.0f %% (%.0f to %.0f), which may be chance", f.Tried.Setting,
			s.what(), f.Tried.Pct, f.Tried.Lo, f.Tried.Hi)
	}
	if c.Ruled {
		return Rules, "a clock of the program's decides, and no work"
	}
	if f.Tested == nil {
		return NotTestable, s.untested(c)
	}
	if s.busier() {
		return Undecided, "the machine was busier in the experiment than before"
	}
	verdict, reason := f.Tested.verdict()
	if load := s.load(); verdict == More && load > float64(s.Machine.Processors)+mostLoad {
		return Undecided, fmt.Sprintf("%.1f threads of all programs could run on %d processors: there delays take longer than their time",
			load, s.Machine.Processors)
	}
	if t := f.Tested; verdict == More && float64(t.Effect)-t.seen > beyond*float64(t.Delay) {
		return Undecided, fmt.Sprintf("delays of %s make the run %s longer, which is more than all of them: they change how the program is scheduled, and say nothing about less work",
			measure.Time(t.Delay), measure.Time(t.Effect))
	}
	if p := f.Predicted; verdict == Confirmed && p != nil && !p.sharp() {
		return Undecided, fmt.Sprintf("delays do what they do to the computed run, but the gain is only known as %.0f to %.0f %%",
			p.Lo, p.Hi)
	}
	if verdict == NoEffect && f.Predicted != nil && f.Predicted.Pct >= worthIt {
		reason = "the run does not wait for it: delays do not make it longer"
	}
	return verdict, reason
}

// tie says that a part has a near-tie, beside a verdict and its reason.
func (s *Study) tie(c *Candidate, f *Finding) string {
	if f.Tested == nil || f.Verdict != Confirmed && f.Verdict != Undecided || !s.tied(c, f) {
		return f.Reason
	}
	return strings.TrimPrefix(f.Reason+"; others take nearly as long: more work in it makes the run longer, and less gains little", "; ")
}

// sharp reports whether a gain is known to a factor of two, or to some points.
func (p *Predicted) sharp() bool {
	return p.Hi <= max(2*p.Pct, p.Pct+points) && p.Lo >= min(p.Pct/2, p.Pct-points)
}

// busier reports whether runs of the experiment without any delay took longer than those from which
// gains are computed, by more than recording and starting can be.
func (s *Study) busier() bool {
	base := stats.Median(slices.Sorted(slices.Values(s.Tested.Experiment.Plans[0].Base))) * 1e9
	return base > muchLonger*float64(s.length().T)+starts
}

// load is how many threads could run in the runs of the experiment, those of other programs, too.
func (s *Study) load() float64 {
	var all []float64
	for _, r := range s.Tested.Experiment.Plans[0].Runs {
		all = append(all, r.Load)
	}
	slices.Sort(all)
	return stats.Median(all)
}

// tied reports whether a unit of less work gains less than half of the cost of a unit more.
func (s *Study) tied(c *Candidate, f *Finding) bool {
	if c.Kind != Part || c.Work == 0 || f.Predicted == nil || f.Tested.Delay == 0 {
		return false
	}
	costs := float64(f.Tested.Model) / float64(f.Tested.Delay)
	gains := float64(f.Predicted.Gain) / (s.By / 100 * c.Work)
	return costs > nothing && gains < costs/2
}

// untested is why a candidate was not tested.
func (s *Study) untested(c *Candidate) string {
	for _, r := range s.Tested.Refused {
		if r.Factor == c.Factor {
			return r.Why
		}
	}
	switch {
	case s.Failed != "":
		return "the program fails"
	case c.Untested != "":
		return c.Untested
	case s.Tested.Experiment == nil:
		return "no experiment was made"
	case len(s.Tested.Model) == 0:
		return "the run cannot be computed with delays"
	}
	return "others gain more, or have more work"
}

// verdict compares the effect of delays with that on the computed run.
func (t *Tested) verdict() (Verdict, string) {
	effect, model := float64(t.Effect), float64(t.Model)
	apart := math.Hypot(math.Hypot(t.seen, t.off), agrees*max(math.Abs(effect), math.Abs(model)))
	switch {
	case math.Abs(model) < t.seen && math.Abs(effect) < t.seen:
		if t.seen > sees*float64(t.Delay) {
			return Undecided, t.unseen()
		}
		return NoEffect, ""
	case effect < model-apart:
		return Less, t.differ()
	case effect > model+apart:
		return More, t.differ()
	case t.seen > sees*model:
		return Undecided, t.unseen()
	case t.off > sees*max(effect, model):
		return Undecided, "computed runs differ too much: their effect is only known to " + measure.Time(int64(t.off))
	}
	return Confirmed, ""
}

func (t *Tested) unseen() string {
	return fmt.Sprintf("runs differ too much: an effect of less than %s would not be seen",
		measure.Time(int64(t.seen)))
}

func (t *Tested) differ() string {
	return fmt.Sprintf("delays of %s make the run %s longer, and the computed run %s", measure.Time(t.Delay),
		measure.Time(t.Effect), measure.Time(t.Model))
}

// Promises reports whether a finding promises its gain.
func (f *Finding) Promises() bool {
	switch f.Verdict {
	case Less, More, Worsens:
		return false
	case NoEffect:
		return f.Predicted == nil || f.Predicted.Pct < worthIt
	}
	return true
}

// Measured reports whether the gain was measured, by a change without an editor.
func (f *Finding) Measured() bool { return f.Verdict == Improves || f.Verdict == Worsens }

// worth orders findings, in percent of a run of t ns. Where delays cost more than computed the gain
// is not known, but hardly less than that of the computed run.
func (f *Finding) worth(t int64) float64 {
	switch {
	case f.Defect:
		return math.Inf(1)
	case !f.Promises() && f.Verdict != More:
		return -1
	case f.seldom:
		return 0
	case f.Verdict == Improves:
		return max(f.Tried.Lo, mechanismWorth*f.Tried.Pct)
	case f.Predicted == nil && f.Kind == Part || f.Verdict == Rules:
		return 0
	case f.Predicted == nil && f.AtMost == 0:
		return unknownWorth
	case f.Predicted == nil:
		return mechanismWorth * 100 * measure.Ratio(f.AtMost, t)
	}
	known := func(weight float64) float64 { return max(f.Predicted.Lo, weight*f.Predicted.Pct) }
	switch {
	case f.Kind != Part:
		return known(mechanismWorth)
	case f.Verdict != Confirmed:
		return doubt * known(partWorth)
	}
	return known(partWorth)
}
