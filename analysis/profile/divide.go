package profile

import (
	"math"
	"slices"
)

// Of a place with fewer samples than enough, others of its stratum count as borrowed ones.
const (
	enough   = 16
	borrowed = 2
)

// moved is usage on its way to the place in which samples found it.
type moved struct {
	to    int32
	usage Usage
}

// divide gives the time of places to what samples found there. What a place gets is not
// divided again: all is dealt out before anything arrives.
func (b *builder) divide() {
	s := &b.sampled
	s.looked()
	var list []moved
	for at := range int32(len(b.places.list)) {
		p := &b.places.list[at]
		npt := p.usage.NPT()
		st := s.strata[stratumKey{p.group, p.top, noProc}]
		if sl := s.strata[stratumKey{p.group, p.top, p.loop}]; sl != nil && sl != st {
			sl.npt += npt
		}
		if st == nil {
			continue
		}
		if st.npt += npt; len(st.order) > 1 || st.order[0].top != noProc {
			list = b.deal(list, at, st)
		}
	}
	for i := range list {
		b.places.list[list[i].to].usage.add(&list[i].usage)
	}
}

// deal takes what a place has to divide out of it.
func (b *builder) deal(list []moved, at int32, st *stratum) []moved {
	d := b.division(at, st)
	whole := b.places.list[at].usage
	rest := Usage{Blocked: whole.Blocked, Idle: whole.Idle}
	rest.Runnable[useBlocked], rest.Crowds[useBlocked] = whole.Runnable[useBlocked], whole.Crowds[useBlocked]
	b.places.list[at].usage = rest
	for k := range d.parts {
		list = append(list, moved{d.parts[k].place, d.share(&whole, k)})
	}
	return list
}

// division deals a usage out, so that nothing is lost by rounding.
type division struct {
	parts []part
	sums  []float64 // by busy processors
	busy  []float64 // by part
	all   float64
}

func (b *builder) division(at int32, st *stratum) *division {
	d := &division{}
	f := b.sampled.places[at]
	if f != nil {
		for _, x := range f.order {
			d.parts = append(d.parts, *f.exts[x])
		}
	}
	if f == nil || f.n < enough {
		for _, x := range st.order {
			pt := part{place: b.extend(at, x)}
			for _, w := range x.at {
				pt.at = append(pt.at, w*borrowed/st.n)
			}
			d.parts = append(d.parts, pt)
		}
	}
	d.busy = make([]float64, len(d.parts))
	for k, pt := range d.parts {
		for i, w := range pt.at {
			d.sums = addAt(d.sums, i, w)
			d.busy[k] += w
		}
		d.all += d.busy[k]
	}
	return d
}

// extend is where a place leads by what samples found at others of its stratum.
func (b *builder) extend(at int32, x *ext) int32 {
	if x.set == 0 && x.top == noProc {
		return at
	}
	w := b.places.list[at].where
	var members []int32
	for set := x.set; set != 0; set = b.sets.nodes[set].parent {
		members = append(members, b.sets.nodes[set].member)
	}
	if slices.Contains(members, rootMember(RootMain)) && b.sets.has(w.set, rootMember(RootInit)) {
		w = b.afterInit(at)
	}
	for _, m := range slices.Backward(members) {
		w.set = b.sets.with(w.set, m)
	}
	w.top, w.inner, w.loop = x.top, x.inner, x.loop
	return b.places.find(w)
}

// deal is part k's share of ns: that of the samples with so many processors busy, of all
// if there are none.
func (d *division) deal(ns int64, k, i int) int64 {
	weight := func(k int) float64 { return d.busy[k] }
	sum := d.all
	if i < len(d.sums) && d.sums[i] > 0 {
		sum = d.sums[i]
		weight = func(k int) float64 {
			if at := d.parts[k].at; i < len(at) {
				return at[i]
			}
			return 0
		}
	}
	before := 0.0
	for j := range k {
		before += weight(j)
	}
	upTo := func(w float64) int64 { return int64(math.Round(float64(ns) * min(1, w/sum))) }
	if k == len(d.parts)-1 {
		return ns - upTo(before)
	}
	return upTo(before+weight(k)) - upTo(before)
}

// noCell is no number of busy processors.
const noCell = 1 << 30

func (d *division) share(whole *Usage, k int) (u Usage) {
	for i, ns := range whole.BusyAt {
		if ns != 0 {
			u.busy(i, d.deal(ns, k, i))
		}
	}
	u.Spin = d.deal(whole.Spin, k, noCell)
	u.Ready = d.deal(whole.Ready, k, noCell)
	u.Syscall = d.deal(whole.Syscall, k, 0)
	u.Runnable[useBusy] = d.deal(whole.Runnable[useBusy], k, noCell)
	u.Runnable[useSpin] = d.deal(whole.Runnable[useSpin], k, noCell)
	u.Runnable[useReady] = d.deal(whole.Runnable[useReady], k, noCell)
	u.Runnable[useSyscall] = d.deal(whole.Runnable[useSyscall], k, 0)
	for use, c := range whole.Crowds {
		if c == nil || use == useBlocked {
			continue
		}
		u.Crowds[use] = new(Crowd)
		cell := noCell
		if use == useSyscall {
			cell = 0
		}
		for i, ns := range c {
			u.Crowds[use][i] = d.deal(ns, k, cell)
		}
	}
	return u
}
