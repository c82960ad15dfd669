package experiment

import (
	"cmp"
	"fmt"
	"strings"

	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report"
	"qinst.dev/internal/report/doc"
)

// ofDelays is an experiment with delays.
func ofDelays(x *delays.Experiment) (*Experiment, error) {
	r, err := delays.Analyze(x)
	if err != nil {
		return nil, err
	}
	page := report.Delays(x, r)
	y := &Experiment{Version: Version, Kind: Kind, By: "qinst spt", Program: x.Program, Hash: x.Hash, Args: x.Args,
		Response: report.Response(x), Unit: x.Unit, Seed: &x.Seed, Said: texts(page.Section("delays"), true), Plans: []Plan{}}
	analyzed := 0 // of the plans, which are in the same order; those that lack runs have no result
	for i := range x.Plans {
		p := &x.Plans[i]
		var one *delays.PlanResult
		var section *doc.Section
		if p.Missing() == 0 {
			one = &r.Plans[analyzed]
			analyzed++
			section = page.Section(fmt.Sprintf("plan-%d", analyzed))
		}
		y.Plans = append(y.Plans, planOf(x, r, p, one, section))
	}
	return y, nil
}

// planOf is a plan with its result, if there is one, and the statements of its section of the
// report.
func planOf(x *delays.Experiment, r *delays.Result, p *delays.Plan, one *delays.PlanResult, section *doc.Section) Plan {
	y := Plan{Title: string(p.Stage), Design: p.Design, Resolution: p.Resolution, Procs: p.Procs, Factors: []Factor{},
		Runs: []Run{}, Parts: []Part{}, Said: []*doc.Text{}}
	for _, i := range p.Factors {
		f := &x.Factors[i]
		y.Factors = append(y.Factors, Factor{f.Label(), f.Construct, "no delay",
			fmt.Sprintf("%s at each of %s visits", measure.Time(int64(f.Delay)), measure.Count(uint64(f.Visits)))})
	}
	for i, run := range p.Runs {
		if !run.Made {
			continue
		}
		made := Run{Block: run.Block, Levels: signs(run.Levels), Response: run.Response}
		if one != nil {
			made.Residual = &one.Residuals[i]
		}
		y.Runs = append(y.Runs, made)
	}
	if one == nil {
		return y
	}
	y.Title, y.Deviation, y.Said = section.Title, one.Deviation, texts(section, false)
	if one.Stage == delays.Pairs {
		y.Parts = barriers(r)
		return y
	}
	for i := range one.Effects {
		y.Parts = append(y.Parts, effect(x, &one.Effects[i]))
	}
	for i := range one.Interactions {
		y.Parts = append(y.Parts, interaction(one, &one.Interactions[i]))
	}
	return y
}

// halved explains the number of an interaction.
const halved = "interaction: half of the difference that one makes to the effect of the other"

// interaction has an interval that is as wide, in standard errors, as those of effects.
func interaction(p *delays.PlanResult, i *delays.Interaction) Part {
	part := Part{Names: i.Names, Measured: &Interval{Value: i.Effect, SE: &i.SE}, Found: true, Verdict: "significant",
		Note: halved}
	if e := p.Effects[0]; e.SE > 0 {
		half := (e.High - e.Effect) / e.SE * i.SE
		part.Measured = About(i.Effect, i.SE, i.Effect-half, i.Effect+half)
	}
	if len(i.Aliases) > 0 {
		part.Note += ", or that of " + strings.Join(i.Aliases[0], " and ") + ", which this plan does not tell apart"
	}
	return part
}

// effect is that of a factor's delays. The prediction is from the critical path of the first run:
// its weight is the part of the delays by which the run becomes longer.
func effect(x *delays.Experiment, e *delays.Effect) Part {
	part := Part{Names: []string{x.Factors[e.Factor].Label()}, Measured: About(e.Effect, e.SE, e.Low, e.High),
		Found: e.Significant, Verdict: "no more than noise"}
	if e.Significant {
		part.Verdict = "significant"
	}
	if x.Metric != "" || x.Asked.Load != "" { // weights are of the run's time
		return part
	}
	if e.Lost() {
		part.Found, part.Verdict = false, "delays too short to see"
	}
	if e.Weight != nil {
		part.Predicted = &Interval{Value: *e.Weight * e.Visits * e.Delay / 1e9}
		part.PredictedBy = "the critical path of the first run"
		switch {
		case e.Lost():
		case e.Doubts():
			part.Verdict += ", not as predicted"
		default:
			part.Verdict += ", as predicted"
		}
	}
	return part
}

// barriers are the pairs of a plan, by the waits of early arrivals.
func barriers(r *delays.Result) []Part {
	list := []Part{}
	for _, b := range r.Barriers {
		part := Part{Names: []string{b.Name}, Found: b.Verdict == delays.Costly, Verdict: b.Verdict,
			Note: "nothing is known: fewer arrived than were to"}
		if b.Difference != nil {
			part.Measured, part.Note = About(*b.Difference, *b.SE, *b.Low, *b.High), "waits of early arrivals"
		}
		list = append(list, part)
	}
	return list
}

// signs are levels as text.
func signs(levels []int8) string {
	var b strings.Builder
	for _, x := range levels {
		b.WriteByte("-0+"[cmp.Compare(x, 0)+1])
	}
	return b.String()
}

// texts are the statements of a section, notes only if they are asked for.
func texts(s *doc.Section, notes bool) []*doc.Text {
	list := []*doc.Text{}
	for _, b := range s.Blocks {
		if b.Text != nil && (notes || b.Text.Kind != doc.Note) {
			list = append(list, b.Text)
		}
	}
	return list
}
