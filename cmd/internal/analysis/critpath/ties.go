package critpath

import (
	"cmp"
	"math"
	"slices"

	"qinst.dev/cmd/internal/analysis/graph"
	"qinst.dev/cmd/internal/analysis/predict"
)

// Where things happen at exactly the same time it matters whether work becomes shorter or longer: of two goroutines that a third one
// waits for, and that end together, neither gains anything by becoming shorter, and each costs by becoming longer. Then the
// run is computed once more in each direction, with all work of the entry changed together.

const (
	mostTied      = 32  // entries
	mostTiedSteps = 4e7 // steps of all these runs
)

// ties finds the left and right values of the entries that matter most.
func (b *builder) ties() {
	if b.run.Ties == 0 {
		return
	}
	var order []int
	for i, l := range b.lines {
		if l.kind == KindProc && b.sums[i].work > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(b.sums[j].work, b.sums[i].work) })
	most := min(mostTied, len(order), int(mostTiedSteps/float64(2*b.p.Steps.Len())))
	for _, i := range order[:most] {
		left, right := -b.slope(i, -1), b.slope(i, 1)
		s := &b.sums[i]
		s.weighted, s.right = left, right
		b.res.Tied = b.res.Tied || math.Abs(left-right) > 1
	}
	if most < len(order) {
		b.res.Notes = append(b.res.Notes, "some events happened at exactly the same time; weights of entries with little work are those of one order of these")
	}
}

// slope is the change of T if all work of an entry changes in proportion, by sign.
func (b *builder) slope(i int, sign float64) float64 {
	o := b.options
	o.Toward = func(step graph.StepID) (d float64) {
		for _, part := range b.p.PartsOf(step) {
			for _, p := range b.portions(part.Context) {
				if p.self == i {
					d += sign * p.share * float64(part.Ns)
				}
			}
		}
		return d
	}
	return predict.Simulate(b.p, o).Slope
}
