package replay

import (
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// G is a live goroutine.
type G struct {
	ID       trace.GoID
	Slot     trace.Slot
	State    trace.State
	Spins    int32 // open loops that spin, and mutexes that it spins for
	Locking  bool  // it spins for a mutex
	Proc     int   // on which it runs, or ran last; -1: not known
	System   bool  // it is the runtime's own, not the program's
	Repaired bool  // no event created it
	Stack
	Ran     int64   // ns that it was busy, up to its last segment
	Got     float64 // ns of processor time of these, by what the operating system gave its threads
	Paid    float64 // ns that its events cost, by [Options.Price]
	Reason  trace.ReasonID
	Wait    *Wait // the present one; nil: it does not wait, or its wait is not of interest
	Regions []OpenRegion
	Labels  SpanID
	Held    []Held     // in the order in which they were taken
	Did     Operation  // the last one
	WokeAt  trace.Time // it has run since then without waiting
	wokeFor wokeFor    // what it had waited for

	waits   ContextID
	woken   bool        // it does not run yet
	real    trace.State // but for virtual processors
	virtual tokens
	since   trace.Time // its segments have been shown up to here
	busyAt  int        // index in Replay.running while busy
	lent    Held       // while it waits for a condition
	woke    woke
	share   float64    // of the time, that its thread has a processor
	shareTo trace.Time // until then
	thread  trace.ThreadID
	offAt   trace.Time // its thread has had no processor since
	wait    Wait
}

// wokeFor is what a goroutine has waited for: an object, if that was known, or a condition.
type wokeFor struct {
	object *Object
	cond   bool
}

// MayHold is from when on a running goroutine may have held a lock. It did not hold it while it
// waited for it, or for a condition. It may have held it while it waited for anything else.
func (g *G) MayHold(ob *Object) trace.Time {
	if ob == nil || g.wokeFor.cond || g.wokeFor.object == ob {
		return g.WokeAt
	}
	return 0
}

// Busy reports whether g works on a processor. Spinning is no work: while one
// goroutine spins, the others have the run to themselves.
func (g *G) Busy() bool { return g.State.Busy() && g.Spins == 0 }

// Keeps reports whether g is busy, or would be if the operating system had not taken its thread's
// processor. It keeps a processor of the scheduler all the same, which nobody else can use.
func (g *G) Keeps() bool { return keeps(g.State, g.Spins) }

func keeps(s trace.State, spins int32) bool { return (s.Busy() || s == trace.OffCPU) && spins == 0 }

// Where returns the context to which g's time belongs. While g waits this is the context of the
// wait, which may have procedures that have no events.
func (g *G) Where() ContextID {
	if g.State == trace.Waiting {
		return g.waits
	}
	return g.Context
}

// Settle shows the visitor a goroutine's segment up to now.
func (r *Replay) Settle(g *G, now trace.Time) {
	from := g.since
	if from == now {
		return
	}
	g.since = now
	if g.Busy() {
		g.Ran += int64(now - from)
		r.got(g, from, now)
	}
	r.v.Segment(g, from, now)
}

// got adds to a goroutine's processor time. The system may keep a running thread waiting, and says
// now and then how long it has: in between, that is taken to be even.
func (r *Replay) got(g *G, from, to trace.Time) {
	for from < to {
		if from >= g.shareTo {
			g.share, g.shareTo = r.T.Share(g.thread, from)
		}
		until := min(to, g.shareTo)
		g.Got += g.share * float64(until-from)
		from = until
	}
}

// settleRunning shows the visitor the segments of all busy goroutines. It must be called before
// their number changes, because it is constant within a segment.
func (r *Replay) settleRunning(now trace.Time) {
	if now == r.shown {
		return
	}
	for _, g := range r.running {
		r.Settle(g, now)
	}
	r.shown = now
}

// begins reports whether a goroutine has entered no procedure yet in which it does what it was
// started for. That is not what a method such as errgroup's starts for others, which may have
// probes: it is the first procedure that this calls.
func (r *Replay) begins(g *G, point trace.PointID) bool {
	group := &r.Groups.list[r.Contexts.list[g.Context].Group]
	if group.starts && r.T.Points[point].Name == group.Func {
		return false
	}
	return g.Depth() == 0 || g.Depth() == 1 && g.first == trace.NoPoint && group.starts &&
		r.T.Points[r.Contexts.list[g.Context].Proc].Name == group.Func
}

func (r *Replay) enter(g *G, now trace.Time, point trace.PointID) {
	r.Settle(g, now)
	r.v.Enter(g, point, now)
	if r.T.Points[point].Kind == spec.PointProc && r.begins(g, point) {
		r.Groups.list[r.Contexts.list[g.Context].Group].entered(point)
		if g.first == trace.NoPoint {
			g.first = point
		}
	}
	if g.main == point && g.Depth() == 0 {
		// Initialization is over, for good: exits return here.
		g.Context = r.Contexts.afterInit(g.Context)
	}
	r.Contexts.list[g.Context].Half++
	g.push(r.Contexts.into(g.Context, point), g.Spins, now)
	r.Contexts.list[g.Context].Half++
	if r.T.Points[point].Spins() {
		r.turn(g, now, g.State, g.Spins+1)
	}
}

func (r *Replay) exit(g *G, now trace.Time) {
	if r.IsSystem(r.Contexts.list[g.Context].Proc) && g.Depth() > 1 {
		r.leave(g, now) // its own end is lost
	}
	r.Contexts.list[g.Context].Half++
	r.leave(g, now)
	r.Contexts.list[g.Context].Half++
}

func (r *Replay) leave(g *G, now trace.Time) {
	r.Settle(g, now)
	spins, ok := g.pop()
	if !ok {
		return // the model balances enters and exits
	}
	if spins != g.Spins {
		r.turn(g, now, g.State, spins)
	}
	if g.Depth() == 0 {
		r.v.Outside(g, now)
	}
}

func (r *Replay) create(e *trace.Event) {
	g, by := r.of(e.Slot), r.g(e.By)
	r.ran[e.Thread] = true // who starts a goroutine is one, or this one runs already
	*g = G{ID: e.G, Slot: e.Slot, Proc: -1, Repaired: e.Cause == trace.ByRepair, real: e.To, since: e.Time,
		thread: e.Thread, Labels: NoSpan, Held: g.Held[:0],
		Stack: Stack{first: trace.NoPoint, main: trace.NoPoint, frames: g.frames[:0]}}
	if by != nil {
		g.Labels = by.Labels
	}
	c, parent := Context{Proc: trace.NoPoint, Inner: trace.NoPoint, Loop: trace.NoPoint}, (*Context)(nil)
	from := e.Creation()
	if by != nil {
		at := by.Context
		if from.Path != 0 {
			if w := r.paths.follow(&by.Stack, from.Path); w.told == at {
				at = w.all
			}
		}
		parent = &r.Contexts.list[at].Context
	}
	g.State = r.virtualState(g, e.To)
	g.System = r.Groups.place(r.Sets, &c, parent, e, from.Start)
	worker := r.Groups.works(c.Group)
	if worker {
		c.Proc, c.Inner = r.System.Worker, r.System.Worker
		c.Set = r.Sets.With(c.Set, ProcMember(r.System.Worker))
	}
	g.Context = r.Contexts.find(c, NoContext)
	g.Base, g.waits = g.Context, g.Context
	if e.To == trace.Waiting { // for its first turn: it is the body of an iterator
		g.Reason = trace.SwitchReason
	}
	if e.G == 1 {
		g.main = r.Groups.main
	}
	r.v.Create(g, by, e.Time)
	if worker {
		r.v.Enter(g, r.System.Worker, e.Time)
	}
}

func (r *Replay) change(e *trace.Event) {
	g := r.gs[e.Slot]
	g.real = e.To
	if e.To == trace.Running && e.From != trace.OffCPU {
		g.Proc = e.Proc()
	}
	r.turn(g, e.Time, r.virtualState(g, e.To), g.Spins)
	if e.From == trace.OffCPU {
		r.v.Off(g, e.Off(), g.offAt, e.Time)
	}
	switch {
	case e.From == trace.OffCPU: // it is on its thread as before
	case e.To == trace.Running:
		if g.thread != e.Thread {
			g.thread, g.shareTo = e.Thread, 0
			r.ran[e.Thread] = true
		}
		if g.woken {
			g.WokeAt, g.woken = e.Time, false
		}
		r.regain(g, e.Time)
	case e.To == trace.Waiting && e.Wait().Reason == r.Names.cond:
		r.lend(g, e.Time)
	case e.To == trace.OffCPU:
		g.offAt = e.Time
	case e.To == trace.None:
		r.dies(g, e.Time)
		r.v.End(g, e.Time)
	}
	g.Reason = e.Wait().Reason
	if e.To == trace.Waiting {
		g.woken = true
		g.waits = r.paths.waitsAt(&g.Stack, e.Wait().Stack)
		r.waitFor(g, e)
		if g.wokeFor = (wokeFor{cond: e.Wait().Reason == r.Names.cond}); g.Wait != nil {
			g.wokeFor.object = g.Wait.Object
		}
	} else if e.From == trace.Waiting && g.Wait != nil {
		r.wake(g, e)
	}
}

// turn changes a goroutine's state.
func (r *Replay) turn(g *G, now trace.Time, to trace.State, spins int32) {
	was, is := g.Keeps(), keeps(to, spins)
	if was != is {
		// The number of processors in use changes: everyone's time so far
		// was at the old number.
		r.settleRunning(now)
	}
	r.Settle(g, now)
	r.v.Turn(g, now, to, is)
	g.State, g.Spins = to, spins
	switch {
	case is && !was:
		r.add(g)
	case was && !is:
		r.remove(g)
	}
}
