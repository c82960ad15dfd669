package stats

import (
	"math"
	"slices"
)

// LeastPairs is the number of pairs below which no interval of ranks holds in 95 of 100 cases.
const LeastPairs = 6

// Ratio returns by which factor the second measurement of a pair is larger than the first, as
// [Difference] does of their logarithms. There is none, and ok is false, if a measurement is not
// positive, too.
func Ratio(first, second []float64) (i Interval, ok bool) {
	i, ok = Difference(logarithms(first), logarithms(second))
	return Interval{Mean: math.Exp(i.Mean), Low: math.Exp(i.Low), High: math.Exp(i.High)}, ok
}

// logarithms of what is not positive are infinite, or no numbers.
func logarithms(list []float64) []float64 {
	logs := make([]float64, len(list))
	for k, x := range list {
		logs[k] = math.Log(x)
	}
	return logs
}

// Difference returns by how much the second measurement of a pair is larger than the first: the
// median of the means of any two pairs' differences (Hodges and Lehmann), and between which numbers
// that is (Wilcoxon's signed ranks). It rests on nothing but that a pair's two measurements differ
// by chance in one direction as often as in the other: of equal programs either end lies on the
// wrong side of 0 in at most 2.5 of 100 cases, whatever the distribution. There is none, and ok is
// false, for fewer than [LeastPairs] pairs, or if a measurement is no number.
func Difference(first, second []float64) (i Interval, ok bool) {
	n := len(first)
	if n < LeastPairs || len(second) != n {
		return i, false
	}
	apart := make([]float64, n)
	for k := range apart {
		if apart[k] = second[k] - first[k]; math.IsInf(apart[k], 0) || math.IsNaN(apart[k]) {
			return i, false
		}
	}
	var means []float64
	for a := range apart {
		for b := range a + 1 {
			means = append(means, (apart[a]+apart[b])/2)
		}
	}
	slices.Sort(means)
	at := outside(n)
	middle := (means[(len(means)-1)/2] + means[len(means)/2]) / 2
	return Interval{Mean: middle, Low: means[at], High: means[len(means)-1-at]}, true
}

// outside is how many means lie below the lower end of an interval. The end is on the wrong side if
// the ranks of the differences in one direction add up to no more than that, which comes about in
// at most 2.5 of 100 cases.
func outside(n int) int {
	ways := make([]float64, n*(n+1)/2+1) // in which a sum comes about, as a share of all
	ways[0] = 1
	for rank := 1; rank <= n; rank++ {
		for sum := rank * (rank + 1) / 2; sum >= 0; sum-- {
			ways[sum] /= 2
			if sum >= rank {
				ways[sum] += ways[sum-rank] / 2
			}
		}
	}
	below, at := ways[0], 0
	for below+ways[at+1] <= 0.025 {
		at++
		below += ways[at]
	}
	return at
}
