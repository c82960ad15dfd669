package critpath

import (
	"cmp"
	"math"
	"slices"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// Version of the JSON form.
const Version = 1

// Result is the path of a run, and what each part of the program is worth. Times are in ns.
type Result struct {
	Version    int             `json:"version"`
	T          int64           `json:"t_ns"`      // of the run that the path is of
	Replay     int64           `json:"replay_ns"` // of the computed run that weights are of
	Procs      int             `json:"procs"`     // of that
	Policy     string          `json:"policy"`
	Events     int64           `json:"events"`
	Operations int             `json:"operations"`  // on objects of synchronization
	Untraced   int64           `json:"untraced_ns"` // of the path, about which the trace says nothing
	Off        int64           `json:"off_ns"`      // running threads of the recorded run had no processor, all together
	Path       []Piece         `json:"path"`        // all of it, or the longest pieces, in order
	Entries    []Entry         `json:"entries"`
	Requests   []Requests      `json:"requests,omitempty"` // of all names, those first that took most; or of the one that the result is of
	Agreement  *Agreement      `json:"agreement,omitempty"`
	Tied       bool            `json:"tied"`      // some weights differ with the direction of the change
	Anomalies  int             `json:"anomalies"` // entries that make the run longer if they become shorter
	Remarks    steps.Remarks   `json:"notes"`
	Computed   bool            `json:"-"` // the path is that of the computed run
	Crowds     []predict.Crowd `json:"-"` // what goroutines waited for longest, together
	Nearer     *Nearer         `json:"-"` // nil: the computed run takes as long as the recorded one, or no policy tells better
	Run        *sim.Run        `json:"-"` // the computed one
}

// Nearer is a policy under which the computed run takes nearly as long as the recorded one.
type Nearer struct {
	Policy sim.Policy
	T      int64
}

// Piece is a piece of the path.
type Piece struct {
	From int64      `json:"from_ns"`
	To   int64      `json:"to_ns"`
	G    trace.GoID `json:"g"` // 0: none
	Kind string     `json:"kind"`
	Name string     `json:"name"`
}

// Kinds of entries. Procedures and waits partition the run; the others are views of the same time.
const (
	KindProc      = "proc"
	KindWait      = "wait"
	KindLoop      = "loop"
	KindSync      = "sync" // work and delays while a lock was held
	KindGoroutine = "goroutine"
	KindRegion    = "region"
)

// noProcedure is the id of what is in no procedure with a probe, as in profiles.
const noProcedure = "no-procedure"

// Entry is a procedure, or a kind of waits. Entries of these two kinds partition the run: their self times add up to it, and their
// weights, if there are no ties, to the computed run.
type Entry struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`

	Activations int   `json:"activations"`  // traced ones of a procedure, of which some part is on the path
	Entries     int   `json:"entries"`      // those of them that began on it; of other kinds, pieces of the path
	Self        int64 `json:"self_ns"`      // on the path
	Inclusive   int64 `json:"inclusive_ns"` // likewise, with what it calls and starts
	// Interval is that of Self, if samples divided it: 95 of 100 times it is right.
	Interval *[2]int64 `json:"interval,omitempty"`
	// Estimated: samples told some of its work. Least: of a loop, entries of it have no event, and no sample found them, so that its work may be more.
	Estimated bool  `json:"estimated,omitempty"`
	Least     bool  `json:"least,omitempty"`
	NPT       int64 `json:"npt_ns"`              // its own, of the run as it was; of procedures
	Work      int64 `json:"work_ns"`             // of processors, on the path and off it
	Delays    int64 `json:"delays_ns,omitempty"` // sleeps and the like while it was held, on the path and off it; of locks

	// What the run would become shorter by if the entry took no time, as far as that is told by its first moments: dT/dx of all that it
	// does, times its length. Where it goes on at that rate depends on others: see what-if.
	Weighted          int64 `json:"weighted_ns"`       // if it becomes shorter
	WeightedRight     int64 `json:"weighted_right_ns"` // if it becomes longer
	WeightedInclusive int64 `json:"weighted_incl_ns"`

	Marked int64 `json:"marked_ns"` // work that VPPB's section 3.3 marks for so many processors
	// Slack is by how much one piece of its work may become longer without making the run longer, on as many processors as goroutines: the least and the
	// most of all pieces. null: it has none, or the run is too long to tell.
	Slack *[2]int64 `json:"slack_ns"`

	In []WaitedIn `json:"in,omitempty"` // of waits: the procedures that waited so on the path, longest first, mostIn of them

	// Held is how long a lock was held at most, if its times are estimates because not all of its operations were events.
	Held int64 `json:"held_most_ns,omitempty"`

	Waited int64 `json:"waited_ns,omitempty"` // goroutines waited for it, all together; of locks

	// Of requests: what goroutines of others did on their paths, and what is on those of the slowest hundredth.
	Other int64 `json:"other_ns,omitempty"`
	Tail  int64 `json:"tail_ns,omitempty"`
}

// WaitedIn is how long a procedure's goroutines waited on the path.
type WaitedIn struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"` // of the wait
	Self int64  `json:"self_ns"`
}

// mostIn bounds Entry.In.
const mostIn = 8

// mostPieces bounds Result.Path.
const mostPieces = 100_000

// Options are what is asked for.
type Options struct {
	Procs  int  // 0: those of the run
	Max    bool // as many processors as goroutines
	Policy sim.Policy
	AsRun  bool           // the path is that of the run as it was, not that of the computed one
	Held   []predict.Held // locks whose operations were not all events
}

// New finds the path of a program.
func New(p *steps.Program, o Options) *Result {
	procs := o.Procs
	if o.Max {
		procs = max(len(p.Gs), 1)
	} else if procs == 0 {
		procs = p.Procs
	}
	options := sim.Options{Procs: procs, Policy: o.Policy}
	run, policy := sim.SimulateWeighed(p, options)
	recorded := run
	if procs != p.Procs {
		recorded = nil
	}
	if predict.Settle(p, recorded) {
		run, policy = sim.SimulateWeighed(p, options)
	}
	b := &builder{p: p, r: p.R, run: run, options: sim.Options{Procs: procs, Policy: policy}, entries: entries{index: map[line]int{}}}
	b.res = &Result{Version: Version, Procs: procs, Policy: string(policy), Replay: round(run.T), Events: p.R.Events, Operations: p.Operations, Off: p.OffCPU, Remarks: p.Remarks.Copy()}
	if b.res.Run = run; policy != o.Policy {
		b.res.Remarks.Note("if goroutines shared the processors evenly, the smallest change of this run would grow without bound: the computed run is one in which each keeps its processor until it waits (fifo)")
	}
	b.res.Crowds = predict.Crowds(p)
	b.told = map[steps.StepID]steps.G{}
	for _, list := range p.Told {
		for _, g := range list {
			b.told[p.Gs[g].Told] = g
		}
	}
	b.holds, b.hides = newHolds(b), replay.Hides(b.r.T, func(p *trace.Point) bool { return p.Degraded() > 0 })
	b.res.Requests = requests(p)
	if o.AsRun {
		b.res.T = int64(p.End)
		b.nearer()
		w := newWalker(p)
		w.walk(func(s stretch) { b.piece(s, w.owner[s.step]) })
	} else {
		b.res.T, b.res.Computed = b.res.Replay, true
		run.Path(func(step steps.StepID, g steps.G, from, to float64, delay bool) {
			s := stretch{from: trace.Time(round(from)), to: trace.Time(round(to)), step: step, delay: delay}
			if delay {
				s.cause = steps.Cause(b.delayOf(step).of)
			}
			b.piece(s, g)
		})
	}
	b.weights()
	b.limit(o.Held)
	b.waits()
	b.ties()
	b.unlimited()
	b.res.Agreement = b.agree()
	b.finish()
	return b.res
}

// Apart is the share of a run from which on it matters that the computed one is shorter or longer.
const Apart = 0.02

// nearer looks for a policy that explains the run, if the one at hand does not.
func (b *builder) nearer() {
	off := func(t int64) float64 { return math.Abs(float64(b.res.T-t)) / float64(max(b.res.T, 1)) }
	least := off(b.res.Replay) / 2
	if 2*least <= Apart || b.p.Steps.Len() > mostUnlimited {
		return
	}
	for _, policy := range []sim.Policy{sim.List, sim.Go} {
		o := b.options
		if o.Policy = policy; policy == b.options.Policy {
			continue
		}
		if t := round(sim.Simulate(b.p, o).T); off(t) < least {
			least, b.res.Nearer = off(t), &Nearer{policy, t}
		}
	}
}

func round(x float64) int64 { return int64(math.Round(x)) }

type builder struct {
	p       *steps.Program
	r       *replay.Replay
	res     *Result
	run     *sim.Run
	options sim.Options
	entries
	holds   *holds
	told    map[steps.StepID]steps.G // goroutines by [steps.Goroutine.Told]
	path    pieces
	visits  []visit   // of goroutines, by the path
	visited []steps.G // those that it was in

	other, tail bool                   // what the piece at hand is of; see NewRequest
	hides       map[trace.PointID]bool // procedures of which the place of a wait may be in what they called
}

// entries are the lines of the result, before they are made.
type entries struct {
	index   map[line]int
	lines   []line
	sums    []sums
	regions []string    // names of those that are regions
	views   [][]int     // entries of loops and goroutines that a context is in, by context
	dealt   [][]portion // by context
}

// piece is one of the path.
type piece struct {
	from, to trace.Time
	g        trace.GoID
	entry    int
}

// pieces are those of the path, the last one first: all, or the longest ones.
type pieces struct {
	list  []piece
	all   int
	least trace.Time // longer than this
}

func (p *pieces) add(x piece) {
	if p.all++; x.to-x.from > p.least || p.least == 0 {
		p.list = append(p.list, x)
	}
	if len(p.list) == 2*mostPieces {
		p.shorten()
	}
}

// shorten keeps the longest ones.
func (p *pieces) shorten() {
	if len(p.list) > mostPieces {
		byLength := slices.Clone(p.list)
		slices.SortFunc(byLength, func(a, b piece) int { return cmp.Compare(b.to-b.from, a.to-a.from) })
		p.least = byLength[mostPieces].to - byLength[mostPieces].from
	}
	p.list = slices.DeleteFunc(p.list, func(x piece) bool { return x.to-x.from <= p.least })
}

// allTraced reports whether all entries of a loop have events.
func (b *builder) allTraced(loop trace.PointID) bool {
	return b.r.T.Points[loop].Degraded() == 0 && b.r.T.Hits(loop).Exact()
}

// onPath is how much of an entry is on the path.
type onPath struct{ self, within, other, tail float64 }

// sums are the weights of an entry, before they are rounded.
type sums struct {
	weighted, right, inclusive float64
	onPath
	work, delays, npt float64 // on it or off it
	doubt             map[replay.ContextID]dealt
	marked            float64
	guessed           bool    // samples told some of it, on the path or off it
	most              float64 // ns for which a lock was held at most, if what was done meanwhile is an estimate; 0: it is not
	slack             *[2]float64
	in                map[trace.Frame]float64 // of waits: by the place that waits, of which only timers' have a line
}

// piece adds a stretch of the path, whose work was done in several contexts: in which order is not known any more.
func (b *builder) piece(s stretch, g steps.G) {
	id := trace.GoID(0)
	if s.step != 0 {
		id = b.p.Gs[g].ID
	}
	if s.delay {
		if s.cause == steps.Unknown {
			b.res.Untraced += int64(s.to - s.from)
		}
		i := b.entry(line{KindWait, int64(s.cause)})
		b.onPath(i, float64(s.to-s.from))
		b.waitsIn(i, s, g)
		b.inHolds(s)
		b.path.add(piece{s.from, s.to, id, i})
		return
	}
	b.calls(s.step, g)
	parts := b.parts(s.step)
	done, all, to := int64(0), max(b.p.Step(s.step).Work, 1), s.to
	for k := len(parts) - 1; k >= 0; k-- { // backwards, as the path is walked
		done += parts[k].Ns
		from := s.to - trace.Time(round(float64(s.to-s.from)*float64(done)/float64(all)))
		b.path.add(piece{from, to, id, b.work(parts[k].Context, float64(to-from))})
		to = from
	}
	b.inHolds(s)
}

// waitsIn notes where a goroutine waited, if that is known.
func (b *builder) waitsIn(i int, s stretch, g steps.G) {
	if s.step == 0 {
		return
	}
	at := b.waitsAt(s, g)
	if at.Function == "" {
		return
	}
	if b.sums[i].in == nil {
		b.sums[i].in = map[trace.Frame]float64{}
	}
	b.sums[i].in[at] += float64(s.to - s.from)
}

// waitsAt is where a goroutine waited: in the stack of the wait, or where its work before it ended. If that calls procedures whose calls have no
// events, it may have been one of these, and the place is not known.
func (b *builder) waitsAt(s stretch, g steps.G) (at trace.Frame) {
	if s.cause == steps.Timer {
		if at = b.p.SleptAt(s.step); at.Line == 0 && b.hides[b.p.Step(s.step).Point()] {
			return trace.Frame{}
		}
		return at
	}
	node := b.r.Contexts.Node(b.p.Gs[g].Context)
	if parts := b.p.PartsOf(s.step); len(parts) > 0 {
		node = b.r.Contexts.Node(parts[len(parts)-1].Context)
	} else if node.Group != replay.NoGroup { // it has done nothing so far, and is on behalf of who started it
		return trace.Frame{Function: b.named(line{KindGoroutine, int64(node.Group)}).Name}
	}
	if b.hides[node.Proc] {
		return trace.Frame{}
	}
	at.Function = b.named(line{KindProc, int64(node.Proc)}).Name
	return at
}

// waitedIn lists the places of a wait, longest first.
func waitedIn(in map[trace.Frame]float64) (list []WaitedIn) {
	for f, ns := range in {
		list = append(list, WaitedIn{f.Function, f.File, f.Line, round(ns)})
	}
	slices.SortFunc(list, func(x, y WaitedIn) int {
		return cmp.Or(cmp.Compare(y.Self, x.Self), cmp.Compare(x.Name, y.Name), cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
	})
	return list[:min(mostIn, len(list))]
}

// parts are those of a step's work. A goroutine that goes on until it is told to end may do so in a step in which it had done nothing.
func (b *builder) parts(step steps.StepID) []steps.Part {
	parts := b.p.PartsOf(step)
	if len(parts) == 0 && b.told[step] > 0 {
		return []steps.Part{{Ns: 1, Context: b.p.Gs[b.told[step]].Context}}
	}
	return parts
}

// inHolds adds a stretch of the path to the locks and regions that its goroutine was in. Who waits for something keeps its locks meanwhile.
func (b *builder) inHolds(s stretch) {
	for _, i := range b.holds.under(s.step) {
		b.onPath(i, float64(s.to-s.from))
	}
}

// work adds work in a context that is on the path, and returns the procedure that did most of it.
func (b *builder) work(c replay.ContextID, ns float64) (most int) {
	portions := b.portions(c)
	share := 0.
	for k := range portions {
		p := &portions[k]
		if p.share > share {
			most, share = p.self, p.share
		}
		b.onPath(p.self, ns*p.share)
		b.doubt(c, p.self, p, ns*p.share)
		for _, i := range p.loops {
			b.onPath(i, ns*p.share)
			b.doubt(c, i, p, ns*p.share)
			b.sums[i].within += ns * p.share
		}
		for _, i := range p.in {
			b.sums[i].within += ns * p.share
		}
	}
	for _, i := range b.seen(c) {
		b.onPath(i, ns)
		b.sums[i].within += ns
	}
	return most
}

// onPath adds to an entry's time on the path.
func (b *builder) onPath(i int, ns float64) {
	e, s := &b.res.Entries[i], &b.sums[i]
	if s.self += ns; e.Kind != KindProc {
		e.Entries++
	}
	if e.Kind == KindWait || e.Kind == KindSync || e.Kind == KindRegion {
		s.within += ns
	}
	if b.other {
		s.other += ns
	}
	if b.tail {
		s.tail += ns
	}
}

// own calls f for the entries of the work of a step, of every kind, with how much of it is theirs.
func (b *builder) own(step steps.StepID, f func(i int, ns float64)) {
	for _, part := range b.p.PartsOf(step) {
		for _, p := range b.portions(part.Context) {
			f(p.self, p.share*float64(part.Ns))
			for _, i := range p.loops {
				f(i, p.share*float64(part.Ns))
			}
		}
		for _, i := range b.seen(part.Context) {
			f(i, float64(part.Ns))
		}
	}
	for _, i := range b.holds.under(step) {
		f(i, float64(b.p.Step(step).Work))
	}
}

// weights adds up those of all pieces of work.
func (b *builder) weights() {
	for c := range replay.ContextID(b.r.Contexts.Len()) {
		if npt := b.p.NPT(c); npt > 0 {
			for _, p := range b.portions(c) {
				b.sums[p.self].npt += npt * p.share
			}
		}
	}
	for s := range steps.StepID(b.p.Steps.Len()) {
		b.own(s, func(i int, ns float64) { b.sums[i].work += ns })
	}
	add := func(i int, ns float64) {
		b.sums[i].weighted += ns
		b.sums[i].inclusive += ns
	}
	b.run.Weights(func(step steps.StepID, length, weight float64, delay bool) {
		for _, i := range b.holds.under(step) {
			if add(i, length*weight); delay {
				b.sums[i].delays += length
			}
		}
		if delay {
			add(b.entry(b.delayOf(step)), length*weight)
			return
		}
		share := weight * length / float64(max(b.p.Step(step).Work, 1)) // under Go's scheduler work may be in several pieces
		for _, part := range b.parts(step) {
			ns := float64(part.Ns) * share
			for _, p := range b.portions(part.Context) {
				b.sums[p.self].weighted += ns * p.share
				for _, i := range p.loops {
					add(i, ns*p.share)
				}
				for _, i := range p.in {
					b.sums[i].inclusive += ns * p.share
				}
			}
			for _, i := range b.seen(part.Context) {
				add(i, ns)
			}
		}
	})
	for i := range b.sums {
		b.sums[i].right = b.sums[i].weighted
	}
}

// finish rounds and sorts.
func (b *builder) finish() {
	r := b.res
	b.began()
	if b.path.all > len(b.path.list) || len(b.path.list) > mostPieces {
		b.path.shorten()
		r.Remarks.Note("the path has %d pieces; shown are those of more than %d ns", b.path.all, b.path.least)
	}
	r.Path = make([]Piece, 0, len(b.path.list))
	for _, p := range slices.Backward(b.path.list) {
		e := &r.Entries[p.entry]
		r.Path = append(r.Path, Piece{int64(p.from), int64(p.to), p.g, e.Kind, e.Name})
	}
	upTo, exact := int64(0), 0. // so that rounded times of procedures and waits add up
	for i := range r.Entries {
		e, s := &r.Entries[i], &b.sums[i]
		if e.Self = round(s.self); e.Kind == KindProc || e.Kind == KindWait {
			exact += s.self
			e.Self = round(exact) - upTo
			upTo += e.Self
		}
		e.Inclusive, e.Work, e.NPT, e.Other, e.Tail = round(s.within), round(s.work), round(s.npt), round(s.other), round(s.tail)
		e.In = waitedIn(s.in)
		if e.Kind == KindSync {
			e.Delays, e.Held = round(s.delays), round(s.most)
		}
		e.Weighted, e.WeightedRight, e.WeightedInclusive = round(s.weighted), round(s.right), round(s.inclusive)
		if e.Marked = round(s.marked); s.slack != nil {
			e.Slack = &[2]int64{round(s.slack[0]), round(s.slack[1])}
		}
		if e.Weighted < 0 {
			r.Anomalies++
		}
		e.Estimated = s.guessed
		e.Least = e.Kind == KindLoop && !s.guessed && !b.allTraced(trace.PointID(b.lines[i].of))
		if about := round(b.interval(i)); about > 0 {
			e.Interval = &[2]int64{max(0, e.Self-about), min(r.T, e.Self+about)}
		}
	}
	slices.SortStableFunc(r.Entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(max(b.Weighted, b.Self), max(a.Weighted, a.Self)), cmp.Compare(b.WeightedInclusive, a.WeightedInclusive), cmp.Compare(a.ID, b.ID))
	})
}
