package predict

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"qinst.dev/cmd/internal/analysis/graph"
	"qinst.dev/cmd/internal/analysis/replay"
	"qinst.dev/cmd/internal/trace"
)

// The next run of a program is another one: its work takes a little longer here and shorter there, and its scheduler steals elsewhere. How much
// that matters is known from the run at hand, in which the same work was done many times: lengths are drawn anew, each from
// those of its kind, and the run is computed with them. Work that was done once has no others to draw from, so that an interval is too short if
// most of the run is such work.

// drawn are the lengths to draw from.
type drawn struct {
	classes [][]int64 // lengths, sorted; of a class with very many some of them
	of      []int32   // class of each step and 1; 0: it does no work
}

// mostLengths is how many lengths of a class are kept, more or less.
const mostLengths = 4096

// class is the kind of a step's work: where most of it was done, and what ended it.
type class struct {
	in    replay.ContextID
	kind  graph.Kind
	op    graph.Op
	point trace.PointID
}

func newDrawn(p *graph.Program) *drawn {
	d := &drawn{of: make([]int32, p.Steps.Len())}
	index := map[class]int32{}
	var sizes []int
	for id := graph.StepID(1); int(id) < p.Steps.Len(); id++ {
		parts := p.PartsOf(id)
		if len(parts) == 0 {
			continue
		}
		most := slices.MaxFunc(parts, func(a, b graph.Part) int { return cmp.Compare(a.Ns, b.Ns) })
		s := p.Step(id)
		key := class{most.Context, s.Kind, s.Op, s.Point}
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
	for id := graph.StepID(1); int(id) < p.Steps.Len(); id++ {
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
			for work := p.Step(graph.StepID(id)).Work; c+1 < last && work >= d.classes[c+1][0]; {
				c++
			}
			d.of[id] = c + 1
		}
	}
	return d
}

// apart is the ratio of two lengths with none between them from which on they are of different kinds: what takes a
// millisecond does not take a second the next time because there is other work in the same place that does.
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

// lengths draws a step's length for each call.
func (d *drawn) lengths(p *graph.Program, seed uint64) func(graph.StepID) float64 {
	r := rand.New(rand.NewPCG(seed, 2))
	return func(id graph.StepID) float64 {
		c := d.of[id]
		if c == 0 {
			return float64(p.Step(id).Work)
		}
		list := d.classes[c-1]
		return float64(list[r.IntN(len(list))])
	}
}

const (
	mostDraws  = 40
	leastDraws = 4
	drawnSteps = 8e6 // in all of them
)

// draws is how many runs an interval is of.
func draws(p *graph.Program) int {
	return min(mostDraws, max(leastDraws, int(drawnSteps/float64(p.Steps.Len()))))
}

// interval returns by how much a run may end earlier or later than computed, 9 times of 10.
func (d *drawn) interval(p *graph.Program, o Options) float64 {
	n := draws(p)
	sum, squares := 0., 0.
	first := 0. // sums of differences from it are exact enough
	for seed := range n {
		o.Seed, o.Length = uint64(seed)+1, d.lengths(p, uint64(seed))
		t := Simulate(p, o).T
		if seed == 0 {
			first = t
		}
		sum, squares = sum+(t-first), squares+(t-first)*(t-first)
	}
	variance := max(0, squares-sum*sum/float64(n)) / float64(n-1)
	// The recorded run was drawn as the next one is: their difference has twice the variance.
	return student(n-1) * math.Sqrt(2*variance)
}

// student is the 95th percentile of Student's t, within 1 % from three degrees of freedom on.
func student(degrees int) float64 {
	d := float64(degrees)
	return 1.6449 + 1.53/d + 1.4/(d*d) + 1.2/(d*d*d)
}
