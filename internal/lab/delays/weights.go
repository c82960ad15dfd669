package delays

import (
	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// mostEvents is the largest number of events of a first run for which weights are computed: more
// would take longer than the experiment.
const mostEvents = 5e6

// weigh gives factors the weights of the first run's critical path: dT/dt of their own work, if
// there is some. If it was divided by samples, only an interval is known, and the factor has no
// weight.
func (f *found) weigh(source *trace.Trace, virtual int, factors []delays.Factor) error {
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
	return nil
}
