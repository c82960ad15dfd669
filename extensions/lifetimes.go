package extensions

import (
	"math/bits"

	"qinst.dev/sddf"
)

// ProcedureLifetimes is how long the calls of a procedure took: a record each, at the
// end. Bounds and Counts are the histogram: Counts[i] calls took at most Bounds[i], and
// more than the bound before, which is less than 1.6 % smaller.
type ProcedureLifetimes struct {
	Procedure uint32   `sddf:"procedure,unit=probe"`
	Calls     uint64   `sddf:"calls"`
	Least     int64    `sddf:"least,unit=ns"`
	Median    int64    `sddf:"median,unit=ns"`
	P90       int64    `sddf:"p90,unit=ns"`
	P99       int64    `sddf:"p99,unit=ns"`
	P999      int64    `sddf:"p999,unit=ns"`
	Most      int64    `sddf:"most,unit=ns"`
	Bounds    []int64  `sddf:"bounds,unit=ns"`
	Counts    []uint64 `sddf:"counts"`
}

var procedureLifetimes = sddf.Define[ProcedureLifetimes]("procedure lifetimes")

// histogram counts times in buckets of a constant relative width, as an HDR histogram
// does: 64 to a power of two. It is as long as its largest time demands, 3 KB for times
// of up to a second: there may be one for each of many thousand procedures.
type histogram struct {
	n           uint64
	least, most uint64
	counts      []uint32
	more        map[int]uint64 // counts beyond the range of counts
}

const subBits = 6

// bucket is the number of the bucket that a time is in, and bound its largest time.
func bucket(v uint64) int {
	e := bits.Len64(v) - subBits - 1
	if e < 0 {
		return int(v)
	}
	return e<<subBits + int(v>>e)
}

func bound(i int) uint64 {
	if i < 2<<subBits {
		return uint64(i)
	}
	e := i>>subBits - 1
	return uint64(i-e<<subBits+1)<<e - 1
}

func (h *histogram) add(v uint64) {
	i := bucket(v)
	c := at(&h.counts, uint32(i))
	if *c++; *c == 0 {
		if h.more == nil {
			h.more = map[int]uint64{}
		}
		h.more[i] += 1 << 32
	}
	if h.n == 0 || v < h.least {
		h.least = v
	}
	h.most = max(h.most, v)
	h.n++
}

func (h *histogram) count(i int) uint64 { return uint64(h.counts[i]) + h.more[i] }

// quantile returns the bound of the bucket that the share q of all times reaches.
func (h *histogram) quantile(q float64) uint64 {
	rank := uint64(q * float64(h.n))
	seen := uint64(0)
	for i := range h.counts {
		if seen += h.count(i); seen > rank {
			return min(bound(i), h.most)
		}
	}
	return h.most
}

// lifetimes keeps a histogram of each procedure's calls.
type lifetimes struct {
	calls Calls
	hists []histogram
}

func (l *lifetimes) Batch(b *Batch) {
	l.calls.Walk(b, func(c *Call) { at(&l.hists, c.Point).add(c.End - c.Start) })
}

func (l *lifetimes) Flush(out *Out, last bool) {
	if !last {
		return
	}
	for i := range l.hists {
		h := &l.hists[i]
		if h.n == 0 {
			continue
		}
		r := ProcedureLifetimes{Procedure: uint32(i), Calls: h.n, Least: out.Ns(h.least),
			Median: out.Ns(h.quantile(0.5)), P90: out.Ns(h.quantile(0.9)),
			P99: out.Ns(h.quantile(0.99)), P999: out.Ns(h.quantile(0.999)), Most: out.Ns(h.most)}
		for k := range h.counts {
			if n := h.count(k); n > 0 {
				r.Bounds, r.Counts = append(r.Bounds, out.Ns(bound(k))), append(r.Counts, n)
			}
		}
		Emit(out, procedureLifetimes, r)
	}
}
