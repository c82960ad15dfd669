package sim_test

import (
	"math/rand/v2"
	"testing"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// Go's scheduler does the same work, on no fewer processors than it has: never faster than without
// waits for processors, and on one processor as slow as all work in turn.
func TestGoScheduler(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 10))
	for i := range 2000 {
		p := random(r)
		for step := range steps.StepID(p.Steps.Len()) { // no delays
			if s := p.Step(step); s.Kind == steps.Delay {
				at, next, work := s.At, s.Next, s.Work
				*s = steps.Delays(s.Cause(), 0)
				s.At, s.Next, s.Work = at, next, work
			}
		}
		free := sim.Simulate(p.Program, sim.Options{Policy: sim.Go})
		for procs := 1; procs <= 3; procs++ {
			run := sim.Simulate(p.Program, sim.Options{Procs: procs, Policy: sim.Go, Seed: uint64(i)})
			if run.Forced > 0 || free.Forced > 0 {
				continue
			}
			if !near(run.Busy, free.Busy) {
				t.Errorf("program %d: %d processors did work of %v, expected %v", i, procs, run.Busy, free.Busy)
			}
			if least := run.Busy / float64(procs); run.T < least*(1-1e-9) {
				t.Errorf("program %d: it takes %v on %d processors, expected %v at least", i, run.T, procs, least)
			}
			if procs == 1 && !near(run.T, run.Busy) {
				t.Errorf("program %d: it takes %v on one processor, expected %v", i, run.T, run.Busy)
			}
		}
	}
}

// Goroutines that hand over to each other wake a thread each time on two processors, which is more
// work, and none on one.
func TestWaking(t *testing.T) {
	t.Parallel()
	const rounds, work, waking, wakeUp = 10, 20_000, 6000, 12_000
	var ping, pong []op
	for range rounds {
		ping = append(ping, do("ping", work), signal("a"), wait("b"))
		pong = append(pong, wait("a"), do("pong", work), signal("b"))
	}
	p := write(ping, pong)
	p.Last, p.HoldOff, p.Wakes = 0, 10*work, steps.Wakes{{Call: waking, Late: wakeUp}}
	all := 2.*rounds*work + wakeUp // a processor takes the first one
	if run := sim.Simulate(p.Program, sim.Options{Procs: 1, Policy: sim.Go}); !near(run.T, all) {
		t.Errorf("on one processor it takes %v, expected %v: all of the work", run.T, all)
	}
	want := all + 2*rounds*waking
	if run := sim.Simulate(p.Program, sim.Options{Procs: 2, Policy: sim.Go}); !near(run.T, want) {
		t.Errorf("on two it takes %v, expected %v: each hand-over takes %d longer", run.T, want, waking)
	}
}
