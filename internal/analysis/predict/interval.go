package predict

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
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
	kind  steps.Kind
	op    steps.Op
	point trace.PointID
	after steps.G
}

func newDrawn(p *steps.Program) *drawn {
	d := &drawn{of: make([]int32, p.Steps.Len())}
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

// lengths draws the lengths of steps: by their numbers, so that a step has the same one in two runs that take them in different orders.
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

// scatter is a number that looks drawn by chance and is always the same for x: the output function of the generator SplitMix64.
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

const (
	mostDraws  = 40
	leastDraws = 4
	drawnSteps = 8e6 // in all of them
)

// draws is how many runs an interval is of.
func draws(p *steps.Program) int {
	return min(mostDraws, max(leastDraws, int(drawnSteps/float64(p.Steps.Len()))))
}

// interval returns by how much a run may end earlier or later than computed, 9 times of 10.
func (r *runner) interval(o sim.Options) float64 {
	// The recorded run was drawn as the next one is: their difference has twice the variance.
	var list []float64
	for seed := range uint64(draws(r.p)) {
		o.Seed, o.Length = seed+1, r.drawn.lengths(r.p, seed)
		list = append(list, r.simulate(o).T)
	}
	return about(list) * math.Sqrt2
}

const (
	mostGains  = 10
	gainsSteps = 2e6
)

// gains returns what a change gains on average over the chances of Go's scheduler, and how far that may be off, 9 times of 10: because lengths may be
// others, which runs without chance tell, and because these are some runs. Of a long run it is not known any better than the run itself.
func (r *runner) gains(o sim.Options) (ns, off float64) {
	n := min(mostGains, int(gainsSteps/float64(r.p.Steps.Len())))
	if n < leastDraws {
		return r.at(o.Procs, o.Policy).T - r.simulate(o).T, r.interval(sim.Options{Procs: o.Procs, Policy: o.Policy})
	}
	still := o
	if still.Policy == sim.Go {
		still.Policy = sim.Sharing
	}
	off = about(r.paired(still, n, true)) * math.Sqrt2
	if o.Policy != sim.Go {
		return r.at(o.Procs, o.Policy).T - r.simulate(o).T, off
	}
	runs := r.paired(o, n, false)
	for _, d := range runs {
		ns += d / float64(n)
	}
	return ns, math.Hypot(off, about(runs)/math.Sqrt(float64(n)))
}

// paired computes n runs with and without a change, each pair with the same chances, and if drawn with the same lengths drawn anew. It returns
// by how much those with it are shorter.
func (r *runner) paired(o sim.Options, n int, drawn bool) (list []float64) {
	changed := o.Length
	for seed := range uint64(n) {
		plain := sim.Options{Procs: o.Procs, Policy: o.Policy, Seed: seed}
		o.Seed = seed
		if drawn {
			plain.Length = r.drawn.lengths(r.p, seed)
			lengths := r.drawn.lengths(r.p, seed)
			o.Length = func(id steps.StepID) float64 {
				if work := r.p.Step(id).Work; work > 0 && changed != nil {
					return lengths(id) * changed(id) / float64(work)
				}
				return lengths(id)
			}
		}
		k := pairKey{o.Procs, o.Policy, seed, drawn}
		if _, ok := r.pairs[k]; !ok {
			r.pairs[k] = r.simulate(plain).T
		}
		list = append(list, r.pairs[k]-r.simulate(o).T)
	}
	return list
}

// pairKey is a run without a change.
type pairKey struct {
	procs  int
	policy sim.Policy
	seed   uint64
	drawn  bool
}

// about is how far a value drawn as these may be from their mean, 9 times of 10.
func about(list []float64) float64 {
	n := float64(len(list))
	sum, squares := 0., 0.
	for _, x := range list { // differences from the first one are exact enough
		d := x - list[0]
		sum, squares = sum+d, squares+d*d
	}
	return student(len(list)-1) * math.Sqrt(max(0, squares-sum*sum/n)/(n-1))
}

// student is the 95th percentile of Student's t, within 1 % from three degrees of freedom on.
func student(degrees int) float64 {
	d := float64(degrees)
	return 1.6449 + 1.53/d + 1.4/(d*d) + 1.2/(d*d*d)
}
