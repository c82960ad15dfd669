package delays

import (
	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// mostEvents is the largest number of events of a first run for which weights are computed: more
// would take longer than the experiment.
const mostEvents = 5e6

// weigh gives factors the weights of the first run's critical path: dT/dt of their own work, if
// there is some. If it was divided by samples, only an interval is known, and the factor has no
// weight. If gains are asked for, they get those of less work, too.
func (f *found) weigh(source *trace.Trace, virtual int, factors []delays.Factor, gains bool) error {
	if f.p.Events > mostEvents {
		return nil
	}
	p, _, err := steps.Build(source, steps.Options{VirtualProcs: virtual})
	if err != nil {
		return err
	}
	r := critpath.New(p, critpath.Options{AsRun: true, Policy: sim.Sharing, Brief: true})
	type sum struct{ weighted, work int64 }
	of := map[string]sum{}
	for _, e := range r.Entries {
		if e.Interval == nil {
			of[e.ID] = sum{e.WeightedRight, e.Work + e.Delays}
		}
	}
	for i := range factors {
		x := &factors[i]
		x.Weight = nil
		id := x.ID
		switch x.Construct {
		case hold:
			id = "sync:" + x.Name
		case procedure:
		default:
			continue
		}
		if s := of[id]; s.work > 0 {
			w := float64(s.weighted) / float64(s.work)
			x.Weight = &w
		}
	}
	if gains {
		f.foretell(p, factors)
	}
	return nil
}

// mostForetold is the largest number of steps of a first run from which gains are computed.
const mostForetold = 1e6

// less is the change whose gain is computed.
const less = "=-10%"

// foretell gives factors what a tenth less work in them would gain. Delays tell what more work
// costs, which is another thing where others take nearly as long.
func (f *found) foretell(p *steps.Program, factors []delays.Factor) {
	if p.Steps.Len() > mostForetold {
		for i := range factors {
			factors[i].Gain = &delays.Gain{Unknown: "the first run has more than a million steps"}
		}
		return
	}
	var changes []predict.WhatIf
	var of []*delays.Factor
	for i := range factors {
		x := &factors[i]
		text := "calls:" + x.Name + less
		if x.Construct == hold {
			text = "hold:" + x.Name + less
		}
		w, err := predict.ParseWhatIf(text)
		if err != nil || w.Check(p) != nil {
			x.Gain = &delays.Gain{Unknown: "the trace of the first run has no work of that name"}
			continue
		}
		x.Gain = &delays.Gain{Unknown: "the first run cannot be computed: operations are missing in its trace"}
		changes, of = append(changes, w), append(of, x)
	}
	if len(changes) == 0 {
		return
	}
	r := predict.New(p, predict.Ask{Procs: []int{p.Procs}, Policy: sim.Go, WhatIf: changes, Differ: predict.UsualRuns})
	for i, c := range r.WhatIf {
		base := float64(c.T+c.Gain) / 100
		of[i].Gain = &delays.Gain{Ns: float64(c.Gain), Lo: c.LoPct * base, Hi: c.HiPct * base, Unknown: c.Unknown}
	}
}

// contains notes which factors are parts of others.
func (f *found) contains(factors []delays.Factor) {
	for i := range factors {
		x := &factors[i]
		for k := range factors {
			if y := &factors[k]; i != k && x.Construct != hold && y.Construct != hold && f.p.Calling(x.ID, y.ID) &&
				!f.p.Calling(y.ID, x.ID) {
				x.Calls = append(x.Calls, y.ID)
			}
		}
	}
}
