package sim_test

import (
	"math/rand/v2"
	"testing"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace/tracetest"
)

// TestSlack: a piece of work that becomes longer by less than its slack makes no run longer, and by
// more than that every run whose end it leads to. Only programs are taken in which no change lets
// others come first at a lock or a channel.
func TestSlack(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	const beyond = 1e5
	compared, within, behind, slacks := 0, 0, 0, 0
	for range tracetest.Cases(20_000) {
		p := random(r)
		if !ordered(p) {
			continue
		}
		o := sim.Options{Procs: len(p.Gs), Policy: sim.Sharing, Keep: true, Order: true}
		run := sim.Simulate(p.Program, o)
		if run.Forced > 0 {
			continue // a goroutine waits for ever
		}
		longer := func(step steps.StepID, ns float64) float64 {
			return sim.Simulate(p.Program, sim.Options{Procs: len(p.Gs), Policy: sim.Sharing,
				Times: sim.Times{Length: func(s steps.StepID) float64 {
					if s == step {
						return float64(p.Step(s).Work) + ns
					}
					return float64(p.Step(s).Work)
				}}}).T - run.T
		}
		run.Slack(func(step steps.StepID, slack float64, delay bool) {
			if delay {
				return
			}
			if compared++; slack > 0 {
				slacks++
			}
			if d := longer(step, slack*.999); d > 1 {
				within++
			}
			if d := longer(step, slack+beyond); d < beyond-1 {
				behind++
			}
		})
	}
	if compared < tracetest.Cases(500) || slacks < compared/4 || within+behind > 0 {
		t.Errorf("of %d pieces, of which %d have slack, %d made the run longer within their slack, and %d did not beyond it", compared, slacks, within, behind)
	}
}

// ordered reports whether each operation on an object is always by the same goroutine, and each
// lock one goroutine's.
func ordered(p program) bool {
	type use struct {
		obj steps.ObjectID
		op  steps.Op
	}
	by := map[use]int{}
	for g := range p.Gs {
		for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
			s := p.Step(id)
			u := use{s.Obj, s.Op}
			if s.Op == steps.Done || s.Op == steps.Join {
				return false // a Join needs the first ones
			}
			if was, ok := by[u]; s.Op != steps.NoOp && ok && was != g {
				return false
			}
			by[u] = g
		}
	}
	return true
}

// TestGoPath: under Go's scheduler, too, weights add up to the run, and the pieces of the path
// follow each other.
func TestGoPath(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 10))
	for i := range tracetest.Cases(3000) {
		p := random(r)
		p.WakeUp, p.HoldOff = r.Int64N(5000), r.Int64N(2)*r.Int64N(50_000)
		for procs := 1; procs <= len(p.Gs); procs++ {
			run := sim.Simulate(p.Program, sim.Options{Procs: procs, Policy: sim.Go, Keep: true, Seed: uint64(i)})
			sum, at := 0., run.T
			run.Weights(func(_ steps.StepID, length, weight float64, _ bool) { sum += length * weight })
			run.Path(func(_ steps.StepID, _ steps.G, from, to float64, _ bool) {
				if !near(to, at) || from > to {
					t.Fatalf("program %d on %d: a piece is from %v to %v, expected one to %v", i, procs, from, to, at)
				}
				at = from
			})
			if !near(sum, run.T) || !near(at, 0) {
				t.Fatalf("program %d on %d: the weights add up to %v, the path begins at %v, expected %v and 0", i,
					procs, sum, at, run.T)
			}
		}
	}
}
