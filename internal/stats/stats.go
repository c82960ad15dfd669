// Package stats summarizes samples: medians, means and ratios, with their confidence intervals. The
// arithmetic is gonum's. This package only chooses among the usual definitions, because otherwise
// two commands could disagree about the same samples.
package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Number is a type whose samples can be summarized. Integers of more than 53 bits lose digits.
type Number interface {
	~int64 | ~uint64 | ~float64
}

// Median is the sample in the middle, 0 if there are none. Of an even number it is the lower one of
// the two, and not their mean: a count stays a count that was seen.
func Median[T Number](samples []T) T { return Quantile(samples, 0.5) }

// Quantile is the lowest sample that a share q of all samples does not exceed, 0 if there are none.
func Quantile[T Number](samples []T, q float64) T {
	if len(samples) == 0 {
		return 0
	}
	xs := floats(samples)
	slices.Sort(xs)
	return T(stat.Quantile(q, stat.Empirical, xs, nil))
}

// Interval is a mean with a 95 % confidence interval: Student's t, for normally distributed
// samples.
type Interval struct {
	Mean, Low, High float64
}

// Mean returns the mean of at least two samples, because one sample does not show how far others
// are from it.
func Mean[T Number](samples []T) (Interval, error) {
	if len(samples) < 2 {
		return Interval{}, fmt.Errorf("found %d, expected two or more samples: an interval is of what differs between them", len(samples))
	}
	n := float64(len(samples))
	mean, deviation := stat.MeanStdDev(floats(samples), nil)
	half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975) * deviation / math.Sqrt(n)
	return Interval{mean, mean - half, mean + half}, nil
}

// Trimmed is Mean without a fifth of the samples at either end, with the interval of Tukey and
// McLaughlin (1963): one of eight or more samples that is far off hardly moves it. Fewer are not
// trimmed, since their interval would hold less often.
func Trimmed[T Number](samples []T) (Interval, error) {
	xs := floats(samples)
	if len(xs) < leastTrimmed {
		return Mean(samples)
	}
	cut := len(xs) / 5
	slices.Sort(xs)
	kept := xs[cut : len(xs)-cut]
	mean := stat.Mean(kept, nil)
	for i := range cut { // of the interval they count as the last ones that are kept
		xs[i], xs[len(xs)-1-i] = kept[0], kept[len(kept)-1]
	}
	n, left := float64(len(xs)), float64(len(kept))
	half := distuv.StudentsT{Sigma: 1, Nu: left - 1}.Quantile(0.975) * stat.StdDev(xs, nil) * math.Sqrt(n) / left
	return Interval{mean, mean - half, mean + half}, nil
}

const leastTrimmed = 8

func floats[T Number](samples []T) []float64 {
	xs := make([]float64, len(samples))
	for i, x := range samples {
		xs[i] = float64(x)
	}
	return xs
}

// Kendall is the rank correlation of two lists: 1, the same order; -1, the reverse. It is 1 for
// fewer than two pairs.
func Kendall(x, y []float64) float64 {
	if len(x) < 2 {
		return 1
	}
	return stat.Kendall(x, y, nil)
}
