package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"qinst.dev/internal/stats"
)

// Of ten pairs eight means lie outside of each end, and of six none: tables of Wilcoxon's test.
// Means of 1 to 10 in steps of a half begin with 1, 1.5, 2, 2, 2.5, 2.5, 3, 3, 3.
func TestRatio(t *testing.T) {
	t.Parallel()
	first, second := make([]float64, 10), make([]float64, 10)
	for i := range first {
		first[i], second[i] = 100, 100*math.Exp(float64(i+1)/100)
	}
	i, ok := stats.Ratio(first, second)
	for _, c := range []struct{ got, want float64 }{{i.Mean, 5.5}, {i.Low, 3}, {i.High, 8}} {
		if got := 100 * math.Log(c.got); !ok || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: found %g, expected %g", i, got, c.want)
		}
	}
	if i, ok = stats.Ratio(first[:6], second[:6]); !ok || math.Abs(100*math.Log(i.Low)-1) > 1e-9 {
		t.Errorf("of six: %+v, %v; expected the least of them as the lower end", i, ok)
	}
	for name, c := range map[string][2][]float64{
		"five":       {first[:5], second[:5]},
		"not paired": {first, second[:9]},
		"no time":    {make([]float64, 10), second},
		"infinite":   {first, append([]float64{math.Inf(1)}, second[1:]...)},
		"no number":  {first, append([]float64{math.NaN()}, second[1:]...)},
	} {
		if i, ok := stats.Ratio(c[0], c[1]); ok {
			t.Errorf("%s: %+v, expected no interval", name, i)
		}
	}
}

// noises are how measurements of equal programs may differ, each with a deviation near 1.
var noises = map[string]func(*rand.Rand) float64{
	"normal":     (*rand.Rand).NormFloat64,
	"heavy tail": func(r *rand.Rand) float64 { return distuv.StudentsT{Sigma: 0.6, Nu: 3, Src: r}.Rand() },
	"one-sided":  func(r *rand.Rand) float64 { return r.ExpFloat64() },
	"two speeds": func(r *rand.Rand) float64 { return 2 * float64(r.IntN(2)) },
}

// Of equal programs an end of the interval is on the wrong side of 1 in at most 2.5 of 100
// experiments. The test fails if the number of such ends has a probability below 1 % for a method
// with that rate.
func TestRatioCoverage(t *testing.T) {
	t.Parallel()
	const experiments = 2000
	for name, noise := range noises {
		for _, n := range []int{6, 10, 30} {
			r := rand.New(rand.NewPCG(uint64(n), 73))
			wrong := 0
			for range experiments {
				first, second := make([]float64, n), make([]float64, n)
				for k := range first {
					first[k], second[k] = math.Exp(0.02*noise(r)), math.Exp(0.02*noise(r))
				}
				if i, _ := stats.Ratio(first, second); i.Low > 1 {
					wrong++
				}
			}
			t.Logf("%s, %d pairs: %.1f %% of lower ends are above 1", name, n, 100*float64(wrong)/experiments)
			if chance := 1 - (distuv.Binomial{N: experiments, P: 0.025}).CDF(float64(wrong)-1); chance < 0.01 {
				t.Errorf("%s, %d pairs: %d of %d lower ends are above 1, expected at most 2.5 of 100", name, n, wrong,
					experiments)
			}
		}
	}
}
