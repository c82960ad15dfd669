package predict

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// Operations on an object decide who waits for it, if the trace has them all. Where it does not,
// which shows in the computed run, waits for that object are kept as they were in the recorded one,
// and all others go on to be decided.

// farOff is the difference of a computed run from the recorded one above which its operations are
// doubted.
const farOff = 0.1

// Settle decides, once for a program, which objects' operations do not determine the waits for
// them: those at which a run computed from them comes to a standstill, and, if it is far from the
// recorded run, those for which goroutines wait for another time than they did there. run is one on
// the recorded processors, if there is one already. Settle reports whether that has become invalid.
func Settle(p *steps.Program, run *sim.Run) (changed bool) {
	if p.Settled || p.End == 0 {
		return false
	}
	p.Settled = true
	if run == nil || run.Forced > 0 || isFar(p, run) {
		run = nearest(p)
	}
	given, run := giveUpStanding(p, run)
	if isFar(p, run) {
		given = append(given, giveUpFar(p, run)...)
	}
	if len(given) > 0 {
		p.Note("computed from all operations on locks and channels this run would be another one, so that some on %s must be missing in the trace: who waits for it is decided as it was in the run", namesOf(p, given))
	}
	return len(given) > 0
}

// off is by how much the time of a computed run differs from the recorded one, as a share. What
// other programs took from it is no difference.
func off(p *steps.Program, run *sim.Run) float64 {
	d := float64(p.End) - run.T
	return math.Max(-d, d-float64(p.OffCPU)) / float64(p.End)
}

func isFar(p *steps.Program, run *sim.Run) bool { return off(p, run) > farOff }

// nearest is the run by the policy that is nearest to the recorded one.
func nearest(p *steps.Program) (best *sim.Run) {
	for _, policy := range []sim.Policy{sim.Sharing, sim.List} {
		run := sim.Once(p, sim.Options{Procs: p.Procs, Policy: policy})
		if best == nil || off(p, run) < off(p, best) {
			best = run
		}
		if best.Forced == 0 && !isFar(p, best) {
			break
		}
	}
	return best
}

// giveUpStanding gives objects up until a run does not come to a standstill: the one at which it
// stands, then twice as many, and so on. If it still stands when that is over they are as before.
func giveUpStanding(p *steps.Program, run *sim.Run) (given []steps.ObjectID, now *sim.Run) {
	now = run
	for n := 1; now.Forced > 0; n = min(2*n, len(p.Objects)) {
		list := alike(p, now.Stood(), n)
		if len(list) == 0 {
			break
		}
		given = append(given, keep(p, list)...)
		now = nearest(p)
	}
	if now.Forced >= run.Forced && len(given) > 0 && off(p, now) >= off(p, run) {
		free(p, given)
		return nil, run
	}
	return given, now
}

// leastWaited is the share of the run by which waits for an object must differ for that to matter.
const leastWaited = 0.01

// giveUpFar gives objects up until the run is near the recorded one: the one with the largest
// difference of its waits, then twice as many, and so on. If that makes less than half of the
// difference go away they are as before.
func giveUpFar(p *steps.Program, run *sim.Run) (given []steps.ObjectID) {
	var list []steps.ObjectID
	differ := make([]float64, len(p.Objects))
	for i, ns := range p.WaitedFor() {
		differ[i] = math.Abs(float64(ns) - run.Waited[i])
		if p.Objects[i].Free && differ[i] > leastWaited*float64(p.End) {
			list = append(list, steps.ObjectID(i))
		}
	}
	slices.SortStableFunc(list, func(a, b steps.ObjectID) int { return cmp.Compare(differ[b], differ[a]) })
	was := off(p, run)
	for n := 1; len(list) > 0 && isFar(p, run); n *= 2 {
		some := list[:min(n, len(list))]
		list = list[len(some):]
		given = append(given, keep(p, some)...)
		run = nearest(p)
	}
	if run.Forced > 0 || off(p, run) >= was/2 {
		free(p, given)
		return nil
	}
	return given
}

// alike are n objects whose operations determine waits, at most: the first ones of a list, and then
// others that are made where these are. A program may have a channel for each task, and a run that
// stands at one of them would stand at the next.
func alike(p *steps.Program, list []steps.ObjectID, n int) (some []steps.ObjectID) {
	names := map[trace.PointID]bool{}
	for _, id := range list {
		if p.Objects[id].Free && len(some) < n {
			some = append(some, id)
			names[p.Objects[id].Name] = true
		}
	}
	for i := range p.Objects {
		id := steps.ObjectID(i)
		if o := &p.Objects[i]; len(some) < n && o.Free && o.Name != trace.NoPoint && names[o.Name] &&
			!slices.Contains(list, id) {
			some = append(some, id)
		}
	}
	return some
}

// keep lets waits for objects be as in the recorded run, and free undoes that.
func keep(p *steps.Program, list []steps.ObjectID) []steps.ObjectID {
	for _, id := range list {
		p.Objects[id].Free = false
	}
	return list
}

func free(p *steps.Program, list []steps.ObjectID) {
	for _, id := range list {
		p.Objects[id].Free = true
	}
}

// namesOf names objects.
func namesOf(p *steps.Program, list []steps.ObjectID) string {
	var names []string
	for _, id := range list {
		name := "a lock of a package without probes"
		if at := p.Objects[id].Name; at != trace.NoPoint {
			name = p.R.T.Points[at].Name
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 1 {
		return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
	}
	return names[0]
}
