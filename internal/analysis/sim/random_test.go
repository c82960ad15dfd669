package sim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace/tracetest"
)

// random makes a program of goroutines that work, sleep, start others, send and receive, lock and
// join. It may wait for ever.
func random(r *rand.Rand) program {
	goroutines, channels, locks := 2+r.IntN(6), 1+r.IntN(3), 1+r.IntN(2)
	caps := map[string]int{}
	for i := range channels {
		if r.IntN(2) == 0 {
			caps[fmt.Sprint("c", i)] = r.IntN(3)
		}
	}
	var gs [][]op
	for g := range goroutines {
		var ops []op
		work := func() { ops = append(ops, do(fmt.Sprintf("%d.%d", g, len(ops)), 1+r.Int64N(1e9))) }
		for range 1 + r.IntN(8) {
			work()
			switch r.IntN(7) {
			case 0, 1:
				ops = append(ops, signal(fmt.Sprint("c", r.IntN(channels))))
			case 2, 3:
				ops = append(ops, wait(fmt.Sprint("c", r.IntN(channels))))
			case 4:
				mu := fmt.Sprint("l", r.IntN(locks))
				ops = append(ops, lock(mu))
				work()
				ops = append(ops, unlock(mu))
			case 5:
				ops = append(ops, sleep(1+r.Int64N(1e9)))
			case 6:
				ops = append(ops, operate(steps.Done, "wg"))
				if r.IntN(3) == 0 {
					join := operate(steps.Join, "wg")
					join.step.SetDones(1 + r.IntN(2))
					ops = append(ops, join)
				}
			}
		}
		work()
		gs = append(gs, ops)
	}
	p := writeWith(caps, gs...)
	for g := 1; g < goroutines; g++ { // some are started by others
		if by := r.IntN(g); r.IntN(3) == 0 {
			p.Gs[g].By = steps.G(by)
			first := p.Gs[by].First
			for range r.IntN(3) {
				if next := p.Step(first).Next; next != 0 {
					first = next
				}
			}
			id := steps.StepID(p.Steps.Len())
			start := steps.Starts(steps.G(g))
			start.Next = p.Step(first).Next
			p.Steps.Add(start)
			if p.Step(first).Next == 0 {
				continue // never started
			}
			p.Step(first).Next = id
		}
	}
	return p
}

// TestWeights compares the weights of random programs with the effects of small changes.
func TestWeights(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	const change = 64
	programs := tracetest.Cases(6_000)
	kinks, compared := 0, 0
	for i := range programs {
		p := random(r)
		for _, policy := range []sim.Policy{sim.Sharing, sim.List} {
			for procs := 1; procs <= len(p.Gs); procs++ {
				kinks += comparePieces(t, p, procs, policy, change, &compared, 1+i%7)
			}
		}
		if t.Failed() {
			t.Fatalf("program %d", i)
		}
	}
	if kinks*200 > compared {
		t.Errorf("%d of %d pieces could not be compared", kinks, compared)
	}
}

// comparePieces compares every so manieth piece.
func comparePieces(t *testing.T, p program, procs int, policy sim.Policy, change float64, compared *int,
	every int) (kinks int) {
	t.Helper()
	base := sim.Simulate(p.Program, sim.Options{Procs: procs, Policy: policy, Keep: true})
	sum := 0.
	weights := map[steps.StepID]float64{}
	base.Weights(func(step steps.StepID, length, weight float64, delay bool) {
		if sum += length * weight; !delay {
			weights[step] += weight
		}
	})
	if !near(sum, base.T) {
		t.Errorf("%d processors, %s: the weights add up to %v, expected %v", procs, policy, sum, base.T)
	}
	at := func(step steps.StepID, d float64) float64 {
		return sim.Simulate(p.Program, sim.Options{Procs: procs, Policy: policy,
			Times: sim.Times{Length: func(s steps.StepID) float64 {
				if s == step {
					return float64(p.Step(s).Work) + d
				}
				return float64(p.Step(s).Work)
			}}}).T
	}
	for step := steps.StepID(1); int(step) < p.Steps.Len(); step++ {
		if p.Step(step).Work < 2*int64(change) || int(step)%every != 0 {
			continue
		}
		*compared++
		left, right := (base.T-at(step, -change))/change, (at(step, change)-base.T)/change
		if math.Abs(left-right) > 1e-6 {
			kinks++
			continue
		}
		if math.Abs(weights[step]-right) > 1e-6 {
			t.Errorf("%d processors, %s: step %d has weight %v, but the run becomes longer by %v", procs, policy, step,
				weights[step], right)
		}
	}
	return kinks
}

// TestSwing: where small changes would grow without bound, weights are those of list scheduling.
func TestSwing(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	var gs [][]op
	for g := range 12 {
		var ops []op
		for i := range 500 {
			ops = append(ops, do(fmt.Sprintf("%d.%d", g, i), 1+r.Int64N(1e6)), sleep(1+r.Int64N(1e6)))
		}
		gs = append(gs, ops)
	}
	p := write(gs...)
	o := sim.Options{Procs: 2, Policy: sim.Sharing, Keep: true}
	swing := func(run *sim.Run) (all float64) {
		run.Weights(func(_ steps.StepID, length, weight float64, _ bool) { all += math.Abs(length * weight) })
		return all / run.T
	}
	if got := swing(sim.Simulate(p.Program, o)); got < 1e6 {
		t.Fatalf("weights are worth %v times the run, expected a program of which they tell nothing", got)
	}
	run, policy := sim.SimulateWeighed(p.Program, o)
	if got := swing(run); policy != sim.List || !near(got, 1) {
		t.Errorf("under %s weights are worth %v times the run, expected 1 under %s", policy, got, sim.List)
	}
}
