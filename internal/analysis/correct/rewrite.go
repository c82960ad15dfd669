package correct

import (
	"container/heap"
	"io"
	"math"

	"qinst.dev/internal/analysis/price"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// A corrected trace is written while the recorded one is read again. A goroutine's actions come in
// their order, at the time of its work in the computed run. Waits, wake-ups and processors are
// those of the log of that run. Each goroutine has a thread of its own for as long as it lives,
// because the computed run has none.

// writing is a corrected trace.
type writing struct {
	c       *correction
	log     *sim.Log
	ids     []trace.GoID
	p       *steps.Program // as far as it is read
	w       *trace.Rewriter
	gs      []written
	free    threads // of goroutines that have ended
	streams []*trace.Stream
	reasons map[string]trace.ReasonID
	at      anchors
	// by steps that are not done: the object of the wait that each ends, if it is known only then,
	// as of a select
	woken map[steps.StepID]trace.Address
	left  int64 // events of goroutines that had not come to them when the program ended
}

// written is the state of a goroutine.
type written struct {
	out     *trace.Stream
	step    steps.StepID // the last one that it has done
	base    uint64       // stamp from which its work counts
	work    float64      // ns since
	stay    int          // the present one
	wakes   int          // that it has done
	depth   int          // procedures that it is in
	trips   uint64       // of the loop that it leaves next
	waits   trace.Waits  // its last wait in the recorded run
	cause   trace.Cause  // by which that ended
	by      trace.Address
	made    trace.Event // its creation, if no other goroutine creates it
	pending bool
	calling
	gone bool // it does nothing any more
}

// calling is whether a goroutine is in a system call, and the stack of that, 0 if it is not known.
type calling struct {
	call bool
	in   trace.StackID
}

// zero is the time at which a corrected trace begins, in ticks: 0 would be none.
const zero = 1 << 20

// rewrite writes the trace with the times of a computed run, and returns how many events are not in
// it.
func (c *correction) rewrite(t *trace.Trace, log *sim.Log, r *Result, to io.Writer) (int64, error) {
	w, err := t.Rewrite(to, trace.Time(r.Optimistic), trace.Time(r.Pessimistic))
	if err != nil {
		return 0, err
	}
	x := &writing{c: c, log: log, w: w, reasons: map[string]trace.ReasonID{}, woken: map[steps.StepID]trace.Address{}}
	for i := range c.p.Gs {
		x.ids = append(x.ids, c.p.Gs[i].ID)
	}
	for code, text := range t.Reasons {
		x.reasons[text] = code
	}
	x.at.wall = t.Wall()
	procs := c.p.Procs
	c.p = nil // its memory is for the one that is read now
	x.thread(0).Procs(zero, procs)
	p, losses, err := steps.Build(t, steps.Options{Price: c.again, Watch: x})
	if err != nil {
		return 0, err
	}
	c.p = p
	for n := range x.gs {
		x.advance(steps.G(n), allSteps)
	}
	for _, s := range x.streams {
		s.End()
	}
	return x.left, w.Close(trace.Span{Begin: zero, End: zero + log.End, Took: trace.Time(r.Model), At: x.at.of},
		&losses)
}

// again is the price of an event, when the trace is read once more.
func (c *correction) again(e *trace.Event) float64 {
	if k, pays := price.KindOf(e); pays {
		return c.prices[k].Each
	}
	return 0
}

// Reads takes the program that is read.
func (x *writing) Reads(p *steps.Program) { x.p = p }

// Worked adds what is left of a goroutine's work.
func (x *writing) Worked(n steps.G, at replay.ContextID, from, to trace.Time, paid int64) {
	x.g(n).work += x.c.left(at, int64(to-from), paid, x.c.periods.dense(at, from, to), x.c.assumed.cost)
}

func (x *writing) g(n steps.G) *written {
	for int(n) >= len(x.gs) {
		x.gs = append(x.gs, written{trips: spec.NoTrips})
	}
	return &x.gs[n]
}

// Event writes one.
func (x *writing) Event(e *trace.Event, g, by steps.Place) {
	if g.N < 0 {
		return
	}
	w := x.g(g.N)
	if w.pending {
		x.born(g.N, e)
	}
	switch {
	case e.Kind == trace.Create:
		x.create(e, g.N, by)
	case e.Kind == trace.Change && e.To == trace.Waiting:
		w.waits, w.by = e.Wait(), 0
	case e.Kind == trace.Change && e.From == trace.Waiting:
		if w.cause = e.Cause; e.To == trace.Runnable {
			if w.by = e.Woken(); w.by != 0 && by.N >= 0 {
				x.woken[by.Last] = w.by
			}
		} else {
			x.advance(g.N, g.Last)
		}
	case e.Kind == trace.Change:
		x.change(e, g.N, g.Last)
	// the goroutine that it wakes is woken after it
	case e.Kind == trace.Mark && (e.Mark() == spec.EvGCBegin || e.Mark() == spec.EvGCEnd):
		x.before(g.N, g.Last)
		x.own(e, g.N)
		x.advance(g.N, g.Last)
	case e.Kind != trace.Fired && e.Kind != trace.Yields: // what is written has no time in the scheduler
		x.advance(g.N, g.Last)
		x.own(e, g.N)
	}
}

// create lets a goroutine be created by another one, or later without one.
func (x *writing) create(e *trace.Event, n steps.G, by steps.Place) {
	w, life := x.g(n), &x.log.Gs[n]
	if by.N < 0 {
		w.pending, w.made = true, *e
		return
	}
	x.advance(by.N, by.Last)
	if from := x.g(by.N); from.gone || life.Created == 0 {
		w.gone = true
		x.left++
	} else {
		from.out.Create(zero+from.base, x.ids[n], e.Creation(), life.Waits)
		x.begin(n)
	}
}

// born creates a goroutine without a creator, before its next event.
func (x *writing) born(n steps.G, next *trace.Event) {
	w, life := x.g(n), &x.log.Gs[n]
	if w.pending = false; life.Created == 0 {
		w.gone = true
		x.left++
		return
	}
	at := life.Created
	if life.Waits && len(life.Stays) > 0 {
		at = life.Stays[0].Ready
	}
	w.out = x.thread(at)
	if next != nil && next.Kind == trace.Fired {
		w.out.Fired(zero+at, next)
	}
	w.out.Create(zero+at, x.ids[n], w.made.Creation(), life.Waits)
	x.begin(n)
}

// begin lets a goroutine begin to run.
func (x *writing) begin(n steps.G) {
	w, life := x.g(n), &x.log.Gs[n]
	if len(life.Stays) == 0 {
		w.gone = true
		return
	}
	if w.out == nil {
		w.out = x.thread(life.Stays[0].Ready)
	}
	x.goesOn(n)
}

// thread is one that is free at a time.
func (x *writing) thread(at uint64) *trace.Stream {
	if len(x.free) > 0 && x.free[0].Last < zero+at {
		return heap.Pop(&x.free).(*trace.Stream)
	}
	s := x.w.Thread()
	x.streams = append(x.streams, s)
	return s
}

// change writes what system calls do. All else is the log's.
func (x *writing) change(e *trace.Event, n steps.G, last steps.StepID) {
	w := x.g(n)
	if e.From == trace.OffCPU || e.To == trace.OffCPU || e.To == trace.Runnable || e.To == trace.Blocked {
		return
	}
	x.advance(n, last)
	if w.gone {
		return
	}
	switch {
	case e.To == trace.Syscall && !w.call:
		w.call, w.in = true, 0
		w.out.Call(x.now(n), e.WritesTo())
	case e.To == trace.Running:
		x.called(w, x.now(n))
	}
}

// own writes what a goroutine does itself.
func (x *writing) own(e *trace.Event, n steps.G) {
	w := x.g(n)
	at := x.now(n)
	if w.gone {
		x.left++
		return
	}
	x.at.add(e.Time, at)
	switch e.Kind {
	case trace.Trips:
		w.trips = e.Count()
		return
	case trace.Enter:
		w.depth++
	case trace.Sample:
		if x.p.R.IsProbe(e.Sample()) {
			return
		}
	case trace.Exit:
		w.depth--
		trips := w.trips
		if w.trips = spec.NoTrips; e.Cause == trace.ByEnd {
			return
		} else if e.Cause == trace.ByPanic {
			w.out.Unwind(at, w.depth)
			return
		} else if x.p.R.T.Points[e.Point()].Kind == spec.PointLoop {
			w.out.Leave(at, e.Point(), trips)
			return
		}
	}
	w.out.Copy(at, e)
}

// now is the time of a goroutine's next action, after its work since its last step. All its earlier
// actions are over by then.
func (x *writing) now(n steps.G) uint64 {
	w := x.g(n)
	next := x.following(n)
	for !w.gone {
		at, done := w.base+uint64(max(0, w.work)*sim.Grain), x.log.Done[next]
		stay := &x.log.Gs[n].Stays[w.stay]
		switch {
		case stay.Within && stay.At == next && at > stay.Until:
			late := at - stay.Until
			if x.leaves(n, next); !w.gone {
				w.work = float64(late) / sim.Grain
			}
		case done != 0:
			return zero + min(at, done)
		case at > x.log.End:
			w.gone = true
		default:
			return zero + at
		}
	}
	return 0
}

// following is the step after the last one that a goroutine has done, 0: none.
func (x *writing) following(n steps.G) steps.StepID {
	if w := x.g(n); w.step != 0 {
		return x.log.Next[w.step]
	}
	return x.log.Gs[n].First
}

const allSteps = steps.StepID(math.MaxUint32)

// advance lets a goroutine do its steps up to one.
func (x *writing) advance(n steps.G, to steps.StepID) {
	w := x.g(n)
	if w.pending {
		x.born(n, nil)
	}
	if x.before(n, to); w.step != to && !w.gone && x.following(n) == to {
		x.does(n, to)
		w.step = to
	}
}

// before lets a goroutine do its steps up to the one before to.
func (x *writing) before(n steps.G, to steps.StepID) {
	for w := x.g(n); !w.gone && !w.pending && w.step != to; {
		next := x.following(n)
		if next == 0 || next == to {
			return
		}
		x.does(n, next)
		w.step = next
	}
}

// does lets a goroutine do a step: it comes to its end, wakes whom it wakes, and waits if it waits.
func (x *writing) does(n steps.G, id steps.StepID) {
	w, life, done := x.g(n), &x.log.Gs[n], x.log.Done[id]
	for s := &life.Stays[w.stay]; s.Within && s.At == id && (s.Until < done || done == 0); s = &life.Stays[w.stay] {
		if x.leaves(n, id); w.gone {
			return
		}
	}
	if done == 0 {
		w.gone = true
		return
	}
	if w.base, w.work = done, 0; w.call && x.calls(id) {
		w.in, _ = x.p.StackOf(id)
		if s := &life.Stays[w.stay]; s.Until == 0 || s.At != id {
			x.called(w, zero+done)
		}
	}
	for ; w.wakes < len(life.Wakes) && life.Wakes[w.wakes].Step == id; w.wakes++ {
		k := &life.Wakes[w.wakes]
		w.out.Wake(zero+k.At, x.ids[k.G], k.Seq, trace.ByCode, x.woken[id])
	}
	delete(x.woken, id)
	for s := &life.Stays[w.stay]; s.Until != 0 && s.At == id; s = &life.Stays[w.stay] {
		if x.leaves(n, id); w.gone {
			return
		}
	}
}

// calls reports whether a step is a system call in which the processor goes.
func (x *writing) calls(id steps.StepID) bool {
	s := x.p.Step(id)
	return s.Kind == steps.Delay && s.Cause() == steps.Call
}

// leaves lets a goroutine leave its processor, and get the next one.
func (x *writing) leaves(n steps.G, id steps.StepID) {
	w, life := x.g(n), &x.log.Gs[n]
	stay := &life.Stays[w.stay]
	at := zero + stay.Until
	switch {
	case stay.Within, x.p.Step(id).Kind == steps.Ready: // the step within which it leaves is not read yet
		x.called(w, at)
		w.out.Stop(at)
	case x.p.Step(id).Kind == steps.End:
		w.out.Finish(at)
		heap.Push(&x.free, w.out)
		w.gone = true
		return
	case x.calls(id):
		if !w.call {
			w.out.Call(at, 0)
		}
		w.call = true
		w.in, _ = x.p.StackOf(id)
		w.out.Yield(at)
	case w.call && x.p.Step(id).Kind == steps.Cut:
		w.out.Yield(at)
	default:
		x.called(w, at)
		w.out.Wait(at, x.waitsFor(w, x.p.Step(id)))
	}
	if w.stay++; w.stay == len(life.Stays) {
		w.gone = true
		return
	}
	x.goesOn(n)
}

// called ends a goroutine's system call, if it is in one.
func (x *writing) called(w *written, at uint64) {
	if w.call {
		w.call = false
		w.out.Called(at, w.in)
	}
}

// goesOn lets a goroutine run on its next processor.
func (x *writing) goesOn(n steps.G) {
	w := x.g(n)
	stay := &x.log.Gs[n].Stays[w.stay]
	if w.call {
		w.call = false
		w.out.Back(zero+stay.Ready, w.in)
	} else if stay.Woken != 0 && stay.By < 0 {
		cause := w.cause
		if cause < trace.WakeNetpoll || cause > trace.WakeScheduler {
			cause = trace.WakeScheduler
		}
		w.out.Wake(zero+stay.Ready, x.ids[n], stay.Woken, cause, w.by)
	}
	w.out.Start(zero+stay.From, x.ids[n], stay.Seq, int(stay.Proc))
	w.base, w.work = stay.From, 0
}

// waitReasons are the runtime's reasons for waits that operations may begin with.
var waitReasons = map[steps.Op]string{
	steps.Lock: "sync.Mutex.Lock", steps.RLock: "sync.RWMutex.RLock", steps.Send: "chan send",
	steps.Receive: "chan receive", steps.Join: "sync.WaitGroup.Wait",
}

// waitsFor is the wait of a step: the one that was recorded, or that of an operation which did not
// wait then.
func (x *writing) waitsFor(w *written, s *steps.Step) trace.Waits {
	if s.Kind == steps.Take || s.Kind == steps.Delay {
		return w.waits
	}
	return trace.Waits{Reason: x.reasons[waitReasons[s.Op]], Object: x.p.Objects[s.Obj].Address}
}

// threads are free threads, in the order in which they became free.
type threads []*trace.Stream

func (t threads) Len() int           { return len(t) }
func (t threads) Less(i, j int) bool { return t[i].Last < t[j].Last }
func (t threads) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *threads) Push(s any)        { *t = append(*t, s.(*trace.Stream)) }
func (t *threads) Pop() any {
	old := *t
	s := old[len(old)-1]
	*t = old[:len(old)-1]
	return s
}

// anchors map times of the recorded run to times of the corrected one: those that goroutines had
// reached by then.
type anchors struct {
	wall trace.Time
	list [4096]uint64
	last int
}

func (a *anchors) bucket(t trace.Time) int {
	return max(0, min(int(float64(t)/float64(a.wall+1)*float64(len(a.list))), len(a.list)-1))
}

func (a *anchors) add(t trace.Time, at uint64) {
	i := a.bucket(t)
	for ; a.last < i; a.last++ {
		a.list[a.last+1] = a.list[a.last]
	}
	a.list[i] = max(a.list[i], at)
}

// of is that time, in ticks.
func (a *anchors) of(t trace.Time) uint64 {
	return max(zero, a.list[min(a.bucket(t), a.last)])
}
