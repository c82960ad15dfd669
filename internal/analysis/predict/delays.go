package predict

import (
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// Delayed is a part of the program of which each visit takes longer, as QINST lets it.
type Delayed struct {
	Name string // of a procedure, a loop or a lock
	Lock bool   // it is the lock, once a goroutine has it

	at  []visits
	sum float64 // of all weights
}

// visits are those of a part in one step, by their number or by what stands for it.
type visits struct {
	step   steps.StepID
	weight float64
}

// Visits finds the visits of a part in the recorded run. It is false if there are none. Those that
// are not in the trace are like those that are. Of a part of which no visit is, such as an
// iteration of a loop, work stands for the number of visits.
func (q *Predictor) Visits(d *Delayed) bool {
	p := q.runs.p
	add := func(id steps.StepID, weight float64) {
		if weight > 0 {
			d.at, d.sum = append(d.at, visits{id, weight}), d.sum+weight
		}
	}
	if d.Lock {
		objects := (&single{name: d.Name}).objects(p)
		for g := range p.Gs {
			for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
				s := p.Step(id)
				if objects[s.Obj] && (s.Op == steps.Lock || s.Op == steps.RLock) {
					add(s.Next, 1)
				}
			}
		}
		return d.sum > 0
	}
	for id := range steps.StepID(p.Steps.Len()) {
		entered := 0.
		for _, part := range p.PartsOf(id) {
			at := p.R.Sets.Last(p.R.Contexts.Node(part.Context).Set).Point()
			if part.Enters > 0 && at >= 0 && int(at) < len(p.R.T.Points) && p.R.T.NameOf(at) == d.Name {
				entered += float64(part.Enters)
			}
		}
		add(id, entered)
	}
	if d.sum > 0 {
		return true
	}
	o, err := q.options("calls:" + d.Name + "=+100%")
	if err != nil {
		return false
	}
	for id := range steps.StepID(p.Steps.Len()) {
		add(id, o.Length(id)-float64(p.Step(id).Work))
	}
	return d.sum > 0
}

// WithDelays is how long the run takes, in ns, or all requests together, if all visits of each part
// take so many ns longer together; 0: the computed run is none of the program.
func (q *Predictor) WithDelays(parts []*Delayed, ns []float64) float64 {
	p := q.runs.p
	more := make([]float64, p.Steps.Len())
	for i, d := range parts {
		for _, v := range d.at {
			more[v.step] += ns[i] * v.weight / d.sum
		}
	}
	o := sim.Options{Procs: p.Procs, Policy: q.policy}
	o.Length = func(id steps.StepID) float64 { return float64(p.Step(id).Work) + more[id] }
	return q.takes(o)
}
