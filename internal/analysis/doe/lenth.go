package doe

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// Lenth (1989) takes most effects for noise, and estimates it by their median, once those that are
// too large for noise are left out.

const leastLenth = 3

// lenth computes his standard error and margins. They are by Student's t with a third as many
// degrees of freedom as there are effects: more than enough for few effects, and too little for the
// largest one of many. See null.
func (f *Fit) lenth(c *cells, alpha float64) {
	sizes := f.sizes(c, 0)
	if len(sizes) < leastLenth {
		return
	}
	m := float64(len(sizes))
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: m / 3}
	f.PSE = pse(sizes)
	f.ME = t.Quantile(1-alpha/2) * f.PSE
	f.SME = t.Quantile((1+math.Pow(1-alpha, 1/m))/2) * f.PSE
}

// size is that of an effect, as if its error were that of effects that no blocks go together with.
func (c *cells) size(x *Effect) float64 {
	if x.each == c.each() { // exactly
		return math.Abs(x.Effect)
	}
	return math.Abs(x.Effect) * c.each() / x.each
}

// sizes are those of effects of as many factors and more, in rising order.
func (f *Fit) sizes(c *cells, order int) (list []float64) {
	for i := range f.Effects {
		if x := &f.Effects[i]; x.order >= order {
			list = append(list, c.size(x))
		}
	}
	slices.Sort(list)
	return list
}

// pse is the pseudo standard error of sizes of effects, in rising order.
func pse(sizes []float64) float64 {
	s0 := 1.5 * median(sizes)
	n, _ := slices.BinarySearch(sizes, 2.5*s0)
	if n == 0 { // more than half are 0
		return 0
	}
	return 1.5 * median(sizes[:n])
}

// median is that of sorted numbers: of an even number the mean of the two in the middle.
func median(x []float64) float64 {
	n := len(x)
	if n%2 == 1 {
		return x[n/2]
	}
	return (x[n/2-1] + x[n/2]) / 2
}

// null are ratios of effects to their pseudo standard error if all are noise, in falling order.
// Student's t with a third of their number, which the margins are by, is near that for one effect;
// for the largest of sixty, which is what matters after a correction for their number, it is not.
type null []float64

const nullRatios = 1 << 20

// nulls are those that were drawn: each takes a fifth of a second.
var nulls sync.Map

type nullKey struct {
	m      int
	within bool
}

// lenthNull draws from it, for one of the m effects that the error is estimated from, or for
// another one.
func lenthNull(m int, within bool) null {
	if n, ok := nulls.Load(nullKey{m, within}); ok {
		return n.(null)
	}
	draw := rand.New(rand.NewPCG(uint64(m), 5))
	all := make(null, 0, nullRatios+m)
	sizes := make([]float64, m)
	for len(all) < nullRatios {
		for i := range sizes {
			sizes[i] = math.Abs(draw.NormFloat64())
		}
		slices.Sort(sizes)
		s := pse(sizes)
		for _, x := range sizes {
			if !within {
				x = math.Abs(draw.NormFloat64())
			}
			all = append(all, x/s)
		}
	}
	slices.Sort(all)
	slices.Reverse(all)
	nulls.Store(nullKey{m, within}, all)
	return all
}

// p is the probability of a ratio as large.
func (n null) p(ratio float64) float64 {
	ratio = math.Abs(ratio)
	above, _ := slices.BinarySearchFunc(n, ratio, func(x, r float64) int {
		if x >= r {
			return -1
		}
		return 1
	})
	return float64(above+1) / float64(len(n)+1)
}

// ratio is the one that has a probability.
func (n null) ratio(p float64) float64 { return n[min(len(n)-1, int(p*float64(len(n))))] }
