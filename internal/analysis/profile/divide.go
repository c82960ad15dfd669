package profile

import (
	"math"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// A context with fewer samples than enough borrows samples from others of its stratum.
const (
	enough   = 16
	borrowed = 2
)

// divide distributes the time of contexts in proportion to the samples found there. A share that
// a context receives must not be divided again, so all shares are computed before any is added.
func (s *sampled) divide(l *ledger) {
	s.looked()
	var gains []Usage // by context
	for at := range l.all() {
		n := &s.r.Contexts.Node(at).Context
		npt := l.at(at).NPT()
		st := s.strata[stratumKey{n.Group, n.Proc, trace.NoPoint}]
		if sl := s.strata[stratumKey{n.Group, n.Proc, n.Loop}]; sl != nil && sl != st {
			sl.npt += npt
		}
		if st == nil {
			s.bare[line{n.Proc, true}] += npt
			if n.Loop != trace.NoPoint {
				s.bare[line{n.Loop, true}] += npt
			}
			continue
		}
		if st.npt += npt; len(st.order) > 1 || st.order[0].top != trace.NoPoint {
			gains = s.deal(l, gains, at, st)
		}
	}
	for at := range gains {
		l.at(replay.ContextID(at)).add(&gains[at])
	}
}

// deal removes from a context the time to be divided, and adds the shares to gains.
func (s *sampled) deal(l *ledger, gains []Usage, at replay.ContextID, st *stratum) []Usage {
	d := s.division(at, st)
	whole := *l.at(at)
	rest := Usage{Blocked: whole.Blocked, Idle: whole.Idle}
	rest.Runnable[useBlocked], rest.RunnableHists[useBlocked] = whole.Runnable[useBlocked],
		whole.RunnableHists[useBlocked]
	*l.at(at) = rest
	gains = append(gains, make([]Usage, int(l.all())-len(gains))...)
	if d.off[len(d.parts)] == 0 { // probes alone were found: whatever else it is, none of this is theirs
		for _, use := range []int{useReady, useSyscall, useOff} {
			l.at(at).Runnable[use], l.at(at).RunnableHists[use] = whole.Runnable[use], whole.RunnableHists[use]
			whole.Runnable[use], whole.RunnableHists[use] = 0, nil
		}
		l.at(at).Ready, l.at(at).Syscall, l.at(at).Off = whole.Ready, whole.Syscall, whole.Off
		whole.Ready, whole.Syscall, whole.Off = 0, 0, 0
	}
	for k := range d.parts {
		u := d.share(&whole, k)
		gains[d.parts[k].place].add(&u)
	}
	return gains
}

// division deals a usage out, so that nothing is lost by rounding.
type division struct {
	parts []part
	upTo  [][]float64 // by busy processors: cumulative weight before each part, then the total
	all   []float64   // the same, for any number of busy processors
	off   []float64   // the same, without probes: a goroutine that waits for a processor, or for the system, is in none
}

func (s *sampled) division(at replay.ContextID, st *stratum) *division {
	d := &division{}
	f := s.found[at]
	if f != nil {
		for _, x := range f.order {
			d.parts = append(d.parts, *f.exts[x])
		}
	}
	if f == nil || f.n < enough {
		for _, x := range st.order {
			pt := part{place: s.extend(at, x)}
			for _, w := range x.at {
				pt.at = append(pt.at, w*borrowed/st.n)
			}
			d.parts = append(d.parts, pt)
		}
	}
	d.all, d.off = make([]float64, len(d.parts)+1), make([]float64, len(d.parts)+1)
	for k, pt := range d.parts {
		for len(d.upTo) < len(pt.at) {
			d.upTo = append(d.upTo, make([]float64, len(d.parts)+1))
		}
		d.all[k+1] = d.all[k]
		for _, w := range pt.at {
			d.all[k+1] += w
		}
		d.off[k+1] = d.off[k]
		if !s.isProbes(pt.place) {
			d.off[k+1] += d.all[k+1] - d.all[k]
		}
	}
	for i, upTo := range d.upTo {
		for k, pt := range d.parts {
			upTo[k+1] = upTo[k]
			if i < len(pt.at) && (i > 0 || !s.isProbes(pt.place)) {
				upTo[k+1] += pt.at[i]
			}
		}
	}
	return d
}

// extend returns the context reached from at by an extension that samples found at another
// context of the stratum.
func (s *sampled) extend(at replay.ContextID, x *ext) replay.ContextID {
	if x.set == 0 && x.top == trace.NoPoint {
		return at
	}
	if x.top == s.r.System.Probes {
		return s.r.Outside(x.top, replay.RootTool, s.r.Contexts.Node(at).Group)
	}
	c := s.r.Contexts.Node(at).Context
	var members []replay.Member
	for set := x.set; set != 0; set = s.r.Sets.Parent(set) {
		members = append(members, s.r.Sets.Last(set))
	}
	if slices.Contains(members, replay.RootMember(replay.RootMain)) &&
		s.r.Sets.Has(c.Set, replay.RootMember(replay.RootInit)) {
		c = s.r.Contexts.AfterInit(at)
	}
	for _, m := range slices.Backward(members) {
		c.Set = s.r.Sets.With(c.Set, m)
	}
	c.Proc, c.Inner, c.Loop = x.top, x.inner, x.loop
	return s.r.Find(c)
}

// deal returns part k's share of ns, in proportion to the samples with that many busy processors
// or, if there are none, to all samples.
func (d *division) deal(ns int64, k, i int) int64 {
	if ns == 0 {
		return 0
	}
	weight := d.all
	if i == noProcessor {
		weight = d.off
	} else if i < len(d.upTo) && d.upTo[i][len(d.parts)] > 0 {
		weight = d.upTo[i]
	}
	upTo := func(k int) int64 {
		if k == len(d.parts) {
			return ns
		}
		return int64(math.Round(float64(ns) * min(1, weight[k]/weight[len(d.parts)])))
	}
	return upTo(k+1) - upTo(k)
}

// noCell is no number of busy processors. noProcessor is that of a goroutine that has none itself.
const (
	noCell      = 1 << 30
	noProcessor = -1
)

// called are the samples that show system calls: those that found some, or else all but probes.
func (d *division) called() int {
	if len(d.upTo) > 0 && d.upTo[0][len(d.parts)] > 0 {
		return 0
	}
	return noProcessor
}

func (d *division) share(whole *Usage, k int) (u Usage) {
	for i, ns := range whole.BusyAt {
		if ns != 0 {
			u.busy(i, d.deal(ns, k, i))
		}
	}
	u.Spin = d.deal(whole.Spin, k, noCell)
	u.Ready = d.deal(whole.Ready, k, noProcessor)
	u.Syscall = d.deal(whole.Syscall, k, d.called())
	u.Off = d.deal(whole.Off, k, noProcessor)
	u.Alone = d.deal(whole.Alone, k, 1)
	u.Runnable[useBusy] = d.deal(whole.Runnable[useBusy], k, noCell)
	u.Runnable[useSpin] = d.deal(whole.Runnable[useSpin], k, noCell)
	u.Runnable[useReady] = d.deal(whole.Runnable[useReady], k, noProcessor)
	u.Runnable[useSyscall] = d.deal(whole.Runnable[useSyscall], k, d.called())
	u.Runnable[useOff] = d.deal(whole.Runnable[useOff], k, noProcessor)
	for use, c := range whole.RunnableHists {
		if c == nil || use == useBlocked {
			continue
		}
		cell := noCell
		switch use {
		case useSyscall:
			cell = d.called()
		case useReady, useOff:
			cell = noProcessor
		}
		for i, ns := range c {
			if part := d.deal(ns, k, cell); part != 0 {
				if u.RunnableHists[use] == nil {
					u.RunnableHists[use] = new(RunnableHist)
				}
				u.RunnableHists[use][i] = part
			}
		}
	}
	return u
}
