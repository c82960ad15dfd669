package profile

import (
	"slices"

	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

// Procedures and loops that are below trace tell nothing of when they run: the events
// alone would leave their time with their callers. Where samples were taken, the time of
// each place, which is exact, is divided among what the samples found there: in
// proportion, and apart for each number of busy processors, so that all sums stay as they
// are. Places with few samples follow the others of their stratum, too: those of the same
// goroutines in the same procedure. What lines gain, or lose, by that is an estimate, and
// has an interval.
type sampled struct {
	strata  map[stratumKey]*stratum
	order   []*stratum
	places  map[int32]*found // by place
	walks   map[walk]walked
	waits   map[walk]int32 // by place and stack: where a goroutine waits
	procs   map[string]int32
	looks   int64
	samples int64
	look    []sample // of the look at hand
	touched []*moments
}

// stratumKey is what the places of a stratum have in common. That of a loop is for the
// loop's own time alone.
type stratumKey struct{ group, top, loop int32 }

type stratum struct {
	key    stratumKey
	exts   map[extKey]*ext
	order  []*ext
	lines  map[line]*moments
	v, v2  float64 // weight of all looks, and of their squares
	tick   float64 // weight in the look at hand
	n      float64 // samples
	weight float64 // of them, whatever else was busy
	npt    float64 // of all its places, ns
}

// extKey is what samples found beyond what events told: procedures and loops, and what is
// the innermost one then.
type extKey struct {
	set              setID // of these alone
	top, inner, loop int32
}

type ext struct {
	extKey
	at    []float64 // weight by busy processors; [0]: in system calls without one
	lines []*moments
	procs []int32 // of the set
}

// found is what samples found in a place.
type found struct {
	n      int
	exts   map[*ext]*part
	order  []*ext
	within map[int32]float64 // weight by procedure
}

type part struct {
	place int32
	at    []float64
}

// line is what an interval is for: self or total of a procedure or loop.
type line struct {
	proc int32
	self bool
}

// moments are sums over looks of the weight of a line, u, and of all that is in the same
// stratum, v: u, u squared, u v.
type moments struct {
	of        *stratum
	u, u2, uv float64
	tick      float64
}

// sample is one of the look at hand: its strata, what it found, and its weight.
type sample struct {
	stratum *stratum
	lines   []*moments
	w       float64
}

// walk is a path from a place.
type walk struct{ from, path int32 }

// walked is where it leads, and where only that part of it leads that events told of.
type walked struct{ all, told int32 }

func newSampled(t *trace.Trace) sampled {
	s := sampled{strata: map[stratumKey]*stratum{}, places: map[int32]*found{}, walks: map[walk]walked{}, waits: map[walk]int32{}, procs: map[string]int32{}}
	for i := range t.Points {
		if p := &t.Points[i]; p.Kind == spec.PointProc && p.Degraded() > 0 {
			s.procs[p.Name] = int32(i)
		}
	}
	return s
}

// follow is where a path leads from the place in which a goroutine started.
func (b *builder) follow(g *gor, path int32) walked {
	if path == 0 {
		return walked{g.base, g.base}
	}
	key := walk{g.base, path}
	if w, ok := b.sampled.walks[key]; ok {
		return w
	}
	p := &b.t.Paths[path]
	w := b.follow(g, p.From)
	if p.Point >= 0 {
		if p.From == 0 && g.main && p.Point == b.mainMain {
			w.all = b.places.find(b.afterInit(w.all))
		}
		w.all = b.into(w.all, p.Point)
		if !p.Untraced {
			if p.From == 0 && g.main && p.Point == b.mainMain {
				w.told = b.places.find(b.afterInit(w.told))
			}
			w.told = b.into(w.told, p.Point)
		}
	}
	b.sampled.walks[key] = w
	return w
}

// sample takes in what a sampler saw.
func (b *builder) sample(e *trace.Event) {
	s := &b.sampled
	if e.Obj != 0 {
		s.looked()
	}
	if e.Slot == trace.NoSlot {
		return
	}
	g := &b.gs[e.Slot]
	i := 0
	switch {
	case b.out(g), b.virtual != nil:
		return
	case g.busy():
		i = len(b.running)
	case g.state != trace.Blocked:
		return // it spins, or has just left
	}
	s.samples++
	at := g.place
	w := b.follow(g, int32(e.Arg))
	if w.told != at {
		w.all = at // seen while something was entered or left
	}
	b.note(at, w.all, i, float64(max(e.Aux, 1)))
}

// note takes in that a sample in a place, with so many processors busy, found another.
func (b *builder) note(at, to int32, i int, weight float64) {
	s := &b.sampled
	from := b.places.list[at].where
	st := s.stratumOf(stratumKey{from.group, from.top, noProc})
	x := b.extOf(st, at, to)
	f := s.places[at]
	if f == nil {
		f = &found{exts: map[*ext]*part{}, within: map[int32]float64{}}
		s.places[at] = f
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
	st.weight += weight
	pt.at, x.at = addAt(pt.at, i, weight), addAt(x.at, i, weight)
	if i == 0 {
		return
	}
	s.look = append(s.look, sample{st, x.lines, weight / float64(i)})
	if from.loop != noProc {
		sl := s.stratumOf(stratumKey{from.group, from.top, from.loop})
		var lines []*moments
		if b.places.list[to].loop == from.loop {
			lines = append(lines, sl.line(line{from.loop, true}))
		}
		s.look = append(s.look, sample{sl, lines, weight / float64(i)})
	}
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
		st = &stratum{key: k, exts: map[extKey]*ext{}, lines: map[line]*moments{}}
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

// extOf is what leads from a place to another.
func (b *builder) extOf(st *stratum, at, to int32) *ext {
	from, w := b.places.list[at].where, b.places.list[to].where
	k := extKey{0, w.top, w.inner, w.loop}
	if at == to {
		k = extKey{0, noProc, noProc, noProc}
	} else {
		k.set = b.beyond(from.set, w.set)
	}
	x := st.exts[k]
	if x != nil {
		return x
	}
	x = &ext{extKey: k}
	st.exts[k] = x
	st.order = append(st.order, x)
	x.lines = append(x.lines, st.line(line{w.top, true}))
	if w.loop != noProc && w.loop != from.loop {
		x.lines = append(x.lines, st.line(line{w.loop, true}))
	}
	for set := k.set; set != 0; set = b.sets.nodes[set].parent {
		if proc := b.sets.nodes[set].member - int32(NumRoots); proc >= 0 && int(proc) < len(b.t.Points) {
			x.lines = append(x.lines, st.line(line{proc, false}))
			x.procs = append(x.procs, proc)
		}
	}
	return x
}

// beyond is the set of those members of set that from does not have.
func (b *builder) beyond(from, set setID) setID {
	if set == 0 || set == from {
		return 0
	}
	n := &b.sets.nodes[set]
	member := n.member
	rest := b.beyond(from, n.parent)
	if b.sets.has(from, member) {
		return rest
	}
	return b.sets.with(rest, member)
}

// looked ends a look: what was found at one time counts as one.
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

// waitsAt is where a goroutine is that begins to wait in a stack: procedures that are
// below trace stand in it.
func (b *builder) waitsAt(g *gor, stack uint32) int32 {
	s := &b.sampled
	if len(s.procs) == 0 || stack == 0 || int(stack) >= len(b.t.Stacks) {
		return g.place
	}
	key := walk{g.place, int32(stack)}
	if at, ok := s.waits[key]; ok {
		return at
	}
	top, frames := b.at(g).top, b.t.Stacks[stack]
	if len(g.frames) > 0 && top != noProc {
		if i := slices.IndexFunc(frames, func(f trace.Frame) bool { return f.Function == b.t.Points[top].Name }); i >= 0 {
			frames = frames[:i]
		}
	}
	at := g.place
	for _, f := range slices.Backward(frames) {
		if proc, ok := s.procs[f.Function]; ok {
			if g.main && proc == b.mainMain && at == g.base {
				at = b.places.find(b.afterInit(at))
			}
			at = b.into(at, proc)
		}
	}
	s.waits[key] = at
	return at
}

// Sampling is what samplers did.
type Sampling struct {
	Gap     int64 `json:"gap_ns"`  // mean time between looks that was set
	Looks   int64 `json:"looks"`   // that found a goroutine on a processor
	Samples int64 `json:"samples"` // one for each goroutine that was found
}
