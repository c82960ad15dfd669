package sim

import (
	"slices"

	"qinst.dev/internal/analysis/steps"
)

// simulation is a run of a program.
type simulation struct {
	p       *steps.Program
	o       Options
	gs      []goroutine
	objects []object
	tokens  []tokenState
	clock
	trail
	blocked []steps.G // goroutines that wait, in order; some do no longer
	wrote   []float64 // by token from [steps.Waits.FirstWrite] on, when it was given
	queues
	team
	sched *scheduler // of policy Go
	rec   *recorder
	*barriers
	idlers *idlers // nil: the program has none
}

// clock is the time, with the work and delays that are under way.
type clock struct {
	v, t   instant // virtual and real time
	work   queue   // by virtual time
	delays queue   // by real time
	n      int     // goroutines that run
	procs  float64
}

// trail is the record of a run.
type trail struct {
	run   Run
	node  nodeID   // the one at hand
	needs []nodeID // that the goroutine woken next also waited for
	over  bool
}

// goroutine is the state of one.
type goroutine struct {
	step    steps.StepID // that it works at, or waits in
	from    nodeID       // with which that began
	proc    int32        // that it runs on, under policy Go or with a log
	runs    bool         // it has a processor
	started bool
	// it has worked, and takes its step once more: it was woken for a lock that another one may
	// take, or others have come to a barrier
	again bool
	awake bool // it was last at a barrier, whose waits another one ends, and need not be woken
	spins bool // it keeps its processor until it is stopped
	wait
	idling
	stint
	slice
}

// wait is that of a goroutine for others.
type wait struct {
	waits   bool
	listed  bool       // see stillBlocked
	also    tokenState // another one that waits for its token
	at      nodeID     // at which it began
	blocked instant    // when that was
}

// stint is a goroutine's time on a processor, under list scheduling.
type stint struct {
	got, idle float64 // when it got its processor, and since when that was idle
}

// Once runs a program, with the objects as they are.
func Once(p *steps.Program, o Options) *Run {
	if o.Workers != nil {
		p = o.Workers.hire(p)
	}
	s := &simulation{p: p, o: o, gs: make([]goroutine, len(p.Gs)), objects: make([]object, len(p.Objects)),
		tokens: make([]tokenState, p.Tokens)}
	s.procs = float64(o.Procs)
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

func (s *simulation) rate() float64 {
	if s.o.Policy != Sharing {
		return 1
	}
	return rate(s.n, s.procs)
}

// log makes a node the one at hand.
func (s *simulation) log(n node) {
	n.before = int32(s.n)
	if s.o.Keep {
		s.run.nodes.Add(n)
		s.node = nodeID(s.run.nodes.Len() - 1)
	}
}

// settle is called when all that an event brought about has been done.
func (s *simulation) settle() {
	if s.o.Keep {
		s.run.nodes.At(int(s.node)).behind = int32(s.n)
	}
}

// next processes the next event and reports whether there was one.
func (s *simulation) next() bool {
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
func (s *simulation) event(e entry, real bool) {
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
func (s *simulation) begin(g steps.G) {
	s.gs[g].started = true
	s.gs[g].step = s.p.Gs[g].First
	s.enqueue(g)
	s.startMore(g)
}

// wake lets a goroutine go on after the step that it waited in.
func (s *simulation) wake(g steps.G) {
	x := &s.gs[g]
	x.waits = false
	if x.spins { // no goroutine stops it
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
func (s *simulation) enqueue(g steps.G) {
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
func (s *simulation) goOn(g steps.G) {
	s.n++
	s.gs[g].from, s.gs[g].runs = s.node, true
	s.rec.runs(g)
	if !s.works(g) {
		s.steps(g)
	}
}

// dispatch gives free processors to those that are ready.
func (s *simulation) dispatch() {
	for last := len(s.idle) - 1; last >= 0 && len(s.ready) > 0; last = len(s.idle) - 1 {
		g := s.ready[0]
		s.ready = s.ready[1:]
		s.gs[g].got, s.gs[g].idle = s.t.at, s.idle[last]
		s.idle = s.idle[:last]
		s.goOn(g)
	}
}

// leave takes a goroutine from its processor.
func (s *simulation) leave(g steps.G) {
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
func (s *simulation) works(g steps.G) bool {
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
		if x.step == x.hurries { // its work is the goroutine's action on the timer
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
func (s *simulation) length(id steps.StepID) float64 {
	if s.o.Length != nil {
		return s.o.Length(id)
	}
	return float64(s.p.Step(id).Work)
}

// steps takes the step at whose end a goroutine is, and those after it up to the next work.
func (s *simulation) steps(g steps.G) {
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
		s.o.Watch.passed(x.step, s.t.at)
		x.step, x.from = s.following(g, step), s.node
		if s.works(g) {
			return
		}
	}
	if s.o.Order {
		s.stops(g)
	}
	s.leave(g) // it waits, it has ended, or its next step is not known
}

// take does what ends a step, and reports whether the goroutine goes on.
func (s *simulation) take(g steps.G, step *steps.Step) bool {
	if s.barriers != nil && !s.crosses(g, s.gs[g].step) {
		return false
	}
	switch step.Kind {
	case steps.End, steps.Cut:
		if done := s.p.Gs[g].Done; done != 0 && step.Kind == steps.End && s.p.Objects[done].Free {
			s.operate(g, &steps.Step{Obj: done, Op: steps.Done})
		}
		if g == s.p.Last { // others may end, too, before the event at hand is over
			s.over, s.run.last = true, s.node
		}
		return false
	case steps.Start:
		if more := step.Started(); !s.gs[more].started {
			// else another worker, which does what the first one did, has started it
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
		ns := s.o.Watch.delay(s.gs[g].step, step, s.t.at)
		if step.Kind == steps.Ready {
			ns = s.handOver(s.gs[g].step, s.idleFor(g))
		}
		if s.o.Delayed != nil && Outside(step) {
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

// ticked lets a goroutine wait for a tick, which comes when it came, and reports whether that is
// over.
func (s *simulation) ticked(g steps.G, at float64) bool {
	if at <= s.t.at {
		return true
	}
	s.mayEnd(g)
	s.gs[g].from = 0
	s.delays.push(entry{instant{at, 0}, at, actor(g)})
	return false
}

// block notes that a goroutine waits.
func (s *simulation) block(g steps.G) bool {
	s.gs[g].waits, s.gs[g].at, s.gs[g].blocked = true, s.node, s.t
	s.blocked = append(s.blocked, g)
	if len(s.blocked) > 2*len(s.gs)+64 {
		s.stillBlocked()
	}
	return false
}

// stillBlocked leaves each goroutine that waits in the list once, where it last began: two that
// hand over to each other are there each time.
func (s *simulation) stillBlocked() {
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
func (s *simulation) delay(g steps.G, ns float64) {
	s.gs[g].from = s.node
	s.delays.push(entry{instant{s.t.at + ns, s.t.d}, ns, actor(g)})
}

// force lets the goroutine go on that has waited longest, because otherwise nothing would.
func (s *simulation) force() bool {
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
