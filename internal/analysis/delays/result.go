package delays

import (
	"slices"

	"qinst.dev/internal/analysis/doe"
)

// Version is that of a [Result] as JSON.
const Version = 1

// Result is the evaluation of an experiment.
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

// PlanResult is the evaluation of one plan.
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

	// Points are all effects and interactions by size, with the half-normal quantile of their rank:
	// noise lies on a line through 0.
	Points []Point `json:"half_normal"`
	// Residuals are, in the order of the runs, the responses less the mean and the significant
	// effects.
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
	// for each visit and unit of the delay: dT/dt, if the response is the run's time
	PerVisit   float64 `json:"per_visit"`
	PerVisitSE float64 `json:"per_visit_se"`

	Weight *float64 `json:"weight"` // the same from the critical path of the first run; null: not known

	Factor int `json:"-"` // in [Experiment.Factors]
}

// Lost reports whether all delays of a factor together take less time than the smallest effect that
// could be seen. Its effect is chance then, whatever its p. It applies to experiments whose
// response is elapsed time.
func (e *Effect) Lost() bool { return e.Visits*e.Delay/1e9 < (e.High-e.Low)/2 }

// Less is by how much the response changes if all visits together take a tenth less, with the ends
// of its interval: the effect of delays with the opposite sign. It is 0 where the length of a visit
// is not known.
func (e *Effect) Less() (change, lo, hi float64) {
	if e.Delay == 0 {
		return 0, 0, 0
	}
	part := -0.1 * e.Takes / e.Delay
	return part * e.Effect, part * e.High, part * e.Low
}

// Best reports whether this plan has the best estimate of a factor on its number of processors. The
// last plan has, because fewer other factors are delayed in it; unless it sees nothing, and an
// earlier one did.
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

	// Aliases are others with the same signs in the plan: any of them may be the real one, or
	// several.
	Aliases [][]string `json:"aliases,omitempty"`
}

// leastInteractions are needed to estimate an error.
const leastInteractions = 8

// Class is how a factor's effect changes with the number of processors.
type Class struct {
	Name  string  `json:"name"`
	Class string  `json:"class"`
	Power float64 `json:"power"` // the effect is proportional to this power of the number of processors
	SE    float64 `json:"power_se"`
}

// of is a factor's effect, nil if it has none.
func (p *PlanResult) of(factor int) *Effect {
	if i := slices.IndexFunc(p.Effects, func(e Effect) bool { return e.Factor == factor }); i >= 0 {
		return &p.Effects[i]
	}
	return nil
}
