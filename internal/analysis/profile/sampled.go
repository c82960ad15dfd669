package profile

import (
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// Procedures and loops below trace have no events, so from events alone their time would be
// charged to their callers. If samples were taken, the exact time of each context is divided in
// proportion to the samples found there, separately for each number of busy processors, so that
// all sums stay as they are. Contexts with few samples also use those of their stratum: the same
// goroutines in the same procedure. The time that lines gain or lose by this is an estimate and
// has an interval.
type sampled struct {
	r       *replay.Replay
	strata  map[stratumKey]*stratum
	order   []*stratum
	found   map[replay.ContextID]*found
	bare    map[line]float64 // NPT, ns, of lines in contexts without a sample
	looks   int64
	samples int64
	codes   int64 // samples that tell what text ran
	probes  int64 // of these, that found a probe

	inText, inProbed float64  // weight of samples that tell what text ran, and of those that found text with probes
	look             []sample // of the look at hand
	touched          []*moments
}

// stratumKey identifies a stratum. A loop has a stratum of its own, for the loop's own time.
type stratumKey struct {
	group     replay.GroupID
	top, loop trace.PointID
}

type stratum struct {
	key    stratumKey
	exts   map[extKey]*ext
	order  []*ext
	lines  map[line]*moments
	lost   map[trace.PointID]*moments // by procedure or loop, all that was done on whose behalf: what probes took of it
	v, v2  float64                    // total weight of the looks, and of their squares
	tick   float64                    // weight in the look at hand
	n      float64                    // samples
	codes  float64                    // of these, that tell what text ran
	weight float64                    // of them, whatever else was busy
	npt    float64                    // of all its contexts, ns
}

// extKey is an extension of a context found by samples beyond its events: additional procedures
// and loops, and the innermost ones.
type extKey struct {
	set              replay.SetID // of these alone
	top, inner, loop trace.PointID
}

type ext struct {
	extKey
	at    []float64 // weight by busy processors; [0]: in system calls without one
	lines []*moments
	procs []trace.PointID // of the set
}

// found is the result of the samples in one context.
type found struct {
	n      int
	exts   map[*ext]*part
	order  []*ext
	within map[trace.PointID]float64 // weight by procedure
	lost   []*moments                // see stratum
}

type part struct {
	place replay.ContextID
	at    []float64
}

// line identifies an interval: self or total of a procedure or loop.
type line struct {
	proc trace.PointID
	self bool
}

// moments are sums over looks. u is the weight of a line in a look, v that of its whole stratum:
// u, u squared, u v.
type moments struct {
	of        *stratum
	u, u2, uv float64
	tick      float64
}

// sample is a sample of the current look: its stratum, the extension that it found, and its
// weight.
type sample struct {
	stratum *stratum
	lines   []*moments
	w       float64
}

func newSampled(r *replay.Replay) *sampled {
	return &sampled{r: r, strata: map[stratumKey]*stratum{}, found: map[replay.ContextID]*found{},
		bare: map[line]float64{}}
}

// note records that a sample at context at, with so many processors busy, found context to. A code
// means that it shows the text that ran, and so probes.
func (s *sampled) note(at, to replay.ContextID, i int, weight float64, code bool) {
	s.samples++
	from := s.r.Contexts.Node(at).Context
	st := s.stratumOf(stratumKey{from.Group, from.Proc, trace.NoPoint})
	x := s.extOf(st, at, to)
	f := s.found[at]
	if f == nil {
		f = &found{exts: map[*ext]*part{}, within: map[trace.PointID]float64{}}
		s.found[at] = f
	}
	pt := f.exts[x]
	if pt == nil {
		pt = &part{place: to}
		f.exts[x] = pt
		f.order = append(f.order, x)
	}
	for _, proc := range x.procs {
		f.within[proc] += weight
	}
	f.n++
	st.n++
	if code {
		s.codes++
		st.codes++
	}
	st.weight += weight
	pt.at, x.at = addAt(pt.at, i, weight), addAt(x.at, i, weight)
	if i == 0 {
		return
	}
	lines := x.lines
	if s.isProbes(to) {
		lines = slices.Concat(lines, s.loses(st, f, from.Set))
	}
	s.look = append(s.look, sample{st, lines, weight / float64(i)})
	if from.Loop != trace.NoPoint {
		sl := s.stratumOf(stratumKey{from.Group, from.Proc, from.Loop})
		var lines []*moments
		if s.r.Contexts.Node(to).Loop == from.Loop {
			lines = append(lines, sl.line(line{from.Loop, true}))
		}
		s.look = append(s.look, sample{sl, lines, weight / float64(i)})
	}
}

// isProbes reports whether a context is that of probes.
func (s *sampled) isProbes(at replay.ContextID) bool {
	return s.r.Contexts.Node(at).Proc == s.r.System.Probes
}

// loses returns what probes take in a context from the lines of all on whose behalf it is.
func (s *sampled) loses(st *stratum, f *found, set replay.SetID) []*moments {
	if f.lost != nil {
		return f.lost
	}
	for ; set != 0; set = s.r.Sets.Parent(set) {
		proc := s.r.Sets.Last(set).Point()
		if proc < 0 || int(proc) >= len(s.r.T.Points) {
			continue
		}
		m := st.lost[proc]
		if m == nil {
			m = &moments{of: st}
			st.lost[proc] = m
		}
		f.lost = append(f.lost, m)
	}
	return f.lost
}

func addAt(at []float64, i int, w float64) []float64 {
	for i >= len(at) {
		at = append(at, 0)
	}
	at[i] += w
	return at
}

func (s *sampled) stratumOf(k stratumKey) *stratum {
	st := s.strata[k]
	if st == nil {
		st = &stratum{key: k, exts: map[extKey]*ext{}, lines: map[line]*moments{}, lost: map[trace.PointID]*moments{}}
		s.strata[k] = st
		s.order = append(s.order, st)
	}
	return st
}

func (st *stratum) line(l line) *moments {
	m := st.lines[l]
	if m == nil {
		m = &moments{of: st}
		st.lines[l] = m
	}
	return m
}

// extOf returns the extension that leads from one context to another.
func (s *sampled) extOf(st *stratum, at, to replay.ContextID) *ext {
	from, w := s.r.Contexts.Node(at).Context, s.r.Contexts.Node(to).Context
	k := extKey{0, w.Proc, w.Inner, w.Loop}
	if at == to {
		k = extKey{0, trace.NoPoint, trace.NoPoint, trace.NoPoint}
	} else {
		k.set = s.beyond(from.Set, w.Set)
	}
	x := st.exts[k]
	if x != nil {
		return x
	}
	x = &ext{extKey: k}
	st.exts[k] = x
	st.order = append(st.order, x)
	x.lines = append(x.lines, st.line(line{w.Proc, true}))
	if w.Loop != trace.NoPoint && w.Loop != from.Loop {
		x.lines = append(x.lines, st.line(line{w.Loop, true}))
	}
	for set := k.set; set != 0; set = s.r.Sets.Parent(set) {
		if proc := s.r.Sets.Last(set).Point(); proc >= 0 && int(proc) < len(s.r.T.Points) {
			x.lines = append(x.lines, st.line(line{proc, false}))
			x.procs = append(x.procs, proc)
		}
	}
	return x
}

// beyond returns the set of those members of set that from does not have.
func (s *sampled) beyond(from, set replay.SetID) replay.SetID {
	if set == 0 || set == from {
		return 0
	}
	member := s.r.Sets.Last(set)
	rest := s.beyond(from, s.r.Sets.Parent(set))
	if s.r.Sets.Has(from, member) {
		return rest
	}
	return s.r.Sets.With(rest, member)
}

// looked ends a look. The samples of one look count as one observation.
func (s *sampled) looked() {
	if len(s.look) == 0 {
		return
	}
	s.looks++
	for _, f := range s.look {
		f.stratum.tick += f.w
		for _, m := range f.lines {
			if m.tick == 0 {
				s.touched = append(s.touched, m)
			}
			m.tick += f.w
		}
	}
	for _, m := range s.touched {
		m.u += m.tick
		m.u2 += m.tick * m.tick
		m.uv += m.tick * m.of.tick
		m.tick = 0
	}
	for _, f := range s.look {
		st := f.stratum
		st.v += st.tick
		st.v2 += st.tick * st.tick
		st.tick = 0
	}
	s.look, s.touched = s.look[:0], s.touched[:0]
}
