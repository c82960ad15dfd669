package delays

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"qinst.dev/internal/analysis/doe"
	"qinst.dev/internal/stats"
)

// Analyze finds effects, and how they change with the number of processors.
func Analyze(e *Experiment) (*Result, error) {
	r := &Result{Version: Version, Seed: e.Seed, Unit: e.Unit, Plans: []PlanResult{}, Classes: []Class{},
		Barriers: []Barrier{}, Notes: slices.Clone(e.Notes)}
	for i := range e.Plans {
		p := &e.Plans[i]
		if p.Missing() > 0 {
			r.Notes = append(r.Notes, strconv.Itoa(p.Missing())+" of "+strconv.Itoa(len(p.Runs))+" runs of a plan ("+
				string(p.Stage)+") were not made: it tells nothing yet")
			continue
		}
		if r.Design == "" {
			r.Design, r.Resolution = p.Design, p.Resolution
		}
		one, err := e.analyze(p)
		if err != nil {
			return nil, err
		}
		r.Plans = append(r.Plans, *one)
		if p.Stage == Pairs {
			r.Barriers = append(r.Barriers, e.barriersOf(one)...)
		}
	}
	for i := range e.Factors {
		if r.Delay = e.Factors[i].Delay; r.Delay != e.Factors[0].Delay {
			r.Delay = 0
			break
		}
	}
	r.Classes = e.classes(r)
	if r.Notes == nil {
		r.Notes = []string{}
	}
	return r, nil
}

// analyze finds the effects of a plan.
func (e *Experiment) analyze(p *Plan) (*PlanResult, error) {
	names := make([]string, len(p.Factors))
	at := map[string]int{}
	for i := range names {
		names[i] = strconv.Itoa(p.Factors[i]) // names may be those of several factors, or have a colon
		at[names[i]] = p.Factors[i]
	}
	d := &doe.Data{Factors: names, Response: e.Unit}
	for _, r := range p.Runs {
		d.Runs = append(d.Runs, doe.Observed{Run: doe.Run{Block: r.Block, Levels: r.Levels}, Response: r.Response})
	}
	f, err := e.fit(d)
	if err != nil {
		return nil, err
	}
	one := &PlanResult{Procs: p.Procs, Stage: p.Stage, Runs: len(p.Runs), Failed: p.Failed, Strange: p.Strange,
		Base:     stats.Median(slices.Sorted(slices.Values(p.Base))),
		Plain:    stats.Median(slices.Sorted(slices.Values(p.Plain))),
		SEMethod: f.SEMethod, DF: f.DF, Effects: []Effect{}, Interactions: []Interaction{}, Curvature: f.Curvature}
	// Whoever delays parts of a program asks which of them matter, and only then which of these
	// depend on each other. So main effects are tested on their own.
	var main, others []doe.Effect
	for _, x := range f.Effects {
		if _, ok := at[x.Name]; ok {
			main = append(main, x)
		} else {
			others = append(others, x)
		}
	}
	doe.Holm(main, e.Alpha)
	doe.Holm(others, e.Alpha)
	for i := range main {
		one.Effects = append(one.Effects, e.effect(p, at[main[i].Name], &main[i]))
	}
	names = nil
	for _, x := range slices.Concat(main, others) {
		one.Points = append(one.Points, Point{strings.Join(e.labels(x.Name, at), " : "), x.Quantile, math.Abs(x.Effect),
			x.Significant})
		if x.Significant {
			names = append(names, x.Name)
		}
	}
	slices.SortStableFunc(one.Points, func(a, b Point) int { return cmp.Compare(a.Quantile, b.Quantile) })
	one.Residuals, one.Deviation = d.Residuals(f, names)
	for _, x := range others {
		if x.Significant {
			between := Interaction{Names: e.labels(x.Name, at), Effect: x.Effect, SE: x.SE, PHolm: x.PHolm}
			for _, a := range x.Aliases {
				between.Aliases = append(between.Aliases, e.labels(strings.TrimPrefix(a, "-"), at))
			}
			one.Interactions = append(one.Interactions, between)
		}
	}
	slices.SortStableFunc(one.Effects, func(a, b Effect) int {
		if e.Metric != "" { // of a rate it is bad to fall
			return cmp.Compare(math.Abs(b.Effect), math.Abs(a.Effect))
		}
		return cmp.Compare(b.Effect, a.Effect)
	})
	for i := range one.Effects {
		one.Effects[i].Rank = i + 1
	}
	return one, nil
}

// fit finds effects. Without replicates most interactions are taken for noise, where there are
// enough of them, and not most of all effects: nearly every part of a program that is delayed makes
// the run longer, some more than others, so that half of the effects may be real.
func (e *Experiment) fit(d *doe.Data) (*doe.Fit, error) {
	f, err := d.Fit(doe.Method{}, e.Alpha)
	if err != nil || f.SEMethod != doe.Lenth {
		return f, err
	}
	interactions := 0
	for _, x := range f.Effects {
		if strings.Contains(x.Name, ":") {
			interactions++
		}
	}
	if interactions < leastInteractions {
		return f, nil
	}
	return d.Fit(doe.Method{Name: doe.Lenth, Order: 2}, e.Alpha)
}

// labels are the names of the factors of an effect or interaction, which has their numbers.
func (e *Experiment) labels(numbers string, at map[string]int) (list []string) {
	for n := range strings.SplitSeq(numbers, ":") {
		list = append(list, e.Factors[at[n]].Label())
	}
	return list
}

// effect is a factor's.
func (e *Experiment) effect(p *Plan, of int, x *doe.Effect) Effect {
	f, part := &e.Factors[of], e.part(p, of)
	y := Effect{ID: f.ID, Name: f.Name, Construct: f.Construct, File: f.File, Line: f.Line, Effect: x.Effect, SE: x.SE,
		Low: x.Low, High: x.High, PHolm: x.PHolm,
		Significant: x.Significant, Visits: part.Visits, Takes: part.Takes, Delay: f.Delay, Weight: part.Weight,
		Gain: f.Gain, Factor: of}
	if len(p.Parts) == 0 {
		y.TakesIn = f.TakesIn
	}
	if work := part.Visits * f.Delay / 1e9; work > 0 {
		y.PerVisit, y.PerVisitSE = x.Effect/work, x.SE/work
	}
	return y
}
