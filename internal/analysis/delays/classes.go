package delays

import (
	"math"
	"slices"
)

// Classes.
const (
	Parallel = "parallel" // its effect is divided among the processors
	Flat     = "flat"     // serial, or on a processor that has more to do than others
	Growing  = "growing"  // goroutines wait for it, the more of them there are
	Unclear  = "unclear"  // the effect is too small, or known too badly
)

// sameVisits is the part by which numbers of visits may differ that are taken for the same.
const sameVisits = 0.1

// classes are the classes of factors that were screened on several numbers of processors.
//
// Where a part is visited as often on any number of them, its effects are compared as they are.
// Otherwise the work per visit may differ: with a worker for each processor it is the p-th part. So
// delays are compared that are the same share of a visit on all numbers.
func (e *Experiment) classes(r *Result) []Class {
	list := []Class{}
	for i := range e.Factors {
		var procs []int
		var effects, errors []float64
		first := Part{}
		for k := range r.Plans {
			p := &r.Plans[k]
			x := p.of(i)
			if x == nil || p.Stage != Screening || p.Procs <= 0 {
				continue
			}
			part, scale := e.part(e.screening(p.Procs), i), 1.
			if len(procs) == 0 {
				first = part
			}
			if math.Abs(part.Visits-first.Visits) > sameVisits*first.Visits && part.Takes > 0 && first.Takes > 0 {
				scale = part.Takes / first.Takes
			}
			procs, effects, errors = append(procs, p.Procs), append(effects, x.Effect*scale), append(errors, x.SE*scale)
		}
		if len(procs) > 1 {
			list = append(list, classOf(e.Factors[i].Name, procs, effects, errors))
		}
	}
	return list
}

// screening is the plan of a screening on a number of processors.
func (e *Experiment) screening(procs int) *Plan {
	i := slices.IndexFunc(e.Plans, func(p Plan) bool { return p.Procs == procs && p.Stage == Screening })
	return &e.Plans[i]
}

const (
	half     = 0.5  // a power above -half is not that of something divided among processors
	grows    = 0.15 // above, it grows
	normal   = 1.96
	most     = 3.   // powers are looked for up to that size,
	perPower = 100. // steps in each unit
)

// classOf finds the power k of the number of processors p that effects are proportional to, A p^k
// with A > 0, by least squares in units of their errors. An effect that is lost in noise on some
// number of processors is evidence, too: it is not larger. The interval has all powers for which
// the sum of squares is larger by less than 1.96^2.
func classOf(name string, procs []int, effects, errors []float64) Class {
	c := Class{Name: name, Class: Unclear}
	none := misfit(0, 0, procs, effects, errors)
	var sums []float64
	best := 0
	for i := range int(2*most*perPower) + 1 {
		k := float64(i)/perPower - most
		sums = append(sums, misfit(amplitude(k, procs, effects, errors), k, procs, effects, errors))
		if sums[i] < sums[best] {
			best = i
		}
	}
	if !(none-sums[best] > normal*normal) { // no more than noise
		return c
	}
	within := func(s float64) bool { return s <= sums[best]+normal*normal }
	from, to := best, best
	for from > 0 && within(sums[from-1]) {
		from--
	}
	for to < len(sums)-1 && within(sums[to+1]) {
		to++
	}
	lo, hi := float64(from)/perPower-most, float64(to)/perPower-most
	c.Power, c.SE = float64(best)/perPower-most, (hi-lo)/2/normal
	switch {
	case hi < -half:
		c.Class = Parallel
	case lo > -half && hi < grows:
		c.Class = Flat
	case lo > 0 && c.Power > grows:
		c.Class = Growing
	case c.SE < half/2: // between two of them
		c.Class = map[bool]string{true: Parallel, false: Flat}[c.Power < -half]
	}
	return c
}

// amplitude is the best A for a power k, 0 at least.
func amplitude(k float64, procs []int, effects, errors []float64) float64 {
	var up, down float64
	for i, p := range procs {
		v, s := math.Pow(float64(p), k), errorOf(effects[i], errors[i])
		up, down = up+v*effects[i]/s/s, down+v*v/s/s
	}
	return max(0, up/down)
}

// misfit is the sum of squares of the residuals of A p^k, in units of their errors.
func misfit(a, k float64, procs []int, effects, errors []float64) (sum float64) {
	for i, p := range procs {
		d := (effects[i] - a*math.Pow(float64(p), k)) / errorOf(effects[i], errors[i])
		sum += d * d
	}
	return sum
}

// errorOf is a standard error that is not 0: effects without one differ by rounding at least.
func errorOf(effect, se float64) float64 { return max(se, 1e-6*math.Abs(effect), 1e-12) }
