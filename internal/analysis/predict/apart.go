package predict

import (
	"math"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// most by which gains may differ, as a share of the run and of the gain, to be given.
const (
	mostApart   = 0.05
	mostApartOf = 0.25
)

// otherwise is by what the time of a run, in relation to another one, is multiplied under the other
// assumptions, at least and at most. It is not known if the program cannot run so.
func (r *runner) otherwise(o, base sim.Options) (least, most float64, known bool) {
	least, most = 1, 1
	if o.Policy == sim.Go { // without chance
		o.Policy, base.Policy = sim.Sharing, sim.Sharing
	}
	here := r.value(r.simulate(o)) / r.value(r.simulate(base))
	for _, k := range r.kept {
		o.Kept, base.Kept = k, k
		now, was := r.simulate(o), r.simulate(base)
		if !was.Sound() || !now.Sound() || here == 0 || r.value(was) == 0 {
			return 1, 1, false
		}
		by := r.value(now) / r.value(was) / here
		least, most = min(least, by), max(most, by)
	}
	return least, most, true
}

// apart is by how much less and more a change may gain, in ns, and why that is too much; empty: it
// is not.
func (r *runner) apart(o sim.Options, run, gain float64) (less, more float64, why string) {
	if len(r.kept) == 0 {
		return 0, 0, ""
	}
	least, most, known := r.otherwise(o, sim.Options{Procs: o.Procs, Policy: o.Policy})
	less, more = (run-gain)*(1-most), (run-gain)*(1-least)
	if !known || more-less > max(mostApart*run, mostApartOf*math.Abs(gain)) {
		return 0, 0, r.lacks()
	}
	return less, more, ""
}

// lacks says what was not seen of the object of those that are kept for which goroutines waited
// longest.
func (r *runner) lacks() string {
	longest, at := int64(-1), steps.ObjectID(0)
	for i, ns := range r.p.WaitedFor() {
		if r.p.Objects[i].IsKept() && ns > longest {
			longest, at = ns, steps.ObjectID(i)
		}
	}
	return lacking(r.p, at)
}
