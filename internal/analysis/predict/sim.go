package predict

import (
	"slices"

	"qinst.dev/internal/analysis/steps"
)

// Policy is how goroutines get processors.
type Policy string

// Policies.
const (
	Sharing Policy = "ps"   // all that could run share them evenly
	List    Policy = "fifo" // each keeps one until it waits; who could run first is next
	Go      Policy = "go"   // as Go's scheduler does; see scheduler
)

// Policies are all of them.
var Policies = []Policy{Sharing, List, Go}

// Options of a run.
type Options struct {
	Procs  int // 0: as many as goroutines
	Policy Policy
	// Length gives the length of a step's work in ns; nil: what was recorded.
	Length func(steps.StepID) float64
	// Delayed gives what a delay for a timer, the network or the system is multiplied by; nil: by 1.
	Delayed func(steps.StepID) float64
	// HandOver gives how long it takes from when a goroutine could run to when it does, if a processor is idle, and has been for so many ns, below 0: not known; and from
	// when something is written to another goroutine of the process until that has come, in ns. nil: what was recorded.
	HandOver func(id steps.StepID, idle float64) float64
	// Split are locks of which there are Parts each: who takes one gets the next of these, in turn.
	Split map[steps.ObjectID]bool
	Parts int
	// Capped are channels of another capacity, Cap.
	Capped  map[steps.ObjectID]bool
	Cap     int
	workers *pool  // more or fewer than there were
	watch   *watch // requests, to see how long they take; nil: none
	LIFO    bool   // of those who wait for a channel the last one is served first
	Exit    Exit   // of barriers; empty: who ends a wait need not wait for it
	Log     *Log   // to be written; nil: none
	Seed    uint64 // of Go's scheduler, which steals at random
	Keep    bool   // what weights and the path need
	Order   bool   // with Keep: what [Run.Slack] and [Run.Marked] need, of a run under Sharing with a processor for each goroutine
	// Toward gives by how much the length of a step's work changes, to see how T does: see [Run.Slope]. nil: not at all.
	Toward func(steps.StepID) float64
}

// Run is what came of it.
type Run struct {
	T     float64 // ns
	Slope float64 // dT, for the change of Options.Toward
	Busy  float64 // ns of processors' time
	Ties  int     // events that happened together, whose order decided something
	// Reordered is how many operations on locks and channels came before one that came before them in the recorded run.
	Reordered int
	// Forced is how many goroutines went on although nobody ended their wait, because nothing else could go on.
	Forced int
	Ends   bool // the goroutine has ended with which the recorded run did

	standstill []steps.ObjectID // whose operations goroutines waited for when the first one was forced,
	stoodAt    float64          // and when that was

	procs float64
	list  bool
	nodes steps.List[node]
	last  nodeID
	edges []edge               // of Options.Order
	by    map[steps.G][]nodeID // nodes by goroutine; see Pieces
}

// nodeID is an index of the nodes of a run. noNode is none.
type nodeID int32

const noNode nodeID = -1

// tokenState is what came of a token: goroutines wait for it, or it was given. The zero value is neither.
type tokenState int32

// waitedBy is that of a token for which a goroutine waits, and givenAt that of one that was given at a node.
func waitedBy(g steps.G) tokenState { return tokenState(g) + 1 }
func givenAt(n nodeID) tokenState   { return -1 - tokenState(n) }

func (t tokenState) waited() bool    { return t > 0 }
func (t tokenState) waiter() steps.G { return steps.G(t - 1) }
func (t tokenState) given() bool     { return t < 0 }
func (t tokenState) node() nodeID    { return nodeID(-1 - t) }

// instant is a time and by how much it moves.
type instant struct{ at, d float64 }

func (a instant) before(b instant) bool { return a.at < b.at || a.at == b.at && a.d < b.d }

// node is an event: the end of some work or of a delay.
type node struct {
	len    float64 // of the work, in virtual time, or of the delay
	from   nodeID  // the node with which that began
	step   steps.StepID
	before int32 // goroutines that could run, just before; behind
	behind int32
	g      steps.G
	real   bool    // a delay
	stops  bool    // the goroutine then waits, or has ended
	at     float64 // real time
}

// sim is a run.
type sim struct {
	p       *steps.Program
	o       Options
	procs   float64
	gs      []simG
	work    queue     // by virtual time
	delays  queue     // by time
	n       int       // goroutines that run
	idle    []float64 // processors, under list scheduling: since when they are; that which is last is taken first
	ready   []steps.G
	v, t    instant
	objects []object
	wrote   []float64 // by token from Program.FirstWrite on, when it was given
	tokens  []tokenState
	node    nodeID
	blocked []steps.G // goroutines that wait, in order; some do no longer
	main    steps.G
	over    bool
	sched   *scheduler           // of policy Go
	needs   []nodeID             // nodes that the goroutine woken next also waited for
	jobs    int                  // of Options.workers, that somebody does or has done
	surplus []steps.G            // workers without any
	lines   map[steps.G][]queued // goroutines that wait for another one's processor, by that
	rec     *recorder
	*barriers
	idlers *idlers // nil: no program has any
	run    Run
}

type simG struct {
	step    steps.StepID // that it works at, or waits in
	runs    bool         // it has a processor
	from    nodeID       // node with which that began
	also    tokenState   // another one that waits for its token
	at      nodeID       // node at which it began to wait
	blocked instant      // when that was
	waits   bool
	listed  bool // see stillBlocked
	idles   bool // see idlers
	helps   bool // it has waited so
	spins   bool // it keeps its processor until it is told to end
	awake   bool // it was last at a barrier, whose waits another one ends, and need not be woken
	started bool
	again   bool // it has worked, and takes its step once more: it was woken for a lock that somebody else may take, or others have come to a barrier

	hurries steps.StepID // up to here it leaves out what it works; 0: it does not

	due steps.StepID // up to here its ticks have come

	proc int32 // that it runs on, under policy Go or with a log

	// Under list scheduling: when it got its processor, and since when that was idle.
	got, idle float64

	// Under policy Go:
	rest   float64 // of its step's work, once it has begun
	yields bool    // it lets another one have its processor before it works on
	since  float64 // it has waited for that, or has spun
}

// simulate runs a program, with the objects as they are.
func simulate(p *steps.Program, o Options) *Run {
	if o.workers != nil {
		p = o.workers.hire(p)
	}
	s := &sim{p: p, o: o, procs: float64(o.Procs), gs: make([]simG, len(p.Gs)), objects: make([]object, len(p.Objects)), tokens: make([]tokenState, p.Tokens), main: p.Last}
	if o.Procs == 0 {
		s.procs = float64(max(len(p.Gs), 1))
	}
	s.idle = make([]float64, int(s.procs))
	for i := range p.Objects {
		ob := &s.objects[i]
		if o.Order {
			ob.order = &order{writer: -1, closed: -1}
		}
		if ob.cap = p.Objects[i].Cap; o.Capped[steps.ObjectID(i)] {
			ob.cap = o.Cap
		}
		if o.Split[steps.ObjectID(i)] {
			ob.parts = make([]object, o.Parts)
		}
	}
	if o.Policy == Go {
		s.sched = newScheduler(s)
	}
	if p.FirstWrite > 0 {
		s.wrote = make([]float64, max(int(p.Tokens)-int(p.FirstWrite), 0))
	}
	s.rec, s.barriers, s.idlers = newRecorder(s), newBarriers(p, o.Exit), newIdlers(p)
	s.log(node{from: -1})
	for i := range p.Gs {
		if g := &p.Gs[i]; g.By >= 0 {
			continue
		} else if g.Created <= 0 {
			s.begin(steps.G(i))
		} else {
			s.gs[i].step = 0
			s.delay(steps.G(i), float64(g.Created))
		}
	}
	s.settle()
	for !s.over && s.next() {
	}
	if s.rec != nil {
		s.rec.End = s.rec.stamp()
	}
	s.run.T, s.run.Slope, s.run.procs, s.run.list = s.t.at, s.t.d, s.procs, o.Policy == List
	if !s.over {
		s.run.last = s.node
	}
	s.run.Ends = s.over || p.Last < 0
	return &s.run
}

// rate is g(n).
func rate(n int, procs float64) float64 { return max(1, float64(n)/procs) }

func (s *sim) rate() float64 {
	if s.o.Policy != Sharing {
		return 1
	}
	return rate(s.n, s.procs)
}

// log makes a node the one at hand.
func (s *sim) log(n node) {
	n.before = int32(s.n)
	if s.o.Keep {
		s.run.nodes.Add(n)
		s.node = nodeID(s.run.nodes.Len() - 1)
	}
}

// settle is called when all that an event brought about has been done.
func (s *sim) settle() {
	if s.o.Keep {
		s.run.nodes.At(int(s.node)).behind = int32(s.n)
	}
}

// next processes the next event and reports whether there was one.
func (s *sim) next() bool {
	work, delay := s.work.first(), s.delays.first()
	if work == nil && delay == nil {
		return s.force()
	}
	g := s.rate()
	at := instant{}
	if work != nil {
		at = instant{s.t.at + (work.at.at-s.v.at)*g, s.t.d + (work.at.d-s.v.d)*g}
	}
	before := s.t
	if work != nil && (delay == nil || !delay.at.before(at)) {
		s.t, s.v = at, work.at
		s.event(s.work.pop(), false)
	} else {
		s.ticks(delay)
		s.v = instant{s.v.at + (delay.at.at-s.t.at)/g, s.v.d + (delay.at.d-s.t.d)/g}
		s.t = delay.at
		s.event(s.delays.pop(), true)
	}
	if s.t.at == before.at {
		s.run.Ties++
	}
	return true
}

// event ends a goroutine's work or delay.
func (s *sim) event(e entry, real bool) {
	if s.sched != nil && s.sched.event(e, real) {
		return
	}
	g := &s.gs[e.who.g()]
	s.log(node{len: e.len, from: g.from, step: g.step, g: e.who.g(), real: real, at: s.t.at})
	if real {
		s.rec.acts(-1)
		g.from = s.node
		if !g.started {
			s.begin(e.who.g())
		} else {
			s.wake(e.who.g())
		}
	} else {
		s.steps(e.who.g())
	}
	s.settle()
}

// begin makes a goroutine ready for the first time.
func (s *sim) begin(g steps.G) {
	s.gs[g].started = true
	s.gs[g].step = s.p.Gs[g].First
	s.enqueue(g)
	s.startMore(g)
}

// wake lets a goroutine go on behind the step that it waited in.
func (s *sim) wake(g steps.G) {
	x := &s.gs[g]
	x.waits = false
	if x.spins { // it is told by nobody
		x.spins = false
		return
	}
	x.step = s.following(g, s.p.Step(x.step))
	if s.o.Order {
		s.wakeInOrder(g)
		return
	}
	s.enqueue(g)
}

// enqueue lets a goroutine run as soon as it may.
func (s *sim) enqueue(g steps.G) {
	s.rec.could(g)
	switch s.o.Policy {
	case List:
		s.ready = append(s.ready, g)
		s.dispatch()
	case Go:
		s.sched.ready(g)
	default:
		s.goOn(g)
	}
}

// goOn lets a goroutine run.
func (s *sim) goOn(g steps.G) {
	s.n++
	s.gs[g].from, s.gs[g].runs = s.node, true
	s.rec.runs(g)
	if !s.works(g) {
		s.steps(g)
	}
}

// dispatch gives free processors to those that are ready.
func (s *sim) dispatch() {
	for last := len(s.idle) - 1; last >= 0 && len(s.ready) > 0; last = len(s.idle) - 1 {
		g := s.ready[0]
		s.ready = s.ready[1:]
		s.gs[g].got, s.gs[g].idle = s.t.at, s.idle[last]
		s.idle = s.idle[:last]
		s.goOn(g)
	}
}

// leave takes a goroutine from its processor.
func (s *sim) leave(g steps.G) {
	s.n--
	s.rec.left(g, false)
	switch s.o.Policy {
	case List:
		since := s.t.at
		if s.gs[g].got == since { // it did nothing there
			since = s.gs[g].idle
		}
		s.idle = append(s.idle, since)
		s.follow(g)
		s.dispatch()
	case Go:
		s.gs[g].yields = false // it has
		s.sched.left(s.gs[g].proc)
	default:
		s.follow(g)
	}
}

// works begins the work of a goroutine's step, and reports whether there is any.
func (s *sim) works(g steps.G) bool {
	x := &s.gs[g]
	if x.step == 0 || x.again {
		return false
	}
	if x.rest > 0 {
		s.sched.run(g)
		return true
	}
	if s.skips(g, s.p.Step(x.step)) {
		return false
	}
	if x.hurries != 0 {
		if x.step == x.hurries { // its work is what the goroutine did behind the timer
			x.hurries = 0
		}
		return false
	}
	length, d := s.length(x.step), 0.
	if s.o.Toward != nil {
		d = s.o.Toward(x.step)
	}
	if length == 0 && d == 0 {
		return false
	}
	s.run.Busy += length
	if s.sched != nil {
		x.rest = length
		s.sched.begin(g)
		return true
	}
	s.work.push(entry{instant{s.v.at + length, s.v.d + d}, length, actor(g)})
	return true
}

// length is how long a step's work is.
func (s *sim) length(id steps.StepID) float64 {
	if s.o.Length != nil {
		return s.o.Length(id)
	}
	return float64(s.p.Step(id).Work)
}

// steps takes the step at whose end a goroutine is, and those behind it up to the next work.
func (s *sim) steps(g steps.G) {
	x := &s.gs[g]
	defer s.rec.acts(s.rec.acts(g))
	for x.step != 0 {
		step := s.p.Step(x.step)
		x.again = false
		if s.goesOn(g, step) {
			if x.spins {
				return
			}
			break
		}
		s.rec.came(g)
		if goes := s.take(g, step); s.over {
			return
		} else if !goes {
			break
		}
		s.o.watch.passed(x.step, s.t.at)
		x.step, x.from = s.following(g, step), s.node
		if s.works(g) {
			return
		}
	}
	if s.o.Order {
		s.stops(g)
	}
	s.leave(g) // it waits, it has ended, or what it did then is not known
}

// take does what ends a step, and reports whether the goroutine goes on.
func (s *sim) take(g steps.G, step *steps.Step) bool {
	if s.barriers != nil && !s.crosses(g, s.gs[g].step) {
		return false
	}
	switch step.Kind {
	case steps.End, steps.Cut:
		if done := s.p.Gs[g].Done; done != 0 && step.Kind == steps.End && s.p.Objects[done].Free {
			s.operate(g, &steps.Step{Obj: done, Op: steps.Done})
		}
		if g == s.main { // others may end, too, before the event at hand is over
			s.over, s.run.last = true, s.node
		}
		return false
	case steps.Start:
		if more := step.Started(); !s.gs[more].started { // else another worker, which does what the first one did, has started it
			s.begin(more)
		}
		return true
	case steps.Delay, steps.Ready:
		if s.gs[g].awake && step.Kind == steps.Ready {
			s.gs[g].awake = false
			return true
		}
		if s.sched == nil && s.behind(g, step) {
			return false
		}
		if step.Lasts() == 0 || step.Kind == steps.Ready && s.sched != nil { // which wakes processors itself
			return true
		}
		if s.gs[g].hurries != 0 {
			return true
		}
		if s.idlers != nil && s.goesFirst(g) {
			return true
		}
		if s.p.Objects[step.Obj].Ticks {
			return s.ticked(g, float64(step.At))
		}
		ns := s.o.watch.delay(s.gs[g].step, step, s.t.at)
		if step.Kind == steps.Ready {
			ns = s.handOver(s.gs[g].step, s.idleFor(g))
		}
		if s.o.Delayed != nil && outside(step) {
			ns *= s.o.Delayed(s.gs[g].step)
		}
		if ns == 0 {
			return true
		}
		s.mayEnd(g)
		s.delay(g, ns)
		return false
	}
	if free := s.p.Objects[step.Obj].Free; free && (step.Kind != steps.Take || step.Token() != 0) {
		if step.Op == steps.NoOp {
			return true
		}
		goes := s.operate(g, step)
		s.idlers.operated(s, step.Obj)
		return goes
	}
	switch step.Kind {
	case steps.Give:
		s.give(s.leaves(s.gs[g].step, step))
	case steps.Take:
		if step.Token() == 0 {
			s.gs[g].waits = false // for ever
			return false
		}
		if w := s.tokens[step.Token()]; !w.given() {
			s.tokens[step.Token()], s.gs[g].also = waitedBy(g), w
			s.block(g)
			s.held(step.Token())
			return false
		} else {
			s.after(w.node())
		}
		if s.p.Reads(step) {
			return s.reads(g, step)
		}
	}
	return true
}

// ticked lets a goroutine wait for a tick, which comes when it came, and reports whether that is over.
func (s *sim) ticked(g steps.G, at float64) bool {
	if at <= s.t.at {
		return true
	}
	s.mayEnd(g)
	s.gs[g].from = 0
	s.delays.push(entry{instant{at, 0}, at, actor(g)})
	return false
}

// outside reports whether a delay is one that the program asked for: for a timer, the network or the system.
func outside(s *steps.Step) bool {
	c := s.Cause()
	return s.Kind == steps.Delay && (c == steps.Timer || c == steps.Network || c == steps.Call)
}

// block notes that a goroutine waits.
func (s *sim) block(g steps.G) bool {
	s.gs[g].waits, s.gs[g].at, s.gs[g].blocked = true, s.node, s.t
	s.blocked = append(s.blocked, g)
	if len(s.blocked) > 2*len(s.gs)+64 {
		s.stillBlocked()
	}
	return false
}

// stillBlocked leaves each goroutine that waits in the list once, where it last began: two that hand over to each other are there each time.
func (s *sim) stillBlocked() {
	first := len(s.blocked)
	for _, g := range slices.Backward(s.blocked) {
		if x := &s.gs[g]; x.waits && !x.listed {
			x.listed = true
			first--
			s.blocked[first] = g
		}
	}
	s.blocked = s.blocked[:copy(s.blocked, s.blocked[first:])]
	for _, g := range s.blocked {
		s.gs[g].listed = false
	}
}

// delay lets a goroutine wait for a time.
func (s *sim) delay(g steps.G, ns float64) {
	s.gs[g].from = s.node
	s.delays.push(entry{instant{s.t.at + ns, s.t.d}, ns, actor(g)})
}

// force lets the goroutine go on that has waited longest, because otherwise nothing would.
func (s *sim) force() bool {
	for len(s.blocked) > 0 {
		g := s.blocked[0]
		s.blocked = s.blocked[1:]
		if x := &s.gs[g]; x.waits {
			if s.run.Forced++; s.run.Forced == 1 {
				s.run.standstill, s.run.stoodAt = s.freeOf(append(s.blocked, g)), s.t.at
			}
			s.forget(g)
			s.wake(g)
			s.settle()
			return true
		}
	}
	return false
}
