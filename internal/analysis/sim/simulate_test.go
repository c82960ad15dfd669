package sim_test

import (
	"math/rand/v2"
	"testing"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// A run whose operations and tokens together demand what cannot be keeps the order of the recorded
// run, and ends when all is done.
func TestStandstill(t *testing.T) {
	t.Parallel()
	p := writeWith(map[string]int{"ch": 1},
		[]op{signal("ch"), do("main", 10), signal("ch"), give(1), take(2)},
		[]op{take(1), wait("ch"), do("other", 10), give(2)},
	)
	p.Tokens, p.Last = 3, 0
	for _, policy := range sim.Policies {
		for procs := 1; procs <= 2; procs++ {
			if r := sim.Simulate(p.Program, sim.Options{Procs: procs, Policy: policy}); r.T != 20 || r.Forced != 0 ||
				!r.Ends {
				t.Errorf("%s on %d: it takes %v, and %d goroutines were forced to go on; expected 20", policy, procs,
					r.T, r.Forced)
			}
		}
	}
}

// No computed run has more work than its processors have time for, and each ends as the recorded
// one.
func TestSound(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 12))
	for range 300 {
		p, work := random(r), 0.
		for id := range steps.StepID(p.Steps.Len()) {
			work += float64(p.Step(id).Work)
		}
		for _, policy := range sim.Policies {
			for procs := 1; procs <= 3; procs++ {
				if run := sim.Simulate(p.Program, sim.Options{Procs: procs, Policy: policy}); !run.Sound() ||
					run.T*float64(procs) < work*(1-1e-9) {
					t.Fatalf("%s on %d: %v ns with %v of work, %d forced", policy, procs, run.T, work, run.Forced)
				}
			}
		}
	}
	// Each goroutine waits for a step of the other one after its wait.
	p := write([]op{do("a", 10), take(1), do("a", 10), give(2)}, []op{do("b", 10), take(2), do("b", 10), give(1)})
	p.Tokens, p.Last, p.End, p.Procs = 3, 0, 20, 2
	if run := sim.Simulate(p.Program, sim.Options{Procs: 1, Policy: sim.Sharing}); run.Sound() {
		t.Errorf("a run in which nobody can go on takes %v", run.T)
	}
}

// A run that ends before others have done what they did in the recorded one is none of the program:
// what waits for them is not among the operations. Work that went on to the end there does not
// count.
func TestUndone(t *testing.T) {
	t.Parallel()
	for _, policy := range sim.Policies {
		p := write([]op{take(1)}, []op{do("a", 20), give(1)}, []op{do("b", 5), sleep(1), do("b", 35)})
		p.Tokens, p.Last, p.End, p.Procs = 2, 0, 50, 1
		if run := sim.Simulate(p.Program, sim.Options{Procs: 3, Policy: policy}); run.Undone != 21 || run.Sound() {
			t.Errorf("%s: a run of %v leaves %v undone, expected 21", policy, run.T, run.Undone)
		}
		p.Step(steps.StepID(p.Steps.Len() - 1)).Kind = steps.Cut
		if run := sim.Simulate(p.Program, sim.Options{Procs: 3, Policy: policy}); run.Undone != 0 || !run.Sound() {
			t.Errorf("%s: a run of %v leaves %v undone, expected nothing", policy, run.T, run.Undone)
		}
	}
}
