package sim_test

import (
	"testing"

	"qinst.dev/internal/analysis/sim"
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
