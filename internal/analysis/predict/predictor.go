package predict

import (
	"fmt"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// Predictor computes what changes gain on the recorded number of processors, each when it is asked
// for and once.
type Predictor struct {
	runs   *runner
	policy sim.Policy
	base   *sim.Run
	known  map[string]Change
}

// NewPredictor returns nil if the recorded run cannot be computed, or is so long that a change
// would take many seconds.
func NewPredictor(p *steps.Program, policy sim.Policy, held []Held) *Predictor {
	return newPredictor(p, policy, held, nil)
}

// NewLoadPredictor is [NewPredictor] for a server with clients that wait for answers. What changes
// make less is the time from the beginning of the first request to the end of the last. It is nil,
// too, if there are no requests.
func NewLoadPredictor(p *steps.Program, policy sim.Policy, held []Held) *Predictor {
	w := sim.NewWatch(p, "")
	if w == nil {
		return nil
	}
	w.Closed = true
	return newPredictor(p, policy, held, w)
}

func newPredictor(p *steps.Program, policy sim.Policy, held []Held, w *sim.Watch) *Predictor {
	Settle(p, nil)
	if p.Steps.Len() > largeSteps {
		return nil
	}
	q := &Predictor{runs: newRunner(p), policy: policy, known: map[string]Change{}}
	q.runs.held, q.runs.differ, q.runs.watch = held, UsualRuns, w
	if q.base = (&Result{}).record(q.runs, policy); !q.base.Sound() {
		return nil
	}
	return q
}

// Among sets by how much medians of runs differ, which [Differ] returns: one run has the usual.
func (q *Predictor) Among(differ float64) { q.runs.differ = differ }

// T is how long the computed run takes without a change, in ns, or all requests together.
func (q *Predictor) T() int64 { return round(q.runs.value(q.base)) }

// Takes is how long one computed run with a change takes, in ns, or all requests together; 0: it is
// none of the program.
func (q *Predictor) Takes(change string) (ns float64, err error) {
	o, err := q.options(change)
	if err != nil {
		return 0, err
	}
	return q.takes(o), nil
}

func (q *Predictor) takes(o sim.Options) float64 {
	run := q.runs.simulate(o)
	if !run.Sound() {
		return 0
	}
	return q.runs.value(run)
}

// Gain is what a change gains, in the form that [ParseWhatIf] reads. It is an error if the program
// has nothing that it applies to.
func (q *Predictor) Gain(change string) (Change, error) {
	if c, ok := q.known[change]; ok {
		return c, nil
	}
	w, err := q.parse(change)
	if err != nil {
		return Change{}, err
	}
	r := &Result{}
	r.change(q.runs, q.policy, q.runs.p.Procs, []WhatIf{w})
	q.known[change] = r.WhatIf[0]
	return r.WhatIf[0], nil
}

func (q *Predictor) parse(change string) (WhatIf, error) {
	w, err := ParseWhatIf(change)
	if err == nil {
		err = w.Check(q.runs.p)
	}
	return w, err
}

// Run is one computed run with a change, which has been kept; nil: it is none of the program. Gain
// rests on several.
func (q *Predictor) Run(change string) (*sim.Run, error) {
	o, err := q.options(change)
	if err != nil {
		return nil, err
	}
	o.Keep = true
	run := sim.Simulate(q.runs.p, o)
	if !run.Sound() {
		return nil, nil
	}
	return run, nil
}

// options are those of a run with a change.
func (q *Predictor) options(change string) (o sim.Options, err error) {
	w, err := q.parse(change)
	if err == nil {
		o, err = w.options(q.runs.p)
	}
	o.Procs, o.Policy = q.runs.p.Procs, q.policy
	return o, err
}

// Amount is how long everything that a change in percent applies to took in the recorded run, in
// ns: work and waits for the outside.
func (q *Predictor) Amount(part string) (ns float64, err error) {
	o, err := q.options(part + "=+100%")
	if err != nil {
		return 0, err
	}
	for id := range steps.StepID(q.runs.p.Steps.Len()) {
		s := q.runs.p.Step(id)
		if o.Length != nil {
			ns += o.Length(id) - float64(s.Work)
		}
		if o.Delayed != nil && sim.Outside(s) {
			ns += (o.Delayed(id) - 1) * float64(s.Lasts())
		}
	}
	return ns, nil
}

// OnProcs is the run on a number of processors.
func (q *Predictor) OnProcs(n int) Of {
	return q.runs.on(n, &Ask{Policy: q.policy, Held: q.runs.held}, q.runs.at(1, q.policy))
}

// Room is a change that gives a channel or semaphore of a name more places; empty: it has as many
// as it needs, or none that are known.
func (q *Predictor) Room(name string, least int) string {
	places := -1
	for i := range q.runs.p.Objects {
		o := &q.runs.p.Objects[i]
		for _, at := range o.Names() {
			if q.runs.p.R.T.Points[at].Name == name && o.Cap > places {
				places = o.Cap
			}
		}
	}
	if places < 0 {
		return ""
	}
	return fmt.Sprintf("cap:%s=%d", name, max(least, 2*places))
}
