package replay

import "qinst.dev/internal/trace"

// Waiting is what is known of a goroutine's present wait, and of its last one.
type Waiting struct {
	Wait   *Wait          // the present one; nil: it does not wait, or its wait is not of interest
	Reason trace.ReasonID // of the present one
	WokeAt trace.Time     // it has run since then without waiting

	wait    Wait      // to which Wait points
	waitsIn ContextID // of the present one; it may have procedures that have no events
	last    waitedFor // in the present wait, or else the last one
	begun   bool      // the goroutine has not run since that wait began
}

// waitedFor is what a goroutine has waited for: an object, if that was known, or a condition.
type waitedFor struct {
	object *Object
	cond   bool
}

// Wait is one of a goroutine's.
type Wait struct {
	Object  *Object       // nil if it is not known; that of a select is known only at the end of the wait
	Address trace.Address // 0 if it is not known, as for Object
	Stack   trace.StackID
	Reason  trace.ReasonID
	In      trace.PointID // innermost procedure, NoPoint for none
	Since   trace.Time
}

// Waker is the one who ended a wait: a goroutine, or the runtime for the reason in Cause.
type Waker struct {
	G     *G // nil: none
	Cause trace.Cause
	Late  int64 // ns by which a timer was late
}

// MayHold is from when on a running goroutine may have held a lock. It did not hold it while it
// waited for it, or for a condition. It may have held it while it waited for anything else.
func (w *Waiting) MayHold(ob *Object) trace.Time {
	if ob == nil || w.last.cond || w.last.object == ob {
		return w.WokeAt
	}
	return 0
}

// beginWait begins a wait in a context.
func (w *Waiting) beginWait(in ContextID, cond bool) {
	w.waitsIn, w.last, w.begun = in, waitedFor{cond: cond}, true
}

// trackWait makes the present wait one of interest. Until it ends it counts as one for its object.
func (w *Waiting) trackWait(x Wait) {
	w.wait = x
	w.Wait = &w.wait
	if x.Object != nil {
		w.last.object = x.Object
		x.Object.Waiting++
	}
}

// endWait ends the present wait, which is one of interest, and returns it.
func (w *Waiting) endWait() *Wait {
	ended := w.Wait
	w.Wait = nil
	if ended.Object != nil {
		ended.Object.Waiting--
	}
	return ended
}

// runs records that the goroutine runs: its last wait is over.
func (w *Waiting) runs(now trace.Time) {
	if w.begun {
		w.WokeAt, w.begun = now, false
	}
}

// waitFor processes a Change to Waiting.
func (r *Replay) waitFor(g *G, e *trace.Event) {
	w := e.Wait()
	g.beginWait(r.paths.waitsAt(&g.Stack, w.Stack), w.Reason == r.Names.cond)
	if g.System || g.HasToken() {
		return
	}
	r.joinWoken(g, w.Object, r.Names.site(w.Stack, w.Reason))
	if int(w.Stack) < len(r.T.Stacks) {
		r.Groups.list[r.Contexts.list[g.Base].Group].waits(w.Stack, r.T.Stacks[w.Stack])
	}
	x := Wait{Address: w.Object, Stack: w.Stack, Reason: w.Reason, In: r.Contexts.list[g.waitsIn].Proc, Since: e.Time}
	if w.Object != 0 {
		x.Object = r.object(w.Object)
	}
	g.trackWait(x)
	r.v.Wait(g)
}

// wake processes the Change that ends the wait.
func (r *Replay) wake(g *G, e *trace.Event) {
	by := Waker{r.g(e.By), e.Cause, 0}
	if e.Cause == trace.WakeTimer {
		by.Late = e.Late()
	}
	if by.G != nil {
		r.Settle(by.G, e.Time)
	}
	w := g.endWait()
	if a := e.Woken(); w.Object == nil && a != 0 {
		w.Address, w.Object = a, r.object(a)
	}
	if by.G != nil && w.Object != nil {
		r.joinWaker(by.G, w)
	}
	r.v.Wake(g, w, by, e.Time)
}
