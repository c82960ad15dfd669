package predict

import (
	"math"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// farOff is the difference of a computed run from the recorded one above which its operations are
// doubted.
const farOff = 0.1

// Settle decides, once for a program, whether its operations determine its waits. They do not if a
// run computed from them comes to a standstill, or if one that keeps the recorded order is much
// nearer to the recorded run. run is one on the recorded processors, if there is one already.
// Settle reports whether that has become invalid.
func Settle(p *steps.Program, run *sim.Run) (changed bool) {
	if p.Settled || p.End == 0 {
		return false
	}
	p.Settled = true
	if run != nil && run.Forced == 0 && math.Abs(run.T-float64(p.End)) < farOff*float64(p.End) {
		return false
	}
	off := func() (share float64, forced int) { // by the policy that is nearest
		share = math.Inf(1)
		for _, policy := range []sim.Policy{sim.Sharing, sim.List} {
			run := sim.Once(p, sim.Options{Procs: p.Procs, Policy: policy})
			if d := math.Abs(run.T-float64(p.End)) / float64(p.End); d < share {
				share, forced = d, run.Forced
			}
			if share < farOff && forced == 0 {
				break
			}
		}
		return share, forced
	}
	was, forced := off()
	if forced > 0 && p.Strict() {
		changed = true
		was, forced = off()
	}
	if was < farOff && forced == 0 {
		return changed
	}
	free := p.Fix()
	if len(free) == 0 {
		return changed
	}
	if now, stands := off(); now < was/2 || stands < forced && now <= was {
		p.Note("computed from its operations on locks and channels this run is another one, so that some of them must be missing in the trace: who waits for whom is decided as it was in the run")
		return true
	}
	for _, id := range free {
		p.Objects[id].Free = true
	}
	return changed
}
