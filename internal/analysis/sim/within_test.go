package sim_test

import (
	"testing"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// TestBoundOfEvents: a run that has more events than it may have ends, and is none of the program.
func TestBoundOfEvents(t *testing.T) {
	t.Parallel()
	p := write([]op{do("main", 5), sleep(5), do("main", 5), sleep(5), do("main", 5)})
	for events, sound := range map[int]bool{0: false, 1000: true} {
		if r := sim.Within(p.Program, sim.Options{Procs: 1, Policy: sim.List}, events); r.Sound() != sound {
			t.Errorf("%d events: sound %v, expected %v", events, r.Sound(), sound)
		}
	}
}

// TestTurnsOfForced: two goroutines wait for each other, one for its turn and one for what the
// other does after it. The first is forced to go on, and its turn is past: when that comes, it is
// not woken from where it waits by then, as if it had come there twice.
func TestTurnsOfForced(t *testing.T) {
	t.Parallel()
	on := func(s steps.Step, obj string) op { return op{step: s, obj: obj} }
	p := write(
		[]op{on(steps.Gives(1), "kept"), on(steps.Takes(2), "waits"), on(steps.Gives(4), "kept")},
		[]op{on(steps.Takes(1), "waits"), on(steps.Gives(3), "kept"), do("work", 5), on(steps.Gives(2), "waits")},
	)
	p.Tokens = 5
	turns := map[steps.StepID]int32{}
	for id := steps.StepID(1); int(id) < p.Steps.Len(); id++ {
		p.Objects[p.Step(id).Obj].Free = false
		switch {
		case p.Step(id).Kind != steps.Give:
		case p.Step(id).Token() == 3:
			turns[id] = 0
		case p.Step(id).Token() == 1:
			turns[id] = 1
		case p.Step(id).Token() == 4:
			turns[id] = 2
		}
	}
	for _, policy := range sim.Policies {
		o := sim.Options{Procs: 2, Policy: policy, Kept: sim.Kept{Turns: sim.TurnsOf(turns)}}
		if r := sim.Within(p.Program, o, 1000); r.T != 5 || r.Forced != 2 {
			t.Errorf("%s: it takes %v, and %d waits do not end, expected 5 and 2", policy, r.T, r.Forced)
		}
	}
}
