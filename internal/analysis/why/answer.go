package why

import (
	"maps"
	"slices"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/stats"
)

// Version is that of an [Answer] as JSON.
const Version = 1

// Answer is the evaluation of a study. Times are in ns.
type Answer struct {
	Version  int       `json:"version"`
	Run      Length    `json:"run"`
	First    string    `json:"first"` // one sentence
	Bound    string    `json:"bound"` // what bounds the run; "": it is not known
	Findings []Finding `json:"findings"`
	Notes    []string  `json:"notes"`
	Load     string    `json:"load,omitempty"`   // the command that is served, and whose time counts
	Failed   string    `json:"failed,omitempty"` // how the program fails each time; then no gain is known
}

// What is what takes time: the run, or the load that it serves.
func (a *Answer) What() string { return whatOf(a.Load) }

func (s *Study) what() string { return whatOf(s.Program.Load) }

func whatOf(load string) string {
	if load != "" {
		return "load"
	}
	return "run"
}

// Length is how long runs take.
type Length struct {
	T    int64 `json:"t_ns"`  // the median
	Lo   int64 `json:"lo_ns"` // the shortest
	Hi   int64 `json:"hi_ns"` // and the longest
	Runs int   `json:"runs"`
}

// Finding is a change with its gain, and a test of that.
type Finding struct {
	ID   string `json:"id"` // the same in each study of the program
	Kind string `json:"kind"`
	Place
	Change    string        `json:"change"` // in words
	WhatIf    string        `json:"what_if,omitempty"`
	By        float64       `json:"by_pct,omitempty"`          // by how much the part takes less
	Predicted *Predicted    `json:"predicted"`                 // null: it is not known
	AtMost    int64         `json:"gain_at_most_ns,omitempty"` // then, if there is a bound
	Defect    bool          `json:"defect,omitempty"`          // it is wrong whatever it costs
	Tested    *Tested       `json:"tested"`                    // null: it was not
	Tried     *Tried        `json:"tried,omitempty"`           // a setting that makes the change; null: there is none
	Verdict   Verdict       `json:"verdict"`
	Reason    string        `json:"reason,omitempty"`
	Text      string        `json:"text,omitempty"` // of the conclusion
	Evidence  []advice.Fact `json:"evidence"`

	seldom bool // few runs show it
}

// Place is a part of the program.
type Place struct {
	Subject string `json:"subject"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
}

// Predicted is the gain of a change by computed runs. It lies in the interval 9 times of 10.
type Predicted struct {
	Gain int64   `json:"gain_ns"`
	Pct  float64 `json:"gain_pct"` // of the run
	Lo   float64 `json:"lo_pct"`
	Hi   float64 `json:"hi_pct"`
	// beyond it less work in this part gains nothing; null: there is no such bound
	Plateau *float64 `json:"plateau_pct"`
	// the part with most of the work that the run then depends on
	PlateauFor string  `json:"plateau_for,omitempty"`
	Curve      []Share `json:"curve,omitempty"` // by one run; none: it is not a part
}

// Tested is the effect of delays, measured and computed.
type Tested struct {
	Delay  int64 `json:"delay_ns"` // of a run, all together
	Effect int64 `json:"effect_ns"`
	SE     int64 `json:"se_ns"`
	Model  int64 `json:"model_ns"`

	seen float64 // an effect that is less could be chance
	off  float64 // the computed effect is known no better
}

// Tried is the gain of a change that was made without an editor. It lies in the interval 19 times
// of 20.
type Tried struct {
	Setting string  `json:"setting"`
	Pct     float64 `json:"gain_pct"`
	Lo      float64 `json:"lo_pct"`
	Hi      float64 `json:"hi_pct"`

	ask string // the beginning of a sentence
}

// Verdict is the outcome of the test of a promise.
type Verdict string

// Verdicts.
const (
	Confirmed   Verdict = "confirmed"    // the delays do what they do to the computed run
	Less        Verdict = "less"         // they do less
	More        Verdict = "more"         // they do more
	NoEffect    Verdict = "no effect"    // they do nothing, as computed
	NotTestable Verdict = "not testable" // for a reason
	Rules       Verdict = "a rule decides"
	Improves    Verdict = "improves" // a setting that was tried makes the run shorter
	Worsens     Verdict = "worsens"  // longer
	Undecided   Verdict = "undecided"
)

// effects are the effects of the first plan by the rules of their factors, in ns.
func effects(x *delays.Experiment, plan int) (map[string]delays.Effect, error) {
	r, err := delays.Analyze(x)
	if err != nil || plan >= len(r.Plans) {
		return nil, err
	}
	all := map[string]delays.Effect{}
	for _, e := range r.Plans[plan].Effects {
		all[x.Factors[e.Factor].Rule] = e
	}
	return all, nil
}

// trimmed takes effects from the replicates of a plan: each is a block with an estimate of its own.
// A run that the machine disturbed makes one of them wrong, and the interval hardly wider. Plans
// with few replicates keep their effects by least squares.
func (t *Test) trimmed(all map[string]delays.Effect) {
	p := &t.Experiment.Plans[0]
	blocks := map[int][]delays.Run{}
	for _, r := range p.Runs {
		blocks[r.Block] = append(blocks[r.Block], r)
	}
	for k, of := range p.Factors {
		rule := t.Experiment.Factors[of].Rule
		var list []float64
		for _, b := range slices.Sorted(maps.Keys(blocks)) {
			sum, balance := 0., 0
			for _, r := range blocks[b] {
				sum += float64(r.Levels[k]) * r.Response
				balance += int(r.Levels[k])
			}
			if balance != 0 {
				return // a replicate has several blocks
			}
			list = append(list, 2*sum/float64(len(blocks[b])))
		}
		if i, err := stats.Trimmed(list); err == nil && len(list) >= leastReplicates {
			e := all[rule]
			e.Effect, e.Low, e.High, e.SE = i.Mean, i.Low, i.High, (i.High-i.Low)/2/normal
			all[rule] = e
		}
	}
}

// leastReplicates are trimmed.
const leastReplicates = 8

// normal is the half width of an interval of 95 % in standard errors.
const normal = 1.96

// modelled is an experiment whose runs took as long as computed ones.
func (t *Test) modelled(model []float64) *delays.Experiment {
	x := *t.Experiment
	plan := x.Plans[0]
	plan.Runs = append([]delays.Run{}, plan.Runs...)
	for i := range plan.Runs {
		plan.Runs[i].Response = model[i]
	}
	x.Plans = []delays.Plan{plan}
	return &x
}

// tested are the results of a test, by the rules of factors.
func (t *Test) tested() (map[string]*Tested, error) {
	all := map[string]*Tested{}
	if t.Experiment == nil || t.Experiment.Plans[0].Missing() > 0 || len(t.Model) == 0 {
		return all, nil
	}
	measured, err := effects(t.Experiment, 0)
	if err != nil {
		return nil, err
	}
	computed := map[string][]float64{} // by run
	for _, model := range t.Model {
		one, err := effects(t.modelled(model), 0)
		if err != nil {
			return nil, err
		}
		for rule, e := range one {
			computed[rule] = append(computed[rule], e.Effect)
		}
	}
	t.trimmed(measured)
	for _, rule := range slices.Sorted(maps.Keys(measured)) {
		e := measured[rule]
		t := &Tested{Delay: int64(e.Visits * e.Delay), Effect: int64(e.Effect * 1e9), SE: int64(e.SE * 1e9),
			seen: (e.High - e.Low) / 2 * 1e9}
		if model, err := stats.Mean(computed[rule]); err == nil {
			t.Model, t.off = int64(model.Mean*1e9), (model.High-model.Low)/2*1e9
		} else {
			t.Model = int64(computed[rule][0] * 1e9)
		}
		all[rule] = t
		if _, ok := all[e.Name]; !ok && e.Construct != "hold" { // a loop has a rule without its name
			all[e.Name] = t
		}
	}
	return all, nil
}
