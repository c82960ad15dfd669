package critpath

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// Where things happen at exactly the same time it matters whether work becomes shorter or longer:
// of two goroutines that a third one waits for, and that end together, neither gains anything by
// becoming shorter, and each costs by becoming longer. Then the run is computed once more in each
// direction, with all work of the entry changed together.

// In a long run some events happen at one time by chance, and their order decides next to nothing:
// the entry with most work shows that.
const (
	mostTied  = 32    // entries
	fewTied   = 1     // of those with most work, which show whether ties matter,
	fewSteps  = 20000 // in a program with more steps,
	tieFrom   = 0.01  // by a difference of more than this share of the run
	manySteps = 4e6   // with which ties are left alone
)

// ties finds the left and right values of the entries that matter most.
func (b *builder) ties() {
	if b.run.Ties == 0 || b.options.Policy == sim.Go { // whose run is one by chance
		return
	}
	var order []int
	for i, l := range b.lines {
		if l.kind == KindProc && b.sums[i].work > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(b.sums[j].work, b.sums[i].work) })
	most, long, matter := min(mostTied, len(order)), b.p.Steps.Len() > fewSteps, false
	if b.p.Steps.Len() > manySteps {
		most = 0
	}
	for n, i := range order[:most] {
		if long && n == fewTied && !matter {
			return
		}
		left, right := b.slopes(i)
		s := &b.sums[i]
		s.weighted, s.right = left, right
		matter = matter || math.Abs(left-right) > tieFrom*b.run.T
		b.res.Tied = b.res.Tied || math.Abs(left-right) > 1
	}
	if most < len(order) {
		b.res.Remarks.Note("some events happened at exactly the same time; weights of entries with little work are those of one order of these")
	}
}

// slopes are how T changes with all work of an entry, in proportion, if that becomes less, and
// more.
func (b *builder) slopes(i int) (left, right float64) {
	share := make([]float64, b.r.Contexts.Len())
	for c, list := range b.dealt { // of all work: weights has asked for it
		for _, p := range list {
			if p.self == i {
				share[c] += p.share
			}
		}
	}
	slope := func(sign float64) float64 {
		o := b.options
		o.Toward = func(step steps.StepID) (d float64) {
			for _, part := range b.p.PartsOf(step) {
				d += sign * share[part.Context] * float64(part.Ns)
			}
			return d
		}
		return sim.Simulate(b.p, o).Slope
	}
	var pair sync.WaitGroup
	pair.Go(func() { left = -slope(-1) })
	right = slope(1)
	pair.Wait()
	return left, right
}
