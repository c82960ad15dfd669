package sim

import (
	"math"

	"qinst.dev/internal/analysis/steps"
)

// Operations leave the order open, and tokens repeat it. Together they may be contradictory: a
// goroutine that has taken a place in a channel waits, by a token, for one that waits for a place;
// and one that sends only if there is room (a select with a default) does not wait for any. A run
// that comes to a standstill is made once more, with the order of the recorded run for the object
// at which it stood, then for twice as many.

// mostStandstills is how often that is tried. The last time it holds for all objects.
const mostStandstills = 5

// Simulate runs a program.
func Simulate(p *steps.Program, o Options) *Run {
	run := Once(p, o)
	if !o.recorded() { // the order of the recorded run is none of these
		return run
	}
	for n := 1; run.Forced > 0 && n <= mostStandstills; n++ {
		stood := run.Stood()
		next, changed := p.Ordered(stood[:min(len(stood), 1<<(n-1))], n == mostStandstills)
		if !changed {
			if next, changed = p.Ordered(nil, true); !changed {
				break
			}
		}
		if o.Watch != nil {
			*o.Watch = *o.Watch.Again()
		}
		p = next
		run = Once(p, o)
	}
	return run
}

// mostSwing is how many times T weights may have together, of either sign, for any of them to mean
// something.
const mostSwing = 3

// SimulateWeighed simulates a run, keeps it, and returns the policy under which it ran: the one
// asked for, or List.
//
// Under even sharing a delay takes real time and work virtual time. A goroutine that begins to wait
// later by x while many share the processors, and goes on while few do, makes x larger; after some
// thousand such waits the derivative is exact and useless, because no change is small enough for
// it. Under list scheduling each weight is 0 or 1.
func SimulateWeighed(p *steps.Program, o Options) (*Run, Policy) {
	o.Keep = true
	run := Simulate(p, o)

	if o.Policy != Sharing {
		return run, o.Policy
	}
	swing := 0.
	run.Weights(func(_ steps.StepID, length, weight float64, _ bool) { swing += math.Abs(length * weight) })
	if swing <= mostSwing*run.T { // false of NaN
		return run, o.Policy
	}
	o.Policy = List
	return Simulate(p, o), List
}
