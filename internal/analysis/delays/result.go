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

// Version is that of a [Result] as JSON.
const Version = 1

// Result is what an experiment tells.
type Result struct {
	Version    int          `json:"version"`
	Design     string       `json:"design"`
	Resolution int          `json:"resolution"`
	Seed       uint64       `json:"seed"`
	Delay      float64      `json:"delay_ns"` // of every factor; 0: each has its own
	Unit       string       `json:"unit"`
	Plans      []PlanResult `json:"plans"`
	Classes    []Class      `json:"classes"`
	Barriers   []Barrier    `json:"barriers"`
	Notes      []string     `json:"notes"`
}

// PlanResult is what the runs of one plan tell.
type PlanResult struct {
	Procs        int           `json:"procs"`
	Stage        Stage         `json:"stage"`
	Runs         int           `json:"runs"`
	Failed       int           `json:"failed"`
	Strange      int           `json:"strange"`
	Base         float64       `json:"base"` // the median response without delays
	SEMethod     string        `json:"se_method"`
	DF           float64       `json:"df"`
	Effects      []Effect      `json:"effects"` // the largest first
	Interactions []Interaction `json:"interactions"`
	Curvature    *doe.Effect   `json:"curvature,omitempty"` // of runs with all delays halfway

	// Points are all effects and interactions by size, with the half-normal quantile of their rank: noise lies on a line through 0.
	Points []Point `json:"half_normal"`
	// Residuals are, in the order of the runs, how far responses are from what the mean and the significant effects tell.
	Residuals []float64 `json:"residuals"`
}

// Point is one of a half-normal plot.
type Point struct {
	Name        string  `json:"name"`
	Quantile    float64 `json:"quantile"`
	Size        float64 `json:"size"`
	Significant bool    `json:"significant"`
}

// Effect is by how much the response rises with a factor's delay.
type Effect struct {
	Rank        int     `json:"rank"`
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	Construct   string  `json:"construct"`
	File        string  `json:"file"`
	Line        int     `json:"line"`
	Effect      float64 `json:"effect"`
	SE          float64 `json:"se"`
	Low         float64 `json:"lo"`
	High        float64 `json:"hi"`
	PHolm       float64 `json:"p_holm"`
	Significant bool    `json:"significant"`
	Visits      float64 `json:"visits"`
	Takes       float64 `json:"takes_ns"` // of a visit, as of [Factor]
	Delay       float64 `json:"delay_ns"`
	PerVisit    float64 `json:"per_visit"` // for each visit and unit of the delay: dT/dt, if the response is the run's time
	PerVisitSE  float64 `json:"per_visit_se"`

	Weight *float64 `json:"weight"` // the same, as the critical path of the first run tells it; null: it does not tell

	Factor int `json:"-"` // in [Experiment.Factors]
}

// Lost reports whether all delays of a factor take less time together than what an effect would have to be to be seen. What it says then is chance, whatever its p.
// It is about experiments whose response is the time that passes.
func (e *Effect) Lost() bool { return e.Visits*e.Delay/1e9 < (e.High-e.Low)/2 }

// Less is by how much the response changes if all visits together take a tenth less, with the ends of its interval: what delays do, the other way round. It is 0 where nobody knows
// what a visit takes.
func (e *Effect) Less() (change, lo, hi float64) {
	if e.Delay == 0 {
		return 0, 0, 0
	}
	part := -0.1 * e.Takes / e.Delay
	return part * e.Effect, part * e.High, part * e.Low
}

// Best reports whether no other plan with as many processors tells more of a factor than this one. The last plan tells most, because fewer others are delayed
// meanwhile; unless it sees nothing, and an earlier one knew more.
func (r *Result) Best(p *PlanResult, e *Effect) bool {
	var best *Effect
	for i := range r.Plans {
		if q := &r.Plans[i]; q.Procs == p.Procs {
			if x := q.of(e.Factor); x != nil && (best == nil || x.Significant || x.SE < best.SE) {
				best = x
			}
		}
	}
	return best == nil || best == p.of(e.Factor)
}

// Interaction is half of how much the effect of one factor differs between levels of the others.
type Interaction struct {
	Names  []string `json:"names"`
	Effect float64  `json:"effect"`
	SE     float64  `json:"se"`
	PHolm  float64  `json:"p_holm"`

	// Aliases are others that the plan does not tell from it: any of them may be the one that is there, or several.
	Aliases [][]string `json:"aliases,omitempty"`
}

// Analyze finds effects, and how they change with the number of processors.
func Analyze(e *Experiment) (*Result, error) {
	r := &Result{Version: Version, Seed: e.Seed, Unit: e.Unit, Plans: []PlanResult{}, Classes: []Class{}, Barriers: []Barrier{}, Notes: slices.Clone(e.Notes)}
	for i := range e.Plans {
		p := &e.Plans[i]
		if p.Missing() > 0 {
			r.Notes = append(r.Notes, strconv.Itoa(p.Missing())+" of "+strconv.Itoa(len(p.Runs))+" runs of a plan ("+string(p.Stage)+") were not made: it tells nothing yet")
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
	one := &PlanResult{Procs: p.Procs, Stage: p.Stage, Runs: len(p.Runs), Failed: p.Failed, Strange: p.Strange, Base: stats.Median(slices.Sorted(slices.Values(p.Base))),
		SEMethod: f.SEMethod, DF: f.DF, Effects: []Effect{}, Interactions: []Interaction{}, Curvature: f.Curvature}
	// Whoever delays parts of a program asks which of them matter, and only then which of these depend on each other. So main effects are tested on their own.
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
		one.Points = append(one.Points, Point{strings.Join(e.labels(x.Name, at), " : "), x.Quantile, math.Abs(x.Effect), x.Significant})
		if x.Significant {
			names = append(names, x.Name)
		}
	}
	slices.SortStableFunc(one.Points, func(a, b Point) int { return cmp.Compare(a.Quantile, b.Quantile) })
	one.Residuals = e.residuals(p, f, names)
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

// leastInteractions must there be to tell an error.
const leastInteractions = 8

// fit finds effects. Without replicates most interactions are taken for noise, where there are enough of them, and not most of all effects: nearly every part of a program
// that is delayed makes the run longer, some more than others, so that half of the effects may be real.
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

// residuals are what significant effects, whose names are given, and differences between blocks do not explain.
func (e *Experiment) residuals(p *Plan, f *doe.Fit, significant []string) []float64 {
	list := make([]float64, len(p.Runs))
	for i, r := range p.Runs {
		list[i] = r.Response - f.Mean
		for _, x := range f.Effects {
			if !slices.Contains(significant, x.Name) {
				continue
			}
			sign := 1.
			for n := range strings.SplitSeq(x.Name, ":") {
				k := slices.IndexFunc(p.Factors, func(of int) bool { return strconv.Itoa(of) == n })
				sign *= float64(r.Levels[k])
			}
			list[i] -= sign * x.Effect / 2
		}
	}
	sum, n := map[int]float64{}, map[int]float64{}
	for i, r := range p.Runs {
		sum[r.Block], n[r.Block] = sum[r.Block]+list[i], n[r.Block]+1
	}
	for i, r := range p.Runs {
		list[i] -= sum[r.Block] / n[r.Block]
	}
	return list
}

// effect is a factor's.
func (e *Experiment) effect(p *Plan, of int, x *doe.Effect) Effect {
	f, part := &e.Factors[of], e.part(p, of)
	y := Effect{ID: f.ID, Name: f.Name, Construct: f.Construct, File: f.File, Line: f.Line, Effect: x.Effect, SE: x.SE, Low: x.Low, High: x.High, PHolm: x.PHolm,
		Significant: x.Significant, Visits: part.Visits, Takes: part.Takes, Delay: f.Delay, Weight: part.Weight, Factor: of}
	if work := part.Visits * f.Delay / 1e9; work > 0 {
		y.PerVisit, y.PerVisitSE = x.Effect/work, x.SE/work
	}
	return y
}
