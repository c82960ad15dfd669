package profile

import (
	"qinst.dev/cmd/internal/stats"
	"qinst.dev/cmd/internal/trace"
	"qinst.dev/sddf/spec"
)

// Interval is a 95 % confidence interval of an estimated time, in ns.
type Interval struct {
	Low  int64 `json:"low_ns"`
	High int64 `json:"high_ns"`
}

// estimate is the sampled part of a line's NPT: its mean and variance, in ns. If each of many
// samples found the line, less bounds by how much lower its time may be.
type estimate struct{ mean, variance, less float64 }

// many is the number of looks from which on it is significant that none of them saw anything
// else.
const many = 30

// estimates returns the estimates of all lines that samples may have changed.
func (s *sampled) estimates() map[line]estimate {
	out := map[line]estimate{}
	for _, st := range s.order {
		if st.v == 0 {
			continue
		}
		c := st.npt / st.v
		n := st.v * st.v / st.v2 // effective number of looks with equal weight
		for l, m := range st.lines {
			if l.self && l.proc == max(st.key.top, st.key.loop) && m.u == st.v {
				continue // nothing else was found there
			}
			e, f := out[l], m.u/st.v
			if m.u == st.v && n >= many {
				e.less += st.npt * score / (n + score)
				out[l] = e
				continue
			}
			e.mean += st.npt * f
			e.variance += c * c * max(0, m.u2-2*f*m.uv+f*f*st.v2) * n / max(n-1, 0.5)
			out[l] = e
		}
	}
	for i := range s.r.T.Points {
		p := &s.r.T.Points[i]
		if p.Degraded() == 0 || p.Small() && s.codes < enough || p.Kind != spec.PointProc && p.Kind != spec.PointLoop {
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

// around returns the interval around a line's time, of which the estimate is a part.
func (e *estimate) around(ns int64, whole, looks float64) *Interval {
	low, high := e.interval(whole, looks)
	if e.mean == 0 && e.less > 0 {
		low, high = 0, 0
	}
	return &Interval{max(0, ns-round(e.mean-low+e.less)), ns + round(high-e.mean)}
}
