package replay

import "qinst.dev/trace"

// Visitor is told what goroutines do, in the order of the trace. Goroutines, objects and waits
// are the replay's: they are valid during the call, and may be read, not changed. Embed [Nop]
// for what does not matter.
type Visitor interface {
	// Create says that there is a goroutine. by is nil where nobody is known to have created it.
	Create(g, by *G, now trace.Time)
	// End says that a goroutine has ended: its last segment was told.
	End(g *G, now trace.Time)
	// Segment tells what a goroutine did from one time to a later one: it was in the state
	// [G.State], in the context [G.Where], held [G.Held], and [Replay.Busy] processors were busy
	// all that time.
	Segment(g *G, from, to trace.Time)
	// Turn says that a goroutine is about to go to a state, in which it is busy or not. All
	// segments up to now were told: those of all busy goroutines, where their number changes.
	Turn(g *G, now trace.Time, to trace.State, busy bool)
	// Enter says that a goroutine has entered a procedure or loop, of the program's or of the
	// system's.
	Enter(g *G, point trace.PointID)
	// Region says that a goroutine has begun a region, or ended one that it was in since a time.
	Region(g *G, span SpanID, begins bool, since, now trace.Time)
	// Labels says that a goroutine has the labels [G.Labels] from now on.
	Labels(g *G)
	// Named says that a goroutine has another name, which is another group.
	Named(g *G)
	// Wait says that a goroutine begins to wait for [G.Wait].
	Wait(g *G)
	// Wake says that a wait has ended, and by whom.
	Wake(g *G, w *Wait, by Waker, now trace.Time)
	// Sync says that a goroutine operates on an object, after which it may have it.
	Sync(g *G, ob *Object, op trace.Operation)
	// Acquire says that a goroutine is about to hold an object: it is not yet among
	// [Object.Holders] and [G.Held].
	Acquire(g *G, ob *Object, h Holder, held Held, now trace.Time)
	// Release says that an object is about to be given back by its holder, the goroutine, whose
	// [G.Held] of that number is about to go; -1: it has none. An object that nobody is known to
	// hold may be released, too.
	Release(g *G, ob *Object, held int, how Release, now trace.Time)
	// Forget says that what nobody holds or waits for is about to be forgotten, since there are
	// many objects; see [Object.InUse].
	Forget()
	// Sample tells what a sampler saw of a goroutine; nil: of nobody.
	Sample(g *G, s trace.Sampled)
	// Other are events that the replay does not interpret: Trips, Searched and Mark.
	Other(g *G, e *trace.Event)
}

// Nop is a visitor that nothing matters to.
type Nop struct{}

// Create does nothing.
func (Nop) Create(_, _ *G, _ trace.Time) {}

// End does nothing.
func (Nop) End(*G, trace.Time) {}

// Segment does nothing.
func (Nop) Segment(*G, trace.Time, trace.Time) {}

// Turn does nothing.
func (Nop) Turn(*G, trace.Time, trace.State, bool) {}

// Enter does nothing.
func (Nop) Enter(*G, trace.PointID) {}

// Region does nothing.
func (Nop) Region(*G, SpanID, bool, trace.Time, trace.Time) {}

// Labels does nothing.
func (Nop) Labels(*G) {}

// Named does nothing.
func (Nop) Named(*G) {}

// Wait does nothing.
func (Nop) Wait(*G) {}

// Wake does nothing.
func (Nop) Wake(*G, *Wait, Waker, trace.Time) {}

// Sync does nothing.
func (Nop) Sync(*G, *Object, trace.Operation) {}

// Acquire does nothing.
func (Nop) Acquire(*G, *Object, Holder, Held, trace.Time) {}

// Release does nothing.
func (Nop) Release(*G, *Object, int, Release, trace.Time) {}

// Forget does nothing.
func (Nop) Forget() {}

// Sample does nothing.
func (Nop) Sample(*G, trace.Sampled) {}

// Other does nothing.
func (Nop) Other(*G, *trace.Event) {}
