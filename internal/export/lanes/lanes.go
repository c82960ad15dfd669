// Package lanes shows a trace as lanes of slices, as viewers of traces draw it. The forms for
// viewers write these lanes.
//
// A lane is a goroutine, a processor, a lock, or the collector. A goroutine's lane has its
// procedures and loops, and within them its waits, system calls, and the times in which it was
// ready or the operating system had its processor. A processor's lane has the goroutines on it, a
// lock's its holders, and a lane of numbers the length of its queue. If a goroutine ends another
// one's wait a flow leads from the one to the other.
package lanes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Form writes lanes. Times do not go back within a lane, and slices of a lane are nested.
type Form interface {
	// Lane begins a lane, or changes the name of one.
	Lane(l Lane)
	// Begin begins a slice in a lane. The flow, if it is not 0, ends there.
	Begin(lane ID, at trace.Time, kind Kind, name string, flow uint64)
	// End ends the last slice that has begun in the lane.
	End(lane ID, at trace.Time)
	// Wakes begins a flow in a lane.
	Wakes(lane ID, at trace.Time, name string, flow uint64)
	// Value is that of a lane with numbers from a time on.
	Value(lane ID, at trace.Time, n int64)
}

// Forgetter is a form that needs to know when nothing more will be shown in a lane, so that it can
// forget it: programs have millions of goroutines.
type Forgetter interface {
	Gone(lane ID)
}

// Knower is a form that knows some locks from before: they have lanes as soon as goroutines wait
// for them. Others have from when they are first held.
type Knower interface {
	IsLock(object trace.Address) bool
}

// Sampler is a form that takes samples of what goroutines ran, too.
type Sampler interface {
	// Sample is one of a goroutine's lane.
	Sample(lane ID, at trace.Time, s trace.Sampled)
}

// ID is the number of a lane.
type ID uint64

// Lane is one of slices, or of numbers.
type Lane struct {
	ID     ID
	Group  Group
	Name   string
	Number int64         // of a goroutine or a processor
	Object trace.Address // of a lock
}

// Holder is which one of a lock's lanes it is, 0 for those of anything else.
func (l Lane) Holder() ID {
	if l.Group != Locks {
		return 0
	}
	return l.ID % mostHolders
}

// Group is the kind of a lane.
type Group uint8

// Groups of lanes.
const (
	Goroutines Group = iota
	Processors
	Locks   // their holders
	Queues  // the number of goroutines that wait for a lock
	Regions // of a goroutine
	Collector
	NumGroups
)

func (g Group) String() string {
	return [NumGroups]string{"goroutines", "processors", "locks", "waiting for locks", "regions", "collector"}[g]
}

// Kind is the kind of a slice.
type Kind uint8

// Kinds of slices.
const (
	Procedure Kind = iota
	Loop
	Wait
	Ready
	SystemCall
	OffCPU
	Running // a goroutine, on a processor
	Held    // a lock, by a goroutine
	Region
	Cycle // of the collector
	NumKinds
)

func (k Kind) String() string {
	return [NumKinds]string{"procedure", "loop", "wait", "ready", "system call", "off-CPU", "running", "held", "region",
		"collector"}[k]
}

// mostLocks bounds the locks that have lanes: a program may have one in each of its objects.
const mostLocks = 1000

// Left counts what has no lane.
type Left struct {
	Locks int64 // beyond the first 1,000
}

// Show shows a trace to a form.
func Show(source trace.Source, form Form) (Left, trace.Losses, error) {
	s := &shower{form: form, locks: map[int]*lock{}, names: map[place]string{},
		called: map[string]int{}}
	s.forgets, _ = form.(Forgetter)
	s.knows, _ = form.(Knower)
	s.samples, _ = form.(Sampler)
	s.r = replay.New(source, replay.Options{After: s.after})
	losses, err := s.r.Run(s)
	if err == nil {
		s.finish(source.Wall())
	}
	return s.left, losses, err
}

// shower follows the goroutines.
type shower struct {
	replay.Nop
	r    *replay.Replay
	form Form
	more
	gs    []*goroutine // by slot
	procs []*goroutine // that run, by processor
	gc    bool         // a cycle of the collector is open

	collects bool          // it has a lane
	locks    map[int]*lock // by [replay.Object.ID]; nil: without lanes

	locked int            // locks so far
	called map[string]int // how many, by name

	flows uint64
	names map[place]string
	left  Left
}

// more is the form, where it is more than that; nil: it is not.
type more struct {
	forgets Forgetter
	knows   Knower
	samples Sampler
}

// place is one at which goroutines wait for an object.
type place struct {
	stack  trace.StackID
	reason trace.ReasonID
	object trace.PointID
}

// goroutine is the lane of one.
type goroutine struct {
	id      ID
	title   string
	name    string
	depth   int            // slices that are open
	apart   Kind           // of the innermost slice, if that is not of code
	is      bool           // there is such a slice
	proc    int            // on which it has an open slice; -1: none
	regions int            // that are open; -1: it had none
	entered bool           // a procedure
	queued  *replay.Object // for which it waits
}

// lanes of what is not a goroutine have numbers of their own.
const (
	ofProcessor ID = 1 << 60
	ofLock      ID = 2 << 60
	ofQueue     ID = 3 << 60
	ofRegions   ID = 4 << 60
	ofCollector ID = 5 << 60
)

// title is the name of a goroutine's lane.
func title(g trace.GoID, function string) string { return fmt.Sprintf("g%d %s", g, function) }

// at is the lane of a slot.
func (s *shower) at(slot trace.Slot) *goroutine {
	if slot == trace.NoSlot || int(slot) >= len(s.gs) {
		return nil
	}
	return s.gs[slot]
}

func (s *shower) after(e *trace.Event) {
	switch e.Kind {
	case trace.Create:
		s.create(e)
	case trace.Enter:
		s.enter(e)
	case trace.Exit:
		s.end(s.at(e.Slot), e.Time)
	case trace.Change:
		s.change(e)
	case trace.Mark:
		s.mark(e)
	case trace.Sample:
		if l := s.at(e.Slot); l != nil && s.samples != nil {
			s.samples.Sample(l.id, e.Time, e.Sample())
		}
	}
}

func (s *shower) create(e *trace.Event) {
	for int(e.Slot) >= len(s.gs) {
		s.gs = append(s.gs, nil)
	}
	l := &goroutine{id: ID(e.G), proc: -1, regions: -1, name: s.group(e.Slot).Func}
	s.gs[e.Slot] = l
	s.call(l, e.G)
	s.goes(l, e, e.To)
}

// call names a goroutine's lane.
func (s *shower) call(l *goroutine, id trace.GoID) {
	l.title = title(id, l.name)
	s.form.Lane(Lane{ID: l.id, Group: Goroutines, Name: l.title, Number: int64(id)})
}

func (s *shower) group(slot trace.Slot) *replay.Group {
	return s.r.Groups.Group(s.r.Contexts.Node(s.r.Goroutines()[slot].Context).Group)
}

func (s *shower) enter(e *trace.Event) {
	l := s.at(e.Slot)
	if l == nil {
		return
	}
	p, kind := &s.r.T.Points[e.Point()], Procedure
	if p.Kind == spec.PointLoop {
		kind = Loop
	}
	if !l.entered && kind == Procedure {
		l.entered = true
		if s.started(l, p) {
			l.name = p.Name
			s.call(l, e.G)
		}
	}
	s.begin(l, e.Time, kind, p.Name, 0)
}

// started reports whether a goroutine was started for the first procedure that it enters, by a
// method such as that of [sync.WaitGroup], or it is not known for what it was started.
func (s *shower) started(l *goroutine, p *trace.Point) bool {
	return l.name != p.Name && (l.name == replay.Unknown || replay.Starts(l.name))
}

func (s *shower) begin(l *goroutine, at trace.Time, kind Kind, name string, flow uint64) {
	l.depth++
	s.form.Begin(l.id, at, kind, name, flow)
}

func (s *shower) end(l *goroutine, at trace.Time) {
	if l != nil && l.depth > 0 {
		l.depth--
		s.form.End(l.id, at)
	}
}

// change shows a goroutine's next state.
func (s *shower) change(e *trace.Event) {
	l := s.at(e.Slot)
	if l == nil {
		return
	}
	s.goes(l, e, e.To)
	if e.To == trace.None {
		for l.depth > 0 {
			s.end(l, e.Time)
		}
		for ; l.regions > 0; l.regions-- {
			s.form.End(ofRegions+l.id, e.Time)
		}
		s.gs[e.Slot] = nil
		s.gone(l)
	}
}

// gone tells the form that a goroutine has ended.
func (s *shower) gone(l *goroutine) {
	if s.forgets == nil {
		return
	}
	s.forgets.Gone(l.id)
	if l.regions >= 0 {
		s.forgets.Gone(ofRegions + l.id)
	}
}

// apart are the slices of states in which a goroutine does not run its code.
var apart = [trace.NumStates]Kind{trace.Runnable: Ready, trace.Waiting: Wait, trace.Syscall: SystemCall,
	trace.Blocked: SystemCall, trace.OffCPU: OffCPU}

func (s *shower) goes(l *goroutine, e *trace.Event, to trace.State) {
	s.occupies(l, e, to)
	kind := apart[to]
	if l.is && kind == SystemCall && l.apart == SystemCall {
		return // it goes on, without its processor
	}
	if l.is {
		l.is = false
		s.end(l, e.Time)
		s.leaves(l, e.Time)
	}
	if kind == 0 {
		return
	}
	l.apart, l.is = kind, true
	switch {
	case kind == Wait:
		w := s.r.Goroutines()[e.Slot].Wait
		if w == nil { // of the runtime's own goroutines
			s.begin(l, e.Time, kind, cmp.Or(s.r.T.Reasons[e.Wait().Reason], kind.String()), 0)
			return
		}
		s.begin(l, e.Time, kind, s.waitName(w), 0)
		s.queues(l, w.Object, e.Time)
	case e.From == trace.Waiting && s.at(e.By) != nil:
		s.flows++
		s.form.Wakes(s.at(e.By).id, e.Time, "wakes", s.flows)
		s.begin(l, e.Time, kind, kind.String(), s.flows)
	default:
		s.begin(l, e.Time, kind, kind.String(), 0)
	}
}

// occupies shows whether a goroutine has a processor.
func (s *shower) occupies(l *goroutine, e *trace.Event, to trace.State) {
	switch {
	case !to.Busy() && l.proc >= 0:
		s.leavesProcessor(l.proc, e.Time)
		l.proc = -1
	case to.Busy() && l.proc < 0:
		p := s.r.Goroutines()[e.Slot].Proc
		if p < 0 || p >= mostProcessors {
			return
		}
		for p >= len(s.procs) {
			s.procs = append(s.procs, nil)
			n := len(s.procs) - 1
			s.form.Lane(Lane{ID: ofProcessor + ID(n), Group: Processors, Name: fmt.Sprintf("processor %d", n), Number: int64(n)})
		}
		if s.procs[p] != nil { // a goroutine whose end was not seen
			s.procs[p].proc = -1
			s.leavesProcessor(p, e.Time)
		}
		s.procs[p], l.proc = l, p
		s.form.Begin(ofProcessor+ID(p), e.Time, Running, l.title, 0)
	}
}

const mostProcessors = 1 << 16

func (s *shower) leavesProcessor(p int, now trace.Time) {
	s.procs[p] = nil
	s.form.End(ofProcessor+ID(p), now)
}

// waitName is the name of a wait: its reason and its object.
func (s *shower) waitName(w *replay.Wait) string {
	at := place{w.Stack, w.Reason, trace.NoPoint}
	if w.Object != nil {
		at.object = s.r.BestPoint(w.Object)
	}
	name, ok := s.names[at]
	if !ok {
		if name = s.r.T.Reasons[w.Reason]; name == "" {
			name = Wait.String()
		}
		if of := s.r.NameAt(w.Stack, w.Reason, w.Object); of != "" && of != name {
			name += " " + of
		}
		s.names[at] = name
	}
	return name
}

// mark shows cycles of the collector.
func (s *shower) mark(e *trace.Event) {
	switch m := e.Mark(); {
	case m == spec.EvGCBegin && !s.gc:
		if s.gc = true; !s.collects {
			s.collects = true
			s.form.Lane(Lane{ID: ofCollector, Group: Collector, Name: "collector"})
		}
		s.form.Begin(ofCollector, e.Time, Cycle, "marks", 0)
	case m == spec.EvGCEnd && s.gc:
		s.gc = false
		s.form.End(ofCollector, e.Time)
	}
}

// Region shows regions of the program's in a lane of their own: they may begin in one procedure and
// end in another one.
func (s *shower) Region(g *replay.G, span replay.SpanID, begins bool, _, now trace.Time) {
	l := s.at(g.Slot)
	switch {
	case l == nil:
	case begins:
		if l.regions < 0 {
			l.regions = 0
			s.form.Lane(Lane{ID: ofRegions + l.id, Group: Regions, Name: l.title + ": regions", Number: int64(l.id)})
		}
		l.regions++
		s.form.Begin(ofRegions+l.id, now, Region, s.r.Spans.Span(span).Name, 0)
	case l.regions > 0:
		l.regions--
		s.form.End(ofRegions+l.id, now)
	}
}

// Named gives a goroutine's lane its new name.
func (s *shower) Named(g *replay.G) {
	if l := s.at(g.Slot); l != nil {
		l.name, l.entered = s.group(g.Slot).Func, true
		s.call(l, g.ID)
	}
}

// finish ends all slices at the end of the trace.
func (s *shower) finish(end trace.Time) {
	for _, l := range s.gs {
		if l == nil {
			continue
		}
		for l.depth > 0 {
			s.end(l, end)
		}
		for ; l.regions > 0; l.regions-- {
			s.form.End(ofRegions+l.id, end)
		}
	}
	for p, l := range s.procs {
		if l != nil {
			s.form.End(ofProcessor+ID(p), end)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.locks)) {
		s.locks[id].end(s.form, end)
	}
	if s.gc {
		s.form.End(ofCollector, end)
	}
}
