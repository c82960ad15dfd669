package main

import (
	"fmt"
	"math"
	"os/exec"
	"testing"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// Workloads whose processors are tokens, and T on one, two and three of them, in units.
var tokenTruth = []struct {
	program string
	args    []string
	unit    float64 // ms
	t       [3]float64
}{
	{"fig4", []string{"-unit", "60ms"}, 60, [3]float64{20, 12, 11}},
	{"plateau", []string{"-unit", "40ms"}, 40, [3]float64{17, 10, 10}},  // W9
	{"workers", []string{"-unit", "3ms"}, 3, [3]float64{300, 200, 200}}, // W11
}

// TestPredictsTokens: a run on some processors predicts those on others.
func TestPredictsTokens(t *testing.T) {
	t.Parallel()
	for _, c := range tokenTruth {
		exe := buildProbed(t, "workloads", c.program)
		for procs := 1; procs <= 3; procs++ {
			t.Run(fmt.Sprintf("%s on %d", c.program, procs), func(t *testing.T) {
				t.Parallel()
				tr, _ := runTraced(t, exec.Command(exe, append(c.args, "-vcpu", fmt.Sprint(procs))...))
				p, losses, err := steps.Build(tr, steps.Options{VirtualProcs: procs})
				if err != nil || losses.Any() {
					t.Fatal(losses, err)
				}
				worked := 0. // the sleeps are longer than they were asked to be, by what a busy machine adds
				for id := range steps.StepID(p.Steps.Len()) {
					worked += float64(p.Step(id).Work) / 1e6
				}
				unit := worked / c.t[0]
				if unit < 0.99*c.unit {
					t.Errorf("worked for %v ms, expected %v at least", worked, c.t[0]*c.unit)
				}
				for _, run := range predict.New(p, predict.Ask{Procs: []int{1, 2, 3}, Policy: sim.Sharing}).Runs {
					if want := c.t[run.Procs-1]; math.Abs(float64(run.T)/1e6/unit-want) > 0.05*want {
						t.Errorf("%d processors: predicted %.2f units, expected %v", run.Procs, float64(run.T)/1e6/unit,
							want)
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
			})
		}
	}
}
