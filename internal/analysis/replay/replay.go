package replay

import (
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Options change how a replay interprets the program.
type Options struct {
	// VirtualProcs is the number of processors of a program whose processors are tokens; 0 means
	// that it uses real ones. See virtual.go.
	VirtualProcs int
	// Price is what an event cost the goroutine that made it, in ns: it pays in its next segments.
	// nil: none.
	Price func(*trace.Event) float64
	// After is called after each event; nil: none.
	After func(*trace.Event)
}

// Replay follows the goroutines of one source.
type Replay struct {
	// T has the source's tables, with the system's procedures appended to the program's points.
	T        *trace.Tables
	Contexts Contexts
	Sets     *Sets
	Groups   *Groups
	Spans    *Spans
	Names    *Names
	System   System
	Counts
	Processors

	source  trace.Source
	options Options
	v       Visitor
	live
	objects objects
	paths   paths
}

// New returns a replay of a source, from its beginning.
func New(source trace.Source, options Options) *Replay {
	r := &Replay{source: source, options: options}
	r.T, r.System = withSystem(source.Tables())
	r.Sets = newSets()
	r.Groups = newGroups(r.T)
	r.Contexts = newContexts(r.T, r.Sets, r.Groups)
	r.Spans = &Spans{index: map[spanKey]SpanID{}}
	r.Names = newNames(r.T)
	r.objects = newObjects(r.T)
	r.paths = newPaths(r.T, &r.Contexts)
	r.ran = map[trace.ThreadID]bool{}
	return r
}

// Run shows the whole source to a visitor. It must be called only once. At the end every live
// goroutine has a last segment, up to the end of the trace.
func (r *Replay) Run(v Visitor) (trace.Losses, error) {
	r.v = v
	losses, err := r.source.Events(func(events []trace.Event) error {
		for i := range events {
			r.event(&events[i])
		}
		return nil
	})
	if err != nil {
		return losses, err
	}
	end := r.source.Wall()
	r.settleRunning(end)
	for _, g := range r.gs {
		if g.State != trace.None {
			r.Settle(g, end)
		}
		if g.State == trace.OffCPU {
			v.Off(g, trace.OffUnknown, g.thread.offAt, end)
		}
	}
	copy(r.T.Points, r.source.Tables().Points) // with the changes made while the events were read
	return losses, nil
}

func (r *Replay) event(e *trace.Event) {
	r.Events++
	for c := r.objects.due(e.Time); c != nil; c = r.objects.due(e.Time) {
		r.blink(c)
	}
	switch e.Kind {
	case trace.Enter:
		r.Entries++
		r.enter(r.gs[e.Slot], e.Time, e.Point())
	case trace.Exit:
		r.Entries++
		r.exit(r.gs[e.Slot], e.Time)
	case trace.Change:
		r.changed(e)
		r.change(e)
	case trace.Create:
		r.create(e)
	case trace.Region:
		r.region(e)
	case trace.Named:
		r.rename(e)
	case trace.Labeled:
		r.label(e)
	case trace.Sync:
		r.Operations++
		r.operate(e)
	case trace.Sample:
		r.v.Sample(r.g(e.Slot), e.Sample())
	case trace.Mark:
		r.mark(e)
	case trace.Spin:
		g := r.gs[e.Slot]
		if e.Begins() {
			r.turn(g, e.Time, g.State, g.Spins+1)
		} else if g.Spins > 0 {
			r.turn(g, e.Time, g.State, g.Spins-1)
		}
		g.Locking = e.Begins()
	case trace.Procs:
		r.setProcs(int(e.Count()), e.Time)
	case trace.Yields:
		r.Yields += int64(e.Yields())
		r.v.Other(r.g(e.Slot), e)
	case trace.Trips, trace.Searched, trace.Woke, trace.Alloc, trace.Channel, trace.Semaphore, trace.Timer,
		trace.Fired, trace.Task, trace.Joined:
		r.v.Other(r.g(e.Slot), e)
	}
	if r.options.Price != nil {
		r.pay(e)
	}
	if r.options.After != nil {
		r.options.After(e)
	}
}

// pay adds an event's price to what the goroutine owes that made it: a goroutine that wakes or
// creates another one makes that one's event.
func (r *Replay) pay(e *trace.Event) {
	slot := e.Slot
	if e.Kind == trace.Create || e.Kind == trace.Change && e.From == trace.Waiting {
		slot = e.By
	}
	if g := r.g(slot); g != nil {
		times := 1.0
		if e.Kind == trace.Yields {
			times = float64(e.Yields())
		}
		g.Paid += times * r.options.Price(e)
	}
}

// mark processes a Mark event of the runtime. Assists, stops of the world and waking threads become
// procedures of the goroutine that performs them.
func (r *Replay) mark(e *trace.Event) {
	g := r.g(e.Slot)
	switch e.Mark() {
	case spec.EvAssistBegin:
		r.enterSystem(g, e.Time, r.System.Assist)
	case spec.EvAssistEnd:
		r.leaveSystem(g, e.Time, r.System.Assist)
	case spec.EvWakeBegin:
		r.enterSystem(g, e.Time, r.System.Waking)
	case spec.EvWakeEnd:
		r.leaveSystem(g, e.Time, r.System.Waking)
	case spec.EvSTWBegin:
		r.enterSystem(g, e.Time, r.System.Stop)
	case spec.EvSTWEnd:
		r.leaveSystem(g, e.Time, r.System.Stop)
	}
	r.v.Other(g, e)
}
