package sim

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/steps"
)

// queues are those of goroutines that could run.
type queues struct {
	// processors, under list scheduling: since when they are idle; the one that is last is taken
	// first
	idle  []float64
	ready []steps.G            // under list scheduling
	lines map[steps.G][]queued // goroutines that wait for another one's processor, by that
}

// queued is a goroutine in a processor's queue, in a step.
type queued struct {
	g    steps.G
	step steps.StepID
}

// behind lets a goroutine wait in the queue of another one's processor, as it did; see
// [steps.Step.After]. It reports whether that other one has a processor.
func (s *simulation) behind(g steps.G, step *steps.Step) bool {
	after := step.After()
	if after < 0 || after == g || !s.gs[after].runs {
		return false
	}
	if s.lines == nil {
		s.lines = map[steps.G][]queued{}
	}
	s.lines[after] = append(s.lines[after], queued{g, s.gs[g].step})
	s.block(g)
	return true
}

// follow lets the next one go on that waits for a goroutine's processor, which it leaves. The
// others wait for that one's.
func (s *simulation) follow(g steps.G) {
	s.gs[g].runs = false
	// these were let go because nothing else could
	list := slices.DeleteFunc(s.lines[g], func(x queued) bool { return !s.gs[x.g].waits || s.gs[x.g].step != x.step })
	if delete(s.lines, g); len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(x, y queued) int { return cmp.Compare(s.p.Step(x.step).At, s.p.Step(y.step).At) })
	next := list[0].g
	if len(list) > 1 {
		s.lines[next] = append(s.lines[next], list[1:]...)
	}
	if ns := s.handOver(list[0].step, 0); ns > 0 {
		s.gs[next].waits = false
		s.delay(next, ns)
	} else {
		s.wake(next)
	}
}

// idleFor is the idle time, in ns, of the processor that a goroutine has just got; below 0: not
// known.
func (s *simulation) idleFor(g steps.G) float64 {
	if s.o.Policy != List {
		return -1
	}
	return s.gs[g].got - s.gs[g].idle
}

// handOver is how long it takes until a goroutine runs at the end of a Ready, in ns, while a
// processor is idle.
func (s *simulation) handOver(id steps.StepID, idle float64) float64 {
	if s.o.HandOver != nil {
		return s.o.HandOver(id, idle)
	}
	return float64(s.p.Step(id).Lasts())
}
