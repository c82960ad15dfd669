package predict

import (
	"fmt"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
)

// A computed run keeps the recorded length of waits for the network whose writer is not known. That
// may have been another goroutine of the program, which a change lets go on sooner: then the change
// gains more than is computed, up to the worth of these waits.

// leastOutside is the smallest share of a run that is worth a note.
const leastOutside = 0.01

// network is the worth of the waits for the network, or for pipes, in a run, in ns.
func (r *runner) network(procs int, policy sim.Policy) (ns float64) {
	if r.p.Steps.Len() > largeSteps || !r.p.Awaits(steps.Network) {
		return 0
	}
	run, _ := sim.SimulateWeighed(r.p, sim.Options{Procs: procs, Policy: policy})
	run.Weights(func(step steps.StepID, length, weight float64, delay bool) {
		if delay && step != 0 && r.p.Step(step).Waits(steps.Network) {
			ns += length * weight
		}
	})
	if ns < leastOutside*run.T {
		return 0
	}
	return min(ns, run.T)
}

// ofNetwork is the note about that.
func ofNetwork(ns, of float64) string {
	return fmt.Sprintf("for %s of the computed run goroutines wait for the network or pipes, whose other ends may be this program's: changes may gain up to that much more than is computed",
		measure.Percent(round(ns), round(of)))
}
