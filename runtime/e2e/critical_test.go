package e2e_test

import (
	"fmt"
	"math"
	"os/exec"
	"testing"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/runtime/e2e"
)

// tokens is a workload whose processors are tokens, and T on one, two and three of them, in units.
type tokens struct {
	program string
	args    []string
	unit    float64 // ms
	t       [3]float64
}

var tokenTruth = []tokens{
	{"fig4", []string{"-unit", "60ms"}, 60, [3]float64{20, 12, 11}},
	{"plateau", []string{"-unit", "40ms"}, 40, [3]float64{17, 10, 10}}, // W9
	// W11, in rounds so long that the delays of a busy machine are small
	{"workers", []string{"-n", "20", "-unit", "15ms"}, 15, [3]float64{60, 40, 40}},
}

// TestPredictsTokens: a run on some processors predicts those on others.
func TestPredictsTokens(t *testing.T) {
	t.Parallel()
	for _, c := range tokenTruth {
		exe := e2e.Build(t, "workloads", c.program)
		for procs := 1; procs <= 3; procs++ {
			t.Run(fmt.Sprintf("%s on %d", c.program, procs), func(t *testing.T) {
				t.Parallel()
				command := func() *exec.Cmd { return exec.Command(exe, append(c.args, "-vcpu", fmt.Sprint(procs))...) }
				// Of the sleeps that stand for work a busy machine makes some longer than others,
				// which are not the same program then: of three runs one must be near.
				var off []string
				for range 3 {
					if off = c.predicted(t, command(), procs); len(off) == 0 {
						return
					}
				}
				t.Error(off)
			})
		}
	}
}

// predicted returns what is off in the predictions from a run on some processors.
func (c *tokens) predicted(t *testing.T, cmd *exec.Cmd, procs int) (off []string) {
	t.Helper()
	tr, _ := e2e.Traced(t, cmd)
	p, losses, err := steps.Build(tr, steps.Options{VirtualProcs: procs})
	if err != nil || losses.Any() {
		t.Fatal(losses, err)
	}
	worked := 0. // a busy machine makes sleeps longer than requested
	for id := range steps.StepID(p.Steps.Len()) {
		worked += float64(p.Step(id).Work) / 1e6
	}
	unit := worked / c.t[0]
	if unit < 0.99*c.unit {
		t.Errorf("worked for %v ms, expected %v at least", worked, c.t[0]*c.unit)
	}
	for _, run := range predict.New(p, predict.Ask{Procs: []int{1, 2, 3}, Policy: sim.Sharing}).Runs {
		if got, want := float64(run.T)/1e6/unit, c.t[run.Procs-1]; math.Abs(got-want) > 0.05*want {
			off = append(off, fmt.Sprintf("%d processors: predicted %.2f units, expected %v", run.Procs, got, want))
		}
	}
	r := critpath.New(p, critpath.Options{AsRun: true, Policy: sim.Sharing})
	self := int64(0)
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Kind == critpath.KindProc || e.Kind == critpath.KindWait {
			self += e.Self
		}
	}
	if self != r.T {
		t.Errorf("self times on the path add up to %d, expected %d", self, r.T)
	}
	return off
}
