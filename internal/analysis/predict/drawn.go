package predict

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trace"
)

// drawn are the lengths to draw from.
type drawn struct {
	classes [][]int64 // lengths, sorted; of a class with very many some of them
	of      []int32   // class of each step and 1; 0: it does no work
}

// mostLengths is how many lengths of a class are kept, more or less.
const mostLengths = 4096

// class is the kind of a step's work: the place of most of it, and the step's end.
type class struct {
	in    replay.ContextID
	kind  steps.Kind
	op    steps.Op
	point trace.PointID
	after steps.G
}

func newDrawn(p *steps.Program) *drawn {
	d := &drawn{of: steps.MakeLarge[int32](p.Steps.Len())}
	index := map[class]int32{}
	var sizes []int
	for id := steps.StepID(1); int(id) < p.Steps.Len(); id++ {
		parts := p.PartsOf(id)
		if len(parts) == 0 {
			continue
		}
		most := slices.MaxFunc(parts, func(a, b steps.Part) int { return cmp.Compare(a.Ns, b.Ns) })
		s := p.Step(id)
		key := class{most.Context, s.Kind, s.Op, s.Point(), s.After()}
		n, ok := index[key]
		if !ok {
			n = int32(len(sizes))
			index[key] = n
			sizes = append(sizes, 0)
		}
		sizes[n]++
		d.of[id] = n + 1
	}
	lists := make([][]int64, len(sizes))
	seen := make([]int, len(sizes))
	for id := steps.StepID(1); int(id) < p.Steps.Len(); id++ {
		if n := d.of[id] - 1; n >= 0 {
			if seen[n]%(sizes[n]/mostLengths+1) == 0 {
				lists[n] = append(lists[n], p.Step(id).Work)
			}
			seen[n]++
		}
	}
	first := make([]int32, len(lists)) // of the classes that each of these becomes
	for n, list := range lists {
		slices.Sort(list)
		first[n] = int32(len(d.classes))
		d.classes = append(d.classes, split(list)...)
	}
	for id := range d.of {
		if n := d.of[id] - 1; n >= 0 {
			last := int32(len(d.classes))
			if int(n)+1 < len(first) {
				last = first[n+1]
			}
			c := first[n]
			for work := p.Step(steps.StepID(id)).Work; c+1 < last && work >= d.classes[c+1][0]; {
				c++
			}
			d.of[id] = c + 1
		}
	}
	return d
}

// apart is the ratio of two neighboring lengths above which they are of different kinds: work of a
// millisecond does not take a second the next time because other work in the same place does.
const apart = 2

// split divides sorted lengths that lie apart.
func split(list []int64) (parts [][]int64) {
	from := 0
	for i := 1; i < len(list); i++ {
		if list[i] > apart*list[i-1] {
			parts = append(parts, list[from:i])
			from = i
		}
	}
	return append(parts, list[from:])
}

// lengths draws the lengths of steps: by their numbers, so that a step has the same one in two runs
// that take them in different orders.
func (d *drawn) lengths(p *steps.Program, seed uint64) func(steps.StepID) float64 {
	first := scatter(seed + 1)
	return func(id steps.StepID) float64 {
		c := d.of[id]
		if c == 0 {
			return float64(p.Step(id).Work)
		}
		list := d.classes[c-1]
		at, _ := bits.Mul64(scatter(first^uint64(id)), uint64(len(list)))
		return float64(list[at])
	}
}

// scatter is a number that looks drawn by chance and is always the same for x: the output function
// of the generator SplitMix64.
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// blocks is how many parts of a run are compared.
const blocks = 16

// drift is how well the speed of the program is known, as the standard error of the time that the
// same work takes, in relation to the whole run: by how much that differs from one part of the run
// to another, beyond what lengths drawn independently would. Processors change their clock, and
// others use the same core. Parts that stand out, such as the start, count no more than others.
func (d *drawn) drift(p *steps.Program) float64 {
	means, variances := d.moments()
	var took, expected, variance [blocks]float64
	for id := range d.of {
		c := d.of[id] - 1
		if c < 0 || len(d.classes[c]) < blocks || p.End <= 0 {
			continue
		}
		s := p.Step(steps.StepID(id))
		at := min(max(int(float64(s.At)/float64(p.End)*blocks), 0), blocks-1)
		took[at] += float64(s.Work)
		expected[at] += means[c]
		variance[at] += variances[c]
	}
	var ratios []float64
	chance := 0.
	for i := range blocks {
		if expected[i] > 0 {
			ratios = append(ratios, took[i]/expected[i])
			chance += variance[i] / (expected[i] * expected[i])
		}
	}
	n := float64(len(ratios))
	if n < blocks/2 {
		return 0
	}
	spread := normalMAD * stats.Median(apartFrom(stats.Median(ratios), ratios))
	return math.Sqrt(max(0, spread*spread-chance/n) / n)
}

// normalMAD is the standard deviation of a normal distribution, by its median absolute deviation.
const normalMAD = 1.4826

func apartFrom(center float64, list []float64) (abs []float64) {
	for _, x := range list {
		abs = append(abs, math.Abs(x-center))
	}
	return abs
}

// moments are the means and variances of the lengths, by class.
func (d *drawn) moments() (means, variances []float64) {
	for _, list := range d.classes {
		sum, squares, n := 0., 0., float64(len(list))
		for _, ns := range list {
			sum, squares = sum+float64(ns), squares+float64(ns)*float64(ns)
		}
		means = append(means, sum/n)
		variances = append(variances, max(0, squares/n-sum/n*sum/n))
	}
	return means, variances
}

// draws is how many runs an interval is of.
func draws(p *steps.Program) int {
	return min(mostDraws, max(leastDraws, int(drawnSteps/float64(p.Steps.Len()))))
}

const (
	mostDraws  = 40
	leastDraws = 4
	drawnSteps = 3e6 // in all of them
)
