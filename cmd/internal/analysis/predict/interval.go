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
	classes [][]graph.StepID
	of      []int32 // class of each step and 1; 0: it does no work
}

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
	for id := graph.StepID(1); int(id) < p.Steps.Len(); id++ {
		parts := p.PartsOf(id)
		if len(parts) == 0 {
			continue
		}
		most := slices.MaxFunc(parts, func(a, b graph.Part) int { return int(a.Ns - b.Ns) })
		s := p.Step(id)
		key := class{most.Context, s.Kind, s.Op, s.Point}
		n, ok := index[key]
		if !ok {
			n = int32(len(d.classes))
			index[key] = n
			d.classes = append(d.classes, nil)
		}
		d.classes[n] = append(d.classes[n], id)
	}
	d.split(p)
	for n, list := range d.classes {
		for _, id := range list {
			d.of[id] = int32(n) + 1
		}
	}
	return d
}

// apart is the ratio of two lengths with none between them from which on they are of different kinds: what takes a
// millisecond does not take a second the next time because there is other work in the same place that does.
const apart = 2

// split divides classes whose lengths lie apart.
func (d *drawn) split(p *graph.Program) {
	var parts [][]graph.StepID
	for _, list := range d.classes {
		slices.SortStableFunc(list, func(a, b graph.StepID) int { return cmp.Compare(p.Step(a).Work, p.Step(b).Work) })
		from := 0
		for i := 1; i < len(list); i++ {
			if p.Step(list[i]).Work > apart*p.Step(list[i-1]).Work {
				parts = append(parts, list[from:i])
				from = i
			}
		}
		parts = append(parts, list[from:])
	}
	d.classes = parts
}

// lengths draws a step's length for each call.
func (d *drawn) lengths(p *graph.Program, seed uint64) func(graph.StepID) float64 {
	r := rand.New(rand.NewPCG(seed, 2))
	return func(id graph.StepID) float64 {
		if c := d.of[id]; c > 0 {
			list := d.classes[c-1]
			id = list[r.IntN(len(list))]
		}
		return float64(p.Step(id).Work)
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
