package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"qinst.dev/internal/stats"
)

// stretch is a time as long as a burst: activations, and hits in them.
type stretch struct{ units, hits float64 }

// programs make the stretches of a run. In all of them the number of activations varies.
var programs = map[string]func(r *rand.Rand, n int) []stretch{
	"always three": each(100, func(*rand.Rand) float64 { return 3 }),
	"every second": each(5, func(r *rand.Rand) float64 { return float64(r.IntN(2)) }),
	"geometric":    each(30, func(r *rand.Rand) float64 { return geometric(r, 2) }),
	"heavy tail":   each(20, func(r *rand.Rand) float64 { return math.Floor(math.Pow(1-r.Float64(), -1/2.5)) }),
	"rare": each(100, func(r *rand.Rand) float64 {
		if r.IntN(2000) == 0 {
			return 1
		}
		return 0
	}),
	"rare and heavy": each(100, func(r *rand.Rand) float64 {
		if r.IntN(200) == 0 {
			return 300
		}
		return 1
	}),
	"rare and of any size": each(200, func(r *rand.Rand) float64 {
		if r.IntN(1000) == 0 {
			return 1 + math.Floor(100*r.ExpFloat64())
		}
		return 0
	}),
	"phases": func(r *rand.Rand, n int) []stretch {
		list := make([]stretch, n)
		left, ratio, rate := 0, 1.0, 0.0
		for i := range list {
			if left == 0 {
				left, ratio, rate = 20+r.IntN(n/8+1), []float64{1, 3}[r.IntN(2)], 20+200*r.Float64()
			}
			left--
			a := poisson(r, rate)
			list[i] = stretch{a, poisson(r, ratio*a)}
		}
		return list
	},
	// A few outermost activations in each stretch, and trees of very different size below them.
	"recursive": func(r *rand.Rand, n int) []stretch {
		list := make([]stretch, n)
		for i := range list {
			for range int(poisson(r, 3)) {
				a := math.Ceil(min(3000, math.Exp(3+1.2*r.NormFloat64())))
				list[i].units += a
				list[i].hits += 1 + math.Floor(a*(0.3+0.4*r.Float64()))
			}
		}
		return list
	},
	// Of many activations at a time each has less to do.
	"batches": func(r *rand.Rand, n int) []stretch {
		list := make([]stretch, n)
		for i := range list {
			a := math.Ceil(math.Exp(3 + r.NormFloat64()))
			list[i] = stretch{a, poisson(r, 5*math.Sqrt(a))}
		}
		return list
	},
	// One stretch in twenty reaches the point, and then in each activation.
	"all or none": func(r *rand.Rand, n int) []stretch {
		list := make([]stretch, n)
		for i := range list {
			if list[i].units = poisson(r, 50); r.IntN(20) == 0 {
				list[i].hits = list[i].units
			}
		}
		return list
	},
}

// each makes a program whose activations are independent.
func each(rate float64, hits func(r *rand.Rand) float64) func(*rand.Rand, int) []stretch {
	return func(r *rand.Rand, n int) []stretch {
		list := make([]stretch, n)
		for i := range list {
			list[i].units = poisson(r, rate)
			for range int(list[i].units) {
				list[i].hits += hits(r)
			}
		}
		return list
	}
}

func poisson(r *rand.Rand, mean float64) float64 {
	if mean == 0 {
		return 0
	}
	return distuv.Poisson{Lambda: mean, Src: r}.Rand()
}

func geometric(r *rand.Rand, mean float64) float64 {
	return math.Floor(math.Log(1-r.Float64()) / math.Log(mean/(1+mean)))
}

// sampled draws bursts among the stretches of a run, and returns what they found, and the sums of
// the other stretches.
func sampled(r *rand.Rand, run []stretch, bursts int) (c stats.Clusters, rest stretch) {
	for k, i := range r.Perm(len(run)) {
		s := run[i]
		if k >= bursts {
			rest.units, rest.hits = rest.units+s.units, rest.hits+s.hits
			continue
		}
		if s.units > 0 {
			c.N++
		}
		c.Units, c.Hits = c.Units+s.units, c.Hits+s.hits
		c.UnitSquares, c.HitSquares, c.Products = c.UnitSquares+s.units*s.units, c.HitSquares+s.hits*s.hits,
			c.Products+s.units*s.hits
	}
	return c, rest
}

// The intervals hold in at least 95 of 100 runs: the test fails if that number of misses has a
// probability below 1 % for a method for which that is true.
func TestCoverage(t *testing.T) {
	t.Parallel()
	const runs = 1000
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, bursts := range []int{10, 20, 50, 200} {
				r := rand.New(rand.NewPCG(uint64(bursts), 32))
				given, missed, width := 0, 0, 0.0
				for run := range runs {
					length := bursts * (2 + r.IntN(6))
					if run%2 == 0 {
						length = bursts * 3 / 2 // bursts are most of it, as where a procedure was hot for a moment
					}
					c, rest := sampled(r, program(r, length), bursts)
					i, ok := c.Others(rest.units)
					if !ok {
						continue
					}
					given++
					width += (i.High - i.Low) / i.Mean
					if rest.hits < math.Floor(i.Low) || rest.hits > math.Ceil(i.High) {
						missed++
					}
				}
				n := float64(max(given, 1))
				t.Logf("%3d bursts: %4d of %d runs have an interval, %.1f %% of these hold, width %.0f %%", bursts,
					given, runs, 100*(1-float64(missed)/n), 100*width/n)
				if given == 0 {
					continue
				}
				if chance := 1 - (distuv.Binomial{N: n, P: 0.05}).CDF(float64(missed)-1); missed > 0 && chance < 0.01 {
					t.Errorf("%d bursts: %d of %d intervals do not hold, expected at most 5 of 100", bursts, missed,
						given)
				}
			}
		})
	}
}

// Of hits that are equal in each activation an interval is as narrow as one hit in all bursts.
func TestOthers(t *testing.T) {
	t.Parallel()
	c := stats.Clusters{N: 100, Units: 10_000, Hits: 20_000, UnitSquares: 100 * 100 * 100, HitSquares: 100 * 200 * 200,
		Products: 100 * 100 * 200}
	i, ok := c.Others(1e6)
	if !ok || i.Mean != 2e6 || i.Low < 2e6-300 || i.Low > 2e6-200 || i.High > 2e6+300 {
		t.Errorf("two hits always: %+v, %v; expected 2e6 +- 1e6/10,000, times 2.4", i, ok)
	}
	for name, c := range map[string]stats.Clusters{
		"none":    {},
		"no hits": {N: 10, Units: 100, UnitSquares: 1000},
		"nine bursts": {N: 9, Units: 900, Hits: 900, UnitSquares: 90_000, HitSquares: 90_000,
			Products: 90_000},
		"one has all hits": {N: 100, Units: 1000, Hits: 50, UnitSquares: 10_000, HitSquares: 2500, Products: 500},
		"infinitely many": {N: 100, Units: 1000, Hits: math.Inf(1), UnitSquares: 10_000, HitSquares: math.Inf(1),
			Products: 1},
		"not a number of hits": {N: 100, Units: 1000, Hits: math.NaN(), UnitSquares: 10_000, HitSquares: 5,
			Products: 1},
	} {
		if i, ok := c.Others(1000); ok {
			t.Errorf("%s: %+v, expected no interval", name, i)
		}
	}
	if i, ok := c.Others(0); ok {
		t.Errorf("of no others: %+v, expected no interval", i)
	}
}

// Wilson's interval of 2 in 10 is 5.7 to 51 %.
func TestShare(t *testing.T) {
	t.Parallel()
	if low, high := stats.Share(0.2, 10); math.Abs(low-0.0567) > 1e-4 || math.Abs(high-0.5098) > 1e-4 {
		t.Errorf("2 in 10: %.4f to %.4f", low, high)
	}
	if low, high := stats.Share(0, 10); low != 0 || high < 0.2 || high > 0.3 {
		t.Errorf("0 in 10: %.4f to %.4f", low, high)
	}
}
