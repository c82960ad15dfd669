package replay

import (
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// G is a live goroutine.
type G struct {
	ID       trace.GoID
	Slot     trace.Slot
	System   bool // it is the runtime's own, not the program's
	Repaired bool // no event created it
	Proc     int  // on which it runs, or ran last; -1: not known
	Status
	Stack
	Account
	Waiting
	Locks
	Regions []OpenRegion
	Labels  SpanID
	Did     Operation // the last one
	Calling
	woke woke
}

// Calling is about the system call that a goroutine is in, or was in last.
type Calling struct {
	Writes trace.EndID // to which it writes; 0: that is not known
	// CalledIn is the stack of the call if that ends with the present event, 0 if it is not known.
	CalledIn trace.StackID
}

// Where returns the context to which g's time belongs. While g waits this is the context of the
// wait, which may have procedures that have no events.
func (g *G) Where() ContextID {
	if g.State == trace.Waiting {
		return g.waitsIn
	}
	return g.Context
}

// Settle shows the visitor a goroutine's segment up to now.
func (r *Replay) Settle(g *G, now trace.Time) {
	from := g.upTo
	if from == now {
		return
	}
	g.upTo = now
	if g.Busy() {
		g.worked(r.T, from, now)
	}
	r.v.Segment(g, from, now)
}

// settleRunning shows the visitor the segments of all busy goroutines. It must be called before
// their number changes, because it is constant within a segment.
func (r *Replay) settleRunning(now trace.Time) {
	if now != r.shown {
		for _, g := range r.running {
			r.Settle(g, now)
		}
		r.shown = now
	}
}

// begins reports whether a goroutine has entered no procedure yet in which it does what it was
// started for. That is not what a method such as errgroup's starts for others, which may have
// probes: it is the first procedure that this calls.
func (r *Replay) begins(g *G, point trace.PointID) bool {
	group := &r.Groups.list[r.Contexts.list[g.Context].Group]
	if group.starts && r.T.Points[point].Name == group.Func {
		return false
	}
	return len(g.frames) == 0 || len(g.frames) == 1 && g.first == trace.NoPoint && group.starts &&
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
	*g = G{ID: e.G, Slot: e.Slot, Proc: -1, Repaired: e.Cause == trace.ByRepair, Labels: NoSpan,
		Status:  Status{real: e.To},
		Stack:   Stack{first: trace.NoPoint, main: trace.NoPoint, frames: g.frames[:0]},
		Account: Account{upTo: e.Time, thread: onThread{id: e.Thread}},
		Locks:   Locks{Held: g.Held[:0]}}
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
	g.Base, g.waitsIn = g.Context, g.Context
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
	if e.To == trace.Syscall {
		g.Writes = e.WritesTo()
	}
	if g.CalledIn = 0; e.From == trace.Syscall || e.From == trace.Blocked {
		g.CalledIn = e.CalledIn()
	}
	r.turn(g, e.Time, r.virtualState(g, e.To), g.Spins)
	if e.From == trace.OffCPU {
		r.v.Off(g, e.Off(), g.thread.offAt, e.Time)
	}
	switch {
	case e.From == trace.OffCPU: // it is on its thread as before
	case e.To == trace.Running:
		if g.thread.move(e.Thread) {
			r.ran[e.Thread] = true
		}
		g.runs(e.Time)
		r.regain(g, e.Time)
	case e.To == trace.Waiting && e.Wait().Reason == r.Names.cond:
		r.lend(g, e.Time)
	case e.To == trace.OffCPU:
		g.thread.offAt = e.Time
	case e.To == trace.None:
		r.dies(g, e.Time)
		r.v.End(g, e.Time)
	}
	g.Reason = e.Wait().Reason
	if e.To == trace.Waiting {
		r.waitFor(g, e)
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
