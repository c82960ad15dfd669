package profile

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Interval is a 95 % confidence interval of an estimated time, in ns.
type Interval struct {
	Low  int64 `json:"low_ns"`
	High int64 `json:"high_ns"`
}

// estimate is the sampled part of a line's NPT: its mean and variance, in ns. If each of many
// samples found the line, less bounds by how much lower its time may be. more bounds its time where
// it could be and no sample found it, or only probes. lost is the time that probes took of it, by
// samples.
type estimate struct {
	mean, variance, less, more float64
	lost, lostVariance         float64
	found                      bool // samples found something of it
}

// many is the number of looks above which it is significant that none of them saw anything else.
const many = 30

// untoldOf is how much of a time something has at most, in 95 of 100 cases, that none of n looks
// found there.
func untoldOf(ns, n float64) float64 { return ns * score / (n + score) }

// estimates returns the estimates of all lines that samples may have changed.
func (s *sampled) estimates() map[line]estimate {
	out, hides := map[line]estimate{}, replay.Hides(s.r.T, s.degraded)
	for _, st := range s.order {
		if st.v == 0 {
			continue
		}
		c := st.npt / st.v
		n := st.v * st.v / st.v2 // effective number of looks with equal weight
		own := line{max(st.key.top, st.key.loop), true}
		if m := st.lines[own]; m == nil || m.u == 0 {
			e := out[own]
			e.more += untoldOf(st.npt, n)
			out[own] = e
		}
		for l, m := range st.lines {
			e, f := out[l], m.u/st.v
			switch {
			case m.u == 0: // in system calls alone
				continue
			case l == own && m.u == st.v: // nothing else was found there
				if !hides[st.key.top] {
					continue
				}
				e.less += untoldOf(st.npt, n)
			case m.u == st.v && n >= many:
				e.less, e.found = e.less+untoldOf(st.npt, n), true
			default:
				e.mean, e.found = e.mean+st.npt*f, true
				e.variance += st.variance(m, c, n)
			}
			out[l] = e
		}
		for proc, m := range st.lost {
			l := line{proc, false}
			e := out[l]
			if m.u == st.v {
				e.more += untoldOf(st.npt, n)
			} else {
				e.lost += st.npt * m.u / st.v
				e.lostVariance += st.variance(m, c, n)
			}
			out[l] = e
		}
	}
	for l, ns := range s.bare { // all of it may be that of calls that were only counted
		proc := l.proc
		if proc != trace.NoPoint && s.r.T.Points[proc].Kind == spec.PointLoop {
			proc = s.r.T.Points[proc].Owner
		}
		if hides[proc] && ns > 0 {
			e := out[l]
			e.less += ns
			out[l] = e
		}
	}
	for i := range s.r.T.Points {
		p := &s.r.T.Points[i]
		if !s.degraded(p) || p.Kind != spec.PointProc && p.Kind != spec.PointLoop {
			continue
		}
		for _, self := range []bool{false, true} {
			l := line{trace.PointID(i), self}
			if _, ok := out[l]; !ok {
				out[l] = estimate{} // it was never found
			}
		}
	}
	return out
}

// variance of c times what samples found of a line, by n looks.
func (st *stratum) variance(m *moments, c, n float64) float64 {
	f := m.u / st.v
	return c * c * max(0, m.u2-2*f*m.uv+f*f*st.v2) * n / max(n-1, 0.5)
}

// degraded reports whether a point has hits without events, which samples find.
func (s *sampled) degraded(p *trace.Point) bool {
	return p.Degraded() > 0 && (!p.Small() || s.codes >= enough)
}

// score is the square of the normal distribution's quantile of 95 %.
const score = 1.96 * 1.96

// interval returns Wilson's score interval for the share of a line in a time. It uses the number
// of looks that would give the observed variance, limited to between half and twice the actual
// number.
func (e *estimate) interval(whole, looks float64) (low, high float64) {
	p := min(1, e.mean/whole)
	n := 2 * looks
	if p == 0 {
		n = looks
	}
	if v := e.variance / (whole * whole); v > 0 && p < 1 {
		n = min(n, max(looks/2, p*(1-p)/v))
	}
	low, high = stats.Share(p, n)
	return whole * low, whole * high
}

// around returns the interval around a line's time; the estimate is a part of that time.
func (e *estimate) around(ns int64, whole, looks float64) *Interval {
	low, high := 0., 0.
	if e.mean > 0 || e.less+e.more+e.lost == 0 {
		low, high = e.interval(whole, looks)
	}
	in := &Interval{max(0, ns-round(e.mean-low+e.less)), ns + round(high-e.mean+e.more)}
	if e.lost > 0 {
		lost := estimate{mean: e.lost, variance: e.lostVariance}
		low, high = lost.interval(whole, looks)
		in.Low, in.High = max(0, in.Low-round(high-e.lost)), in.High+round(e.lost-low)
	}
	return in
}

// exact reports whether what an estimate says of a line's time is too little to be shown.
func (e *estimate) exact(ns int64, in *Interval) bool {
	return !e.found && e.less+e.more+e.lost > 0 && float64(max(ns-in.Low, in.High-ns)) <= exactWithin*float64(ns)
}

// times is the estimate if all times are k times as long.
func (e estimate) times(k float64) estimate {
	return estimate{k * e.mean, k * k * e.variance, k * e.less, k * e.more, k * e.lost, k * k * e.lostVariance, e.found}
}
