package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"qinst.dev/internal/stats"
)

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		samples []int64
		want    int64
	}{{nil, 0}, {[]int64{7}, 7}, {[]int64{9, 1, 5}, 5}, {[]int64{4, 1, 3, 2}, 2}, {[]int64{-3, -1, -2}, -2}} {
		given := slices.Clone(c.samples)
		if got := stats.Median(c.samples); got != c.want || !slices.Equal(given, c.samples) {
			t.Errorf("median of %v: %d, left %v; expected %d and the samples as they were", given, got, c.samples,
				c.want)
		}
	}
	ten := []float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}
	for q, want := range map[float64]float64{0: 1, 0.1: 1, 0.5: 5, 0.9: 9, 0.95: 10, 1: 10} {
		if got := stats.Quantile(ten, q); got != want {
			t.Errorf("%g of ten: %g, expected %g", q, got, want)
		}
	}
}

// Three samples have two degrees of freedom, for which tables of Student's t have 4.303.
func TestMean(t *testing.T) {
	t.Parallel()
	got, err := stats.Mean([]int64{4, 6, 8})
	half := 4.302653 * 2 / math.Sqrt(3)
	if err != nil || got.Mean != 6 || math.Abs(got.High-6-half) > 1e-5 || math.Abs(6-half-got.Low) > 1e-5 {
		t.Errorf("4, 6, 8: %+v, %v; expected 6 +- %g", got, err, half)
	}
	if got, err := stats.Mean([]float64{3, 3}); err != nil || got != (stats.Interval{Mean: 3, Low: 3, High: 3}) {
		t.Errorf("3, 3: %+v, %v", got, err)
	}
	for _, few := range [][]int64{nil, {1}} {
		if got, err := stats.Mean(few); err == nil {
			t.Errorf("of %d samples: %+v, expected an error", len(few), got)
		}
	}
}

func TestKendall(t *testing.T) {
	for _, c := range []struct {
		x, y []float64
		want float64
	}{
		{[]float64{1, 2, 3}, []float64{10, 20, 30}, 1},
		{[]float64{1, 2, 3}, []float64{3, 2, 1}, -1},
		{[]float64{1, 2, 3}, []float64{1, 3, 2}, 1. / 3},
		{[]float64{1}, []float64{1}, 1},
		{nil, nil, 1},
	} {
		if got := stats.Kendall(c.x, c.y); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v and %v: found %v, expected %v", c.x, c.y, got, c.want)
		}
	}
}

// The interval of a trimmed mean holds in 95 of 100 samples of normal noise, and one value that is
// far off changes it little.
func TestTrimmed(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{5, 8, 16} {
		const times = 4000
		held := 0
		for range times {
			list := make([]float64, n)
			for i := range list {
				list[i] = 10 + r.NormFloat64()
			}
			if i, err := stats.Trimmed(list); err == nil && i.Low <= 10 && i.High >= 10 {
				held++
			}
		}
		if share := float64(held) / times; share < 0.93 || share > 0.975 {
			t.Errorf("%d samples: the interval holds in %.3f, expected 0.95", n, share)
		}
	}
	list := []float64{9, 10, 11, 10, 9, 11, 10, 10}
	before, _ := stats.Trimmed(list)
	list[7] = 1e6
	after, _ := stats.Trimmed(list)
	if after.Mean > before.Mean+0.5 || after.High > before.High+2 {
		t.Errorf("found %+v with one sample far off, %+v without", after, before)
	}
	if _, err := stats.Trimmed([]float64{1}); err == nil {
		t.Error("found an interval of one sample, expected an error")
	}
}
