// Package hist counts times in a histogram of bounded size, from which quantiles are read, and
// which can be added to others. A few times are kept exactly, so their quantiles are exact. Many
// are counted in buckets as wide as 1/64 of their lower bound, as in an HDR histogram, and a
// quantile is then less than 0.8 % from the time that has its rank.
//
// A histogram depends only on its times, not on their order or on how they were combined: one
// merged from parts equals one that was given all times.
package hist

import (
	"math/bits"
	"slices"
)

// Exact is up to how many times a histogram keeps.
const Exact = 1000

// Histogram is a distribution of times, in ns. Its zero value is empty.
type Histogram struct {
	n, total, most int64
	few            []int64 // all of them, in any order; nil once there are more than Exact
	counts         []int64 // by bucket, once there are
}

// Count is how many times there are.
func (h *Histogram) Count() int64 { return h.n }

// Total is their sum.
func (h *Histogram) Total() int64 { return h.total }

// Max is the longest of them, 0 if there are none.
func (h *Histogram) Max() int64 { return h.most }

// Add adds a time. One below 0, as damaged files have it, counts as 0.
func (h *Histogram) Add(ns int64) {
	ns = max(ns, 0)
	h.n, h.total, h.most = h.n+1, h.total+ns, max(h.most, ns)
	if h.n <= Exact {
		h.few = append(h.few, ns)
		return
	}
	h.spill()
	h.count(bucket(ns), 1)
}

// Merge adds the times of another histogram, which stays as it is.
func (h *Histogram) Merge(o *Histogram) {
	h.n, h.total, h.most = h.n+o.n, h.total+o.total, max(h.most, o.most)
	if h.n <= Exact {
		h.few = append(h.few, o.few...)
		return
	}
	h.spill()
	for _, ns := range o.few {
		h.count(bucket(ns), 1)
	}
	for i, n := range o.counts {
		if n > 0 {
			h.count(i, n)
		}
	}
}

// spill puts the times that are kept into buckets.
func (h *Histogram) spill() {
	for _, ns := range h.few {
		h.count(bucket(ns), 1)
	}
	h.few = nil
}

func (h *Histogram) count(i int, n int64) {
	if i >= len(h.counts) {
		h.counts = append(h.counts, make([]int64, i+1-len(h.counts))...)
	}
	h.counts[i] += n
}

// Percentile is the time that so many of 100 times do not exceed: of n times that of the rank
// (n-1)*percent/100, counted from 0 and rounded down. It is 0 if there are none. percent is 0 to
// 100.
func (h *Histogram) Percentile(percent int64) int64 {
	if h.n == 0 {
		return 0
	}
	rank := h.rank(percent)
	if h.counts == nil {
		sorted := slices.Sorted(slices.Values(h.few))
		return sorted[rank]
	}
	if rank == h.n-1 {
		return h.most
	}
	for i, n := range h.counts {
		if rank -= n; rank < 0 {
			return min(middle(i), h.most)
		}
	}
	return h.most
}

// rank is (n-1)*percent/100, which would not overflow before n has 57 bits.
func (h *Histogram) rank(percent int64) int64 { return (h.n - 1) * percent / 100 }

// subBits make 64 buckets of every power of two. Times below 128 have buckets of their own.
const subBits = 6

// bucket is the number of the bucket of a time.
func bucket(ns int64) int {
	e := bits.Len64(uint64(ns)) - subBits - 1
	if e <= 0 {
		return int(ns)
	}
	return e<<subBits + int(ns>>e)
}

// middle is the time in the middle of a bucket: no time in it is further away than half of its
// width, which is less than 1/128 of the time.
func middle(i int) int64 {
	if i < 2<<subBits {
		return int64(i)
	}
	e := i>>subBits - 1
	return int64(i-e<<subBits)<<e + (int64(1)<<e-1)/2
}
