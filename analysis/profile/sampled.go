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
// are. What lines gain, or lose, by that is an estimate, and has an interval.
type sampled struct {
	t       *trace.Trace
	splits  map[int32]*split // by place
	order   []int32          // of the places
	walks   map[walk]walked
	waits   map[walk]int32 // by place and stack: where a goroutine waits
	procs   map[string]int32
	looks   int64
	samples int64
	look    []found // of the look at hand
	touched []*moments
}

// split is how the time of a place is divided.
type split struct {
	parts   map[int32]*part // by place that samples found
	order   []int32
	lines   map[line]*moments
	v, v2   float64 // weight of all looks, and of their squares
	tick    float64 // weight in the look at hand
	touched bool
}

// part is what samples found in a place.
type part struct {
	place int32
	at    []float64 // weight by busy processors; [0]: in system calls without one
	lines []*moments
}

// line is what an interval is for: self or total of a procedure or loop.
type line struct {
	proc int32
	self bool
}

// moments are sums over looks of the weight of a line, u, and of all that is in the same
// place, v: u, u squared, u v.
type moments struct {
	of        *split
	u, u2, uv float64
	tick      float64
}

// found is one sample: a part of a place, and its weight.
type found struct {
	split *split
	part  *part
	w     float64
}

// walk is a path from a place.
type walk struct{ from, path int32 }

// walked is where it leads, and where only that part of it leads that events told of.
type walked struct{ all, told int32 }

func newSampled(t *trace.Trace) sampled {
	s := sampled{t: t, splits: map[int32]*split{}, walks: map[walk]walked{}, waits: map[walk]int32{}, procs: map[string]int32{}}
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
	sp := s.splitOf(at)
	pt := b.partOf(sp, at, w.all)
	for i >= len(pt.at) {
		pt.at = append(pt.at, 0)
	}
	weight := float64(max(e.Aux, 1))
	pt.at[i] += weight
	if i > 0 {
		s.look = append(s.look, found{sp, pt, weight / float64(i)})
	}
}

func (s *sampled) splitOf(at int32) *split {
	sp := s.splits[at]
	if sp == nil {
		sp = &split{parts: map[int32]*part{}, lines: map[line]*moments{}}
		s.splits[at] = sp
		s.order = append(s.order, at)
	}
	return sp
}

// partOf is the part of a place that is another one.
func (b *builder) partOf(sp *split, at, to int32) *part {
	pt := sp.parts[to]
	if pt != nil {
		return pt
	}
	pt = &part{place: to}
	sp.parts[to] = pt
	sp.order = append(sp.order, to)
	add := func(l line) {
		m := sp.lines[l]
		if m == nil {
			m = &moments{of: sp}
			sp.lines[l] = m
		}
		pt.lines = append(pt.lines, m)
	}
	w, old := b.places.list[to].where, b.places.list[at].where
	add(line{w.top, true})
	if w.loop != noProc {
		add(line{w.loop, true})
	}
	for set := w.set; set != 0; set = b.sets.nodes[set].parent {
		proc := b.sets.nodes[set].member - int32(NumRoots)
		if proc >= 0 && int(proc) < len(b.t.Points) && !b.sets.has(old.set, b.sets.nodes[set].member) {
			add(line{proc, false})
		}
	}
	return pt
}

// looked ends a look: what was found at one time counts as one.
func (s *sampled) looked() {
	if len(s.look) == 0 {
		return
	}
	s.looks++
	for _, f := range s.look {
		f.split.tick += f.w
		for _, m := range f.part.lines {
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
		f.split.v += f.split.tick
		f.split.v2 += f.split.tick * f.split.tick
		f.split.tick = 0
	}
	s.look, s.touched = s.look[:0], s.touched[:0]
}

// divide gives the time of places to what samples found there.
func (b *builder) divide() {
	s := &b.sampled
	s.looked()
	for _, at := range s.order {
		sp := s.splits[at]
		if len(sp.order) == 1 && sp.order[0] == at {
			continue
		}
		whole := b.places.list[at].usage
		b.places.list[at].usage = Usage{Blocked: whole.Blocked, Idle: whole.Idle}
		b.places.list[at].usage.Runnable[useBlocked] = whole.Runnable[useBlocked]
		d := newDivision(sp)
		for k, to := range sp.order {
			u := d.share(&whole, k)
			b.places.list[to].usage.add(&u)
		}
	}
}

// division deals a usage out, so that nothing is lost by rounding.
type division struct {
	parts []*part
	sums  []float64 // by busy processors
	busy  []float64 // by part
	all   float64
}

func newDivision(sp *split) *division {
	d := &division{busy: make([]float64, len(sp.order))}
	for k, to := range sp.order {
		pt := sp.parts[to]
		d.parts = append(d.parts, pt)
		for i, w := range pt.at {
			for i >= len(d.sums) {
				d.sums = append(d.sums, 0)
			}
			d.sums[i] += w
			d.busy[k] += w
		}
		d.all += d.busy[k]
	}
	return d
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
	return u
}

// Interval is a 95 % confidence interval of an estimated time, in ns.
type Interval struct {
	Low  int64 `json:"low_ns"`
	High int64 `json:"high_ns"`
}

// estimate is what of a line's NPT samples tell: its mean, variance and how much was
// divided, all in ns.
type estimate struct {
	mean, variance, whole float64
	looks                 float64 // that this rests on, as if all counted alike
}

// estimates are those of all lines that samples have changed.
func (b *builder) estimates(npt map[int32]float64) map[line]estimate {
	out := map[line]estimate{}
	for _, at := range b.sampled.order {
		sp := b.sampled.splits[at]
		if sp.v == 0 || npt[at] == 0 {
			continue
		}
		c := npt[at] / sp.v
		for l, m := range sp.lines {
			if l.self && l.proc == b.places.list[at].top && m.u == sp.v || l.self && l.proc == b.places.list[at].loop && m.u == sp.v {
				continue // nothing else was found there
			}
			e, f := out[l], m.u/sp.v
			e.mean += npt[at] * f
			e.variance += c * c * max(0, m.u2-2*f*m.uv+f*f*sp.v2)
			e.whole += npt[at]
			e.looks += sp.v * sp.v / sp.v2
			out[l] = e
		}
	}
	return out
}

// interval is Wilson's score interval for the share of a line in what was divided, with
// as many looks as would have the variance that was seen.
func (e *estimate) interval() (low, high float64) {
	const z = 1.96
	p := min(1, e.mean/e.whole)
	n := e.looks
	if v := e.variance / (e.whole * e.whole); v > 0 && p > 0 && p < 1 {
		n = p * (1 - p) / v
	}
	mid := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return e.whole * max(0, mid-half), e.whole * min(1, mid+half)
}

// around is the interval around a line's time, of which the estimate is a part.
func (e *estimate) around(ns int64) *Interval {
	low, high := e.interval()
	return &Interval{max(0, ns-round(e.mean-low)), ns + round(high-e.mean)}
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

// placeNPT is the NPT of the places that are to be divided.
func (b *builder) placeNPT() map[int32]float64 {
	npt := map[int32]float64{}
	for _, at := range b.sampled.order {
		npt[at] = b.places.list[at].usage.NPT()
	}
	return npt
}

// sampledEntry gives an entry its intervals.
func (b *builder) sampledEntry(e *Entry, proc int32) {
	if g, ok := b.guesses[line{proc, true}]; ok {
		e.SelfNPTs = g.around(e.SelfNPT)
	}
	if g, ok := b.guesses[line{proc, false}]; ok {
		e.NPTs = g.around(e.NPT)
	}
}
