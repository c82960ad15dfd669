package correct

import (
	"cmp"
	"slices"

	"qinst.dev/internal/stats"
)

// Turns returns the result of several runs of one program: that of the one that took the median
// time, with the times of all.
func Turns(runs []*Result) *Result {
	sorted := slices.SortedStableFunc(slices.Values(runs),
		func(a, b *Result) int { return cmp.Compare(a.Measured, b.Measured) })
	r := sorted[(len(sorted)-1)/2]
	for _, x := range runs {
		r.Turns = append(r.Turns, Turn{x.Measured, x.Optimistic, x.Model, x.Pessimistic})
	}
	return r
}

// Beside adds the times of plain runs to a result.
func (r *Result) Beside(plain []int64) {
	r.Actual, r.ActualLo, r.ActualHi = stats.Median(plain), stats.Quantile(plain, 0.025), stats.Quantile(plain, 0.975)
}

// Closer is the number of alternating runs whose corrected time is at least as near to the plain
// one as their measured time.
func (r *Result) Closer() (n int) {
	for _, t := range r.Turns {
		if apart(t.Model, r.Actual) <= apart(t.Measured, r.Actual) {
			n++
		}
	}
	return n
}

func apart(a, b int64) int64 { return max(a-b, b-a) }

// Over are the measured and the corrected times of alternating runs, the shortest ones first.
func (r *Result) Over() (measured, model []int64) {
	for _, t := range r.Turns {
		measured, model = append(measured, t.Measured), append(model, t.Model)
	}
	slices.Sort(measured)
	slices.Sort(model)
	return measured, model
}
