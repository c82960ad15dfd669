package profile

import (
	"math"
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
	t       *trace.Trace
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
}

// found is what samples found in a place.
type found struct {
	n     int
	exts  map[*ext]*part
	order []*ext
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
	s := sampled{t: t, strata: map[stratumKey]*stratum{}, places: map[int32]*found{}, walks: map[walk]walked{}, waits: map[walk]int32{}, procs: map[string]int32{}}
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
		f = &found{exts: map[*ext]*part{}}
		s.places[at] = f
	}
	pt := f.exts[x]
	if pt == nil {
		pt = &part{place: to}
		f.exts[x] = pt
		f.order = append(f.order, x)
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

// Of a place with fewer samples than enough, others of its stratum count as borrowed ones.
const (
	enough   = 16
	borrowed = 2
)

// divide gives the time of places to what samples found there.
func (b *builder) divide() {
	s := &b.sampled
	s.looked()
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
			b.divideOne(at, st)
		}
	}
}

func (b *builder) divideOne(at int32, st *stratum) {
	d := b.division(at, st)
	whole := b.places.list[at].usage
	rest := Usage{Blocked: whole.Blocked, Idle: whole.Idle}
	rest.Runnable[useBlocked], rest.Crowds[useBlocked] = whole.Runnable[useBlocked], whole.Crowds[useBlocked]
	b.places.list[at].usage = rest
	for k := range d.parts {
		u := d.share(&whole, k)
		b.places.list[d.parts[k].place].usage.add(&u)
	}
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

// Interval is a 95 % confidence interval of an estimated time, in ns.
type Interval struct {
	Low  int64 `json:"low_ns"`
	High int64 `json:"high_ns"`
}

// estimate is what of a line's NPT samples tell: its mean and variance, in ns. Where each
// of many samples found the line, only so much less is possible.
type estimate struct{ mean, variance, less float64 }

// many is how many looks say something of what none of them saw.
const many = 30

// estimates are those of all lines that samples may have changed.
func (b *builder) estimates() map[line]estimate {
	out := map[line]estimate{}
	for _, st := range b.sampled.order {
		if st.v == 0 {
			continue
		}
		c := st.npt / st.v
		n := st.v * st.v / st.v2 // looks, as if all counted alike
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
	for i := range b.t.Points {
		p := &b.t.Points[i]
		if p.Degraded() == 0 || p.Kind != spec.PointProc && p.Kind != spec.PointLoop {
			continue
		}
		for _, self := range []bool{false, true} {
			if l := (line{int32(i), self}); out[l] == (estimate{}) {
				out[l] = estimate{} // it was never found
			}
		}
	}
	return out
}

// score is the square of the normal distribution's quantile of 95 %.
const score = 1.96 * 1.96

// interval is Wilson's score interval for the share of a line in a time, in as many looks
// as would have the variance that was seen: half to twice those that there were.
func (e *estimate) interval(whole, looks float64) (low, high float64) {
	p := min(1, e.mean/whole)
	n := 2 * looks
	if p == 0 {
		n = looks
	}
	if v := e.variance / (whole * whole); v > 0 && p < 1 {
		n = min(n, max(looks/2, p*(1-p)/v))
	}
	mid := (p + score/(2*n)) / (1 + score/n)
	half := math.Sqrt(score*(p*(1-p)/n+score/(4*n*n))) / (1 + score/n)
	return whole * max(0, mid-half), whole * min(1, mid+half)
}

// around is the interval around a line's time, of which the estimate is a part.
func (e *estimate) around(ns int64, whole, looks float64) *Interval {
	low, high := e.interval(whole, looks)
	if e.mean == 0 && e.less > 0 {
		low, high = 0, 0
	}
	return &Interval{max(0, ns-round(e.mean-low+e.less)), ns + round(high-e.mean)}
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

// sampledEntry gives an entry its intervals.
func (b *builder) sampledEntry(e *Entry, proc int32) {
	if b.sampled.looks == 0 {
		return
	}
	whole, looks := float64(b.busyTime), float64(b.sampled.looks)
	if g, ok := b.guesses[line{proc, true}]; ok {
		e.SelfNPTs = g.around(e.SelfNPT, whole, looks)
	}
	if g, ok := b.guesses[line{proc, false}]; ok {
		e.NPTs = g.around(e.NPT, whole, looks)
	}
}
