package hist_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/hist"
)

func of(times []int64) *hist.Histogram {
	h := &hist.Histogram{}
	for _, ns := range times {
		h.Add(ns)
	}
	return h
}

// draw returns times of all magnitudes, so many that some histograms keep them and some do not.
func draw(t *rapid.T, label string) []int64 {
	n := rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(hist.Exact-2, hist.Exact+2),
		rapid.IntRange(0, 3*hist.Exact)).Draw(t, label)
	top := rapid.IntRange(0, 62).Draw(t, label+" bits")
	seed := rapid.Uint64().Draw(t, label+" seed")
	times := make([]int64, n)
	for i := range times {
		seed = seed*6364136223846793005 + 1442695040888963407
		times[i] = int64(seed>>1) >> (62 - top) >> (seed % 8)
	}
	return times
}

var percents = []int64{0, 1, 10, 50, 90, 99, 100}

// A quantile of few times is the time of its rank; one of many is within the stated error.
func TestBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		times := draw(t, "times")
		h := of(times)
		slices.Sort(times)
		for _, percent := range percents {
			got := h.Percentile(percent)
			if len(times) == 0 {
				if got != 0 {
					t.Errorf("%d of 100 of nothing: %d, expected 0", percent, got)
				}
				continue
			}
			want := times[int64(len(times)-1)*percent/100]
			switch off := math.Abs(float64(got - want)); {
			case len(times) <= hist.Exact && got != want:
				t.Errorf("%d of 100 of %d times: %d, expected exactly %d", percent, len(times), got, want)
			case off > float64(want)/128:
				t.Errorf("%d of 100 of %d times: %d, expected %d within 1/128", percent, len(times), got, want)
			}
		}
	})
}

// Parts that are merged, in any order, are the same histogram as all times at once.
func TestMerge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		all, ab, ba, ob := of(slices.Concat(a, b)), of(a), of(b), of(b)
		ab.Merge(ob)
		ba.Merge(of(a))
		if !reflect.DeepEqual(ob, of(b)) {
			t.Error("the histogram that was merged into another is not what it was")
		}
		for name, h := range map[string]*hist.Histogram{"a with b": ab, "b with a": ba} {
			if h.Count() != all.Count() || h.Total() != all.Total() || h.Max() != all.Max() {
				t.Errorf("%s: %d times, %d ns, at most %d; expected %d, %d, %d", name, h.Count(), h.Total(), h.Max(),
					all.Count(), all.Total(), all.Max())
			}
			for percent := range int64(101) {
				if got, want := h.Percentile(percent), all.Percentile(percent); got != want {
					t.Errorf("%s: %d of 100: %d, expected %d", name, percent, got, want)
				}
			}
		}
	})
}

// A time that is no time must not end the reading of a file.
func TestNegative(t *testing.T) {
	t.Parallel()
	if h := of([]int64{-5, math.MinInt64}); h.Count() != 2 || h.Total() != 0 || h.Percentile(100) != 0 {
		t.Errorf("%d times, %d ns, at most %d; expected two of 0", h.Count(), h.Total(), h.Percentile(100))
	}
}
