package replay

import "qinst.dev/internal/trace"

// Visitor receives the actions of goroutines, in the order of the trace. Goroutines, objects and
// waits belong to the replay: they are valid only during the call, and must not be changed. Embed
// [Nop] to implement only some of the methods.
type Visitor interface {
	// Create is called for a new goroutine. by is nil if its creator is not known.
	Create(g, by *G, now trace.Time)
	// End is called when a goroutine has ended, after its last segment.
	End(g *G, now trace.Time)
	// Segment is called for a stretch of a goroutine's time in which it was in the state
	// [G.State] and the context [G.Where], held [G.Held], and [Replay.Busy] processors were busy.
	Segment(g *G, from, to trace.Time)
	// Turn is called before a goroutine changes to a state, in which it keeps a processor or does
	// not, see [G.Keeps]. The segments up to now have been shown, and if the number of those that
	// do changes, those of all of them.
	Turn(g *G, now trace.Time, to trace.State, keeps bool)
	// Enter is called when a goroutine has entered a procedure or loop, of the program's or of
	// the system's.
	Enter(g *G, point trace.PointID, now trace.Time)
	// Outside is called when a goroutine has left the last procedure or loop that it had entered
	// itself.
	Outside(g *G, now trace.Time)
	// Region is called when a goroutine has begun a region, or ended one that it entered at
	// since.
	Region(g *G, span SpanID, begins bool, since, now trace.Time)
	// Labels is called when a goroutine has got the labels [G.Labels].
	Labels(g *G, now trace.Time)
	// Named is called when a goroutine has got another name, and thus belongs to another group.
	Named(g *G)
	// Wait is called when a goroutine begins to wait for [G.Wait].
	Wait(g *G)
	// Wake is called when a wait has ended, with its waker.
	Wake(g *G, w *Wait, by Waker, now trace.Time)
	// Sync is called when a goroutine operates on an object, before any effect on its holders.
	Sync(g *G, ob *Object, op trace.Operation, now trace.Time)
	// Acquire is called before a goroutine holds an object: the hold is not yet among
	// [Object.Holders] and [G.Held].
	Acquire(g *G, ob *Object, h Holder, held Held, now trace.Time)
	// Release is called before an object is given back by a goroutine that holds it. held is the
	// index of the hold in [G.Held], -1 if it has none. It may also be called for an object
	// without a known holder.
	Release(g *G, ob *Object, held int, how Release, now trace.Time)
	// Forget is called before objects that no goroutine holds or waits for are forgotten because
	// there are many; see [Object.InUse].
	Forget()
	// Sample is called for a goroutine that a sampler saw, nil if it saw none.
	Sample(g *G, s trace.Sampled)
	// Off is called when a goroutine's thread has a processor again that the operating system had
	// taken, when the scheduler takes that for another thread, and at the end of the trace.
	Off(g *G, why trace.OffReason, from, to trace.Time)
	// Other are events that the replay does not interpret: Trips, Searched, Woke, Alloc, Channel,
	// Semaphore, Timer, Fired, Task and Mark.
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
func (Nop) Enter(*G, trace.PointID, trace.Time) {}

// Outside does nothing.
func (Nop) Outside(*G, trace.Time) {}

// Region does nothing.
func (Nop) Region(*G, SpanID, bool, trace.Time, trace.Time) {}

// Labels does nothing.
func (Nop) Labels(*G, trace.Time) {}

// Named does nothing.
func (Nop) Named(*G) {}

// Wait does nothing.
func (Nop) Wait(*G) {}

// Wake does nothing.
func (Nop) Wake(*G, *Wait, Waker, trace.Time) {}

// Sync does nothing.
func (Nop) Sync(*G, *Object, trace.Operation, trace.Time) {}

// Acquire does nothing.
func (Nop) Acquire(*G, *Object, Holder, Held, trace.Time) {}

// Release does nothing.
func (Nop) Release(*G, *Object, int, Release, trace.Time) {}

// Forget does nothing.
func (Nop) Forget() {}

// Sample does nothing.
func (Nop) Sample(*G, trace.Sampled) {}

// Off does nothing.
func (Nop) Off(*G, trace.OffReason, trace.Time, trace.Time) {}

// Other does nothing.
func (Nop) Other(*G, *trace.Event) {}
