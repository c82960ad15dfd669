package steps

import (
	"cmp"
	"maps"
	"slices"

	"qinst.dev/internal/analysis/price"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/names"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Program is what the goroutines of a run did.
type Program struct {
	R       *replay.Replay // names, contexts and sets
	Procs   int            // GOMAXPROCS, as it was for most of the run
	End     trace.Time     // of the traced time
	Last    int            // the goroutine with whose last step the run ends; -1: it ends when nothing is left to do
	Gs      []Goroutine
	Steps   List[Step] // of all goroutines, in the order of the run; the first one is none's
	parts   [][]Part   // of all steps' work
	slept   []sleep    // waits that timers ended, in order of their steps once it is asked for them
	sorted  bool
	setters map[trace.PointID]*trace.Point // calls that may set a timer, by procedure; nil: several
	Objects []Object
	Tokens  int // numbers of tokens are below it

	Told map[uint32][]int32 // goroutines that the giver of a token tells to end; see [Step.Until]
	Idle map[StepID]Idle    // waits for timers that something else may end first
	Held map[uint32]Tick    // behind which of them a token is given, of those for which others wait for a lock

	// FirstWrite is the first one of the tokens that goroutines give when they begin to write, in a system call, what another one waits for. Who takes such a
	// token goes on when the Wait of that step is over, too. All later tokens are of these.
	FirstWrite uint32

	// Crossings are of barriers, by conditions and channels that are closed.
	Crossings []Crossing

	// Requests are stretches of goroutines with a name, in the order of their ends.
	Requests []Request
	names    map[string]trace.PointID // the first operation of each name

	npt  []float64 // normalized processor time by context, ns
	work []int64   // processor time by context, ns
	paid []int64   // of that, for events, by [Options.Price]
	pays [][]int64 // the same of each part, as far as a list goes: lists are those of parts

	// Periods is by context what of its work lies in each of [trace.Tables.Periods], in ns; nothing if there are none, or without [Options.Price].
	Periods [][]float64

	Settled    bool  // whether operations tell who waits for whom has been tried
	Operations int   // on objects
	Clamped    int64 // pieces of work that were shorter than what their events cost, by [Options.Price]
	Off        int64 // ns in which running threads had no processor, all together
	WakeUp     int64 // ns that half of all wake-ups took at most
	HoldOff    int64 // ns for which a processor that looks for work leaves another one the goroutine that is next there
	shares     shares
	seen       price.Seen // of whole traces
	event      float64    // ns that the event of a call costs

	// Notes say what the trace does not tell, and what comes of that. The first ones, of which there are Doubts, are about the whole.
	Notes  []string
	Doubts int
}

// Goroutine is one of them.
type Goroutine struct {
	ID      trace.GoID
	First   StepID
	By      int        // who started it; -1: not known, it begins at Created
	Created trace.Time // as recorded
	Context replay.ContextID
	Done    ObjectID // the WaitGroup that its end is an operation on, 0: none
	Told    StepID   // the last step that it takes until somebody tells it to end; 0: nobody does
	System  bool
}

// Request is something that a goroutine did for somebody outside: a region of the program's, a task, what it did with labels, or a call of a handler.
type Request struct {
	Name       string
	Kind       string
	G          int           // that began it; another one may end a task
	Begin, End StepID        // steps without an effect, where it began and ended
	Proc       trace.PointID // that was called, of handlers and tests; else NoPoint
	Iterations uint64        // of a benchmark's own loop, as far as it was traced; 0: it has none
}

// Kinds of requests.
const (
	RequestRegion  = "region"
	RequestTask    = "task"
	RequestLabels  = "labels"
	RequestHandler = "handler" // the outermost procedure in a server's goroutine
	RequestTest    = "test"
)

// StepID is an index of [Program.Steps]. 0 is none.
type StepID uint32

// Step is work and what ends it: something that the goroutine does, or a wait.
type Step struct {
	At   trace.Time // when it was over, as recorded
	Work int64      // ns of a processor's time, before
	// Wait is a time in ns: of a Delay, and of a Ready as far as a processor was idle. The program waits that long on any machine.
	// Of a Join it is how many operations Done come before it, of Acquire and Release the amount, and of a Take of what another goroutine writes how long that takes from its call on.
	Wait  int64
	Arg   uint32 // Start: the goroutine; Give, Take: the token; Delay: a [Cause]
	Obj   ObjectID
	Next  StepID // of the same goroutine
	parts uint32 // first one, in Program.parts
	n     uint16 // how many
	// Slept is of a Ready how long the processor that the goroutine got had been idle when it could run, in us and one more. 0: it was in use.
	Slept uint16
	Point trace.PointID // of the operation, or the innermost procedure of a wait; of a Ready see [Step.After]
	Until uint32        // a token: in the computed run the goroutine goes behind [Goroutine.Told] as soon as somebody has given it; 0: none
	Kind  Kind
	Op    Op
	Proc  int16 // processor that the goroutine got at the end of a Ready, or had while it worked; -1: not known
}

// Reads reports whether a step waits for what another goroutine writes; see [Program.FirstWrite].
func (p *Program) Reads(s *Step) bool {
	return s.Kind == Take && p.FirstWrite > 0 && s.Arg >= p.FirstWrite
}

// After is the goroutine that had the processor, when this one became ready, in whose queue it waited in a Ready, although another processor was
// idle. -1: none.
func (s *Step) After() int {
	if s.Kind != Ready {
		return -1
	}
	return int(s.Point) - 1
}

// Kind is what ends a step.
type Kind uint8

// Kinds.
const (
	End     Kind = iota // the goroutine
	Start               // it starts another one
	Give                // it ends a wait
	Take                // it waits until somebody ends that
	Delay               // it waits for something that no goroutine does
	Ready               // it waits for a processor
	Operate             // an operation that neither waited nor ended a wait
	Cut                 // the trace ends
)

// Cause is why a goroutine is delayed.
type Cause uint32

// Causes.
const (
	Timer Cause = iota
	Network
	Call    // a system call, without a processor
	Unknown // the runtime does not tell
	WakeUp  // it could run, and a processor was idle
	Off     // the operating system had taken its processor
	NumCauses
)

func (c Cause) String() string {
	return [NumCauses]string{"timer", "network or pipe", "system call", "unknown", "wake-up", "off-cpu"}[c]
}

// Op is an operation on an object.
type Op uint8

// Operations. Those that Take, or follow a Take on their object, began with that wait.
const (
	NoOp Op = iota
	Lock
	Unlock
	RLock
	RUnlock
	Send
	Receive
	Close
	Add
	Done
	Join // WaitGroup.Wait
	Acquire
	Release
	NumOps
)

func (o Op) String() string {
	return [NumOps]string{"", "lock", "unlock", "rlock", "runlock", "send", "receive", "close", "add", "done", "wait", "acquire", "release"}[o]
}

// ObjectID is an index of [Program.Objects]. 0 is none.
type ObjectID uint32

// Object is what goroutines synchronize by.
type Object struct {
	Address trace.Address
	Name    trace.PointID   // the operation whose name it has, NoPoint if none was seen
	Also    []trace.PointID // others, if it has several names, and this one
	Free    bool            // operations decide who waits; else tokens
	Ticks   bool            // a [time.Ticker]'s channel: its values come when they came, whatever was done with the one before
	Cap     int             // of a channel or semaphore, -1: unlimited as far as is known

	ops    [NumOps]int64
	unfit  bool     // operations were not seen
	missed int64    // so many: a few of those of a lock
	handed bool     // of a mutex: goroutines gave it back that had not taken it
	told   bool     // its capacity is that of an event
	silent bool     // a wait for it ended without one
	goes   bool     // a WaitGroup whose goroutines its method Go starts
	joins  []StepID // that no later Done followed
	queue  int      // longest that was seen
	full   bool     // a sender waited
}

// Names are the operations with its names: none if no operation was seen.
func (o *Object) Names() []trace.PointID {
	if o.Name == trace.NoPoint || len(o.Also) > 0 {
		return o.Also
	}
	return []trace.PointID{o.Name}
}

// Shared reports whether it is a lock that several goroutines may read by.
func (o *Object) Shared() bool { return o.ops[RLock] > 0 }

// Part is a part of a step's work, in one context.
type Part struct {
	Ns      int64
	Context replay.ContextID
	Enters  int32 // activations of the context's procedure that began there, and were traced
}

// Step is one of them.
func (p *Program) Step(id StepID) *Step { return p.Steps.At(int(id)) }

// Delays reports whether a step is a wait for a cause outside of the program.
func (s *Step) Delays(c Cause) bool { return s.Kind == Delay && Cause(s.Arg) == c }

// Awaits reports whether there are such waits.
func (p *Program) Awaits(c Cause) bool {
	for id := range StepID(p.Steps.Len()) {
		if p.Step(id).Delays(c) {
			return true
		}
	}
	return false
}

// PartsOf returns the parts of a step's work.
func (p *Program) PartsOf(id StepID) []Part {
	s := p.Step(id)
	if s.n == 0 {
		return nil
	}
	at := s.parts & (1<<partsShift - 1)
	return p.parts[s.parts>>partsShift][at : at+uint32(s.n)]
}

// NamedBy returns the first operation of the same name: several ones on an object, and several objects, have one.
func (p *Program) NamedBy(op trace.PointID) trace.PointID {
	if p.names == nil {
		p.names = map[string]trace.PointID{}
	}
	name := p.R.T.Points[op].Name
	first, ok := p.names[name]
	if !ok {
		p.names[name] = op
		return op
	}
	return first
}

// NPT is the normalized processor time of the run as it was in a context, in ns (Quartz, equation 1).
func (p *Program) NPT(c replay.ContextID) float64 {
	if int(c) >= len(p.npt) {
		return 0
	}
	return p.npt[c]
}

// partsShift is that of the pieces that parts are kept in. Those of one step are in one piece.
const partsShift = 12

// keep puts parts among the others.
func (p *Program) keep(s *Step, parts []Part, pays []int64) {
	if s.n = uint16(min(len(parts), 1<<partsShift)); s.n == 0 {
		return
	}
	last := len(p.parts) - 1
	if last < 0 || len(p.parts[last])+int(s.n) > 1<<partsShift {
		p.parts = append(p.parts, make([]Part, 0, 1<<partsShift))
		last++
	}
	s.parts = uint32(last)<<partsShift | uint32(len(p.parts[last]))
	p.parts[last] = append(p.parts[last], parts[:s.n]...)
	p.keepPaid(s, pays)
	for _, more := range parts[s.n:] { // a goroutine was in thousands of contexts between two steps
		p.parts[last][len(p.parts[last])-1].Ns += more.Ns
	}
}

// RequestNamed is the name of the requests that a text means.
func (p *Program) RequestNamed(text string) (string, error) {
	list := map[string]bool{}
	for i := range p.Requests {
		list[p.Requests[i].Name] = true
	}
	return names.Find(text, "request", slices.Sorted(maps.Keys(list)))
}

// Untold returns how many calls of a procedure there were for each one that was traced, 1 or more: where they are many most are only counted.
func (p *Program) Untold(proc trace.PointID) float64 {
	if proc == trace.NoPoint {
		return 1
	}
	pt := &p.R.T.Points[proc]
	return max(1, float64(pt.Hits)/float64(max(pt.Traced, 1)))
}

// Partly reports whether there are locks of which not all operations were seen.
func (p *Program) Partly() bool {
	return slices.ContainsFunc(p.Objects, func(o Object) bool {
		return !o.Free && o.ops[Lock]+o.ops[Unlock]+o.ops[RLock]+o.ops[RUnlock] > 0
	})
}

// sleep is a wait that a timer ended.
type sleep struct {
	step  StepID
	stack trace.StackID
}

// SleptAt is the place of a delay that a timer ended: in the user's own code, if its stack is known and has some, or else the procedure that
// waited, or set the timer, without a line unless one call alone can have set it. It is empty if neither is known.
func (p *Program) SleptAt(step StepID) trace.Frame {
	if !p.sorted {
		slices.SortFunc(p.slept, func(a, b sleep) int { return cmp.Compare(a.step, b.step) })
		p.sorted = true
	}
	i, waited := slices.BinarySearchFunc(p.slept, step, func(s sleep, id StepID) int { return cmp.Compare(s.step, id) })
	if waited {
		if f := p.R.Names.Own(p.slept[i].stack); f.Function != "" {
			return f
		}
	}
	proc := p.Step(step).Point
	if proc < 0 || int(proc) >= len(p.R.T.Points) {
		return trace.Frame{}
	}
	at := trace.Frame{Function: p.R.T.Points[proc].Name}
	if call := p.setter(proc); !waited && call != nil {
		at.File, at.Line = call.File, call.Line
	}
	return at
}

// setsTimers are the functions that set a timer that starts a goroutine. Their stacks are not recorded.
var setsTimers = map[string]bool{"time.AfterFunc": true, "time.(*Timer).Reset": true, "context.WithTimeout": true, "context.WithTimeoutCause": true, "context.WithDeadline": true, "context.WithDeadlineCause": true}

// setter is the only call in a procedure that may have set a timer; nil: there is none, or several.
func (p *Program) setter(proc trace.PointID) *trace.Point {
	if p.setters == nil {
		p.setters = map[trace.PointID]*trace.Point{}
		for i := range p.R.T.Points {
			pt := &p.R.T.Points[i]
			if pt.Kind != spec.PointCall || !setsTimers[pt.Name] {
				continue
			}
			if _, several := p.setters[pt.Owner]; several {
				pt = nil
			}
			p.setters[p.R.T.Points[i].Owner] = pt
		}
	}
	return p.setters[proc]
}
