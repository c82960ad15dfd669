package delays

import (
	"cmp"
	"math"
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
	Procs   int     `json:"procs"`
	Stage   Stage   `json:"stage"`
	Runs    int     `json:"runs"`
	Failed  int     `json:"failed"`
	Strange int     `json:"strange"`
	Base    float64 `json:"base"` // the median response without delays
	// the median response of the program as it is, with probes that are off; 0: not known
	Plain        float64       `json:"plain,omitempty"`
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
	Deviation float64   `json:"residual_sd,omitempty"` // their standard deviation; 0: not known
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
	Rank        int         `json:"rank"`
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	Construct   string      `json:"construct"`
	File        string      `json:"file"`
	Line        int         `json:"line"`
	Effect      float64     `json:"effect"`
	SE          float64     `json:"se"`
	Low         float64     `json:"lo"`
	High        float64     `json:"hi"`
	PHolm       float64     `json:"p_holm"`
	Significant bool        `json:"significant"`
	Visits      float64     `json:"visits"`
	Takes       float64     `json:"takes_ns"` // of a visit, as of [Factor], and its interval
	TakesIn     *[2]float64 `json:"takes_interval_ns,omitempty"`
	Delay       float64     `json:"delay_ns"`
	// for each visit and unit of the delay: dT/dt, if the response is the run's time
	PerVisit   float64 `json:"per_visit"`
	PerVisitSE float64 `json:"per_visit_se"`

	Weight *float64 `json:"weight"` // the same from the critical path of the first run; null: not known
	Gain   *Gain    `json:"gain"`   // as of [Factor]

	Factor int `json:"-"` // in [Experiment.Factors]
}

// Lost reports whether all delays of a factor together take less time than the smallest effect that
// could be seen. Its effect is chance then, whatever its p. It applies to experiments whose
// response is elapsed time.
func (e *Effect) Lost() bool { return e.Visits*e.Delay/1e9 < (e.High-e.Low)/2 }

// Less is by how much the response changes if all visits together take a tenth less, with the ends
// of its interval, if it changes as much as with delays: it does not where other goroutines take
// nearly as long. It is 0 where the length of a visit is not known.
func (e *Effect) Less() (change, lo, hi float64) {
	if e.Delay == 0 {
		return 0, 0, 0
	}
	part := -0.1 * e.Takes / e.Delay
	return part * e.Effect, part * e.High, part * e.Low
}

// Promised reports whether it is known what less work gains; then the gain is in s.
func (e *Effect) Promised() (g Gain, ok bool) {
	if e.Gain == nil || e.Gain.Unknown != "" {
		return g, false
	}
	return Gain{Ns: e.Gain.Ns / 1e9, Lo: e.Gain.Lo / 1e9, Hi: e.Gain.Hi / 1e9}, true
}

// Tied reports whether less work gains less than delays cost, by more than both are uncertain:
// others take nearly as long, and the run then waits for them.
func (e *Effect) Tied() bool {
	g, ok := e.Promised()
	_, _, least := e.Less()
	return ok && e.Takes > 0 && e.Significant && g.Hi < -least
}

// Doubts reports whether the critical path of the first run says something else than the delays do,
// which were measured: a tenth of the delays and twice the standard error lie between.
func (e *Effect) Doubts() bool {
	return e.Weight != nil && math.Abs(*e.Weight-e.PerVisit) > 0.1+2*e.PerVisitSE
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

// Matter are the effects that matter, each by its best estimate: what gains most first, or changes
// the response most. No part is among them that contains another one, since both would promise the
// same time; aside has the names of those that are left out. Of one part within another the inner
// one is listed. One within several others that do not contain each other is a helper: what those
// do with it tells more.
func (r *Result) Matter(x *Experiment) (list []Effect, aside []string) {
	told := map[int]bool{}
	for i := len(r.Plans) - 1; i >= 0; i-- {
		for _, e := range r.Plans[i].Effects {
			if e.Significant && (x.Metric != "" || !e.Lost()) && !told[e.Factor] && r.Best(&r.Plans[i], &e) {
				told[e.Factor] = true
				list = append(list, e)
			}
		}
	}
	leave := func(out func(e Effect) bool) {
		var rest []Effect
		for _, e := range list {
			if out(e) {
				aside = append(aside, e.Name)
			} else {
				rest = append(rest, e)
			}
		}
		list = rest
	}
	leave(func(e Effect) bool { return x.helps(e, list) })
	leave(func(e Effect) bool {
		return slices.ContainsFunc(list, func(other Effect) bool { return x.contains(e, other) })
	})
	slices.SortStableFunc(list, func(a, b Effect) int {
		if x.Metric != "" {
			return cmp.Compare(math.Abs(b.Effect), math.Abs(a.Effect))
		}
		return cmp.Or(cmp.Compare(b.promise(), a.promise()), cmp.Compare(b.Effect, a.Effect))
	})
	return list, aside
}

// contains reports whether one part is within another.
func (x *Experiment) contains(outer, inner Effect) bool {
	return slices.Contains(x.Factors[outer.Factor].Calls, inner.ID)
}

// helps reports whether two of the parts contain one, and not each other.
func (x *Experiment) helps(e Effect, list []Effect) bool {
	for i, a := range list {
		for _, b := range list[i+1:] {
			if x.contains(a, e) && x.contains(b, e) && !x.contains(a, b) && !x.contains(b, a) {
				return true
			}
		}
	}
	return false
}

// promise is what less work gains, as far as that is known, in s.
func (e *Effect) promise() float64 {
	if g, ok := e.Promised(); ok {
		return g.Ns
	}
	change, _, _ := e.Less()
	return -change
}
