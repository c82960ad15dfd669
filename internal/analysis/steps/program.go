package steps

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/names"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Program are the steps of the goroutines of a run.
type Program struct {
	R       *replay.Replay // names, contexts and sets
	Procs   int            // GOMAXPROCS, as it was for most of the run
	End     trace.Time     // of the traced time
	Last    G              // the goroutine with whose last step the run ends; NoG: it ends when nothing is left to do
	Gs      []Goroutine
	Steps   List[Step] // of all goroutines, in the order of the run; the first one is none's
	Objects []Object
	Tokens  Token // numbers of tokens are below it

	// Requests are stretches of goroutines with a name, in the order of their ends.
	Requests []Request

	Waits
	Counts
	work
	samples
	places
	Remarks
}

// Waits are those that may end by another event in a computed run than in the recorded one.
type Waits struct {
	Told map[Token][]G   // goroutines that the giver of a token stops; see [Step.Until]
	Idle map[StepID]Idle // waits for timers that something else may end first
	Held map[Token]Tick  // after which of them a token is given, of those for which others wait for a lock

	// FirstWrite is the first one of the tokens that goroutines give when they begin to write, in a
	// system call, to another one. A goroutine that takes such a token goes on when [Step.Transit]
	// is over, too. All later tokens are of these.
	FirstWrite Token

	// Pauses are, by procedure, how long after something has come a goroutine notices that asks for
	// it between sleeps, on average, in ns.
	Pauses map[trace.PointID]int64

	// Crossings are of barriers, by conditions and channels that are closed.
	Crossings []Crossing
}

// Crossing is the end of several waits by one goroutine that waits for all of these to have begun.
type Crossing struct {
	At    StepID   // where it does
	Takes []StepID // the waits
	Gives []StepID // their ends
}

// Idle is of a wait for a timer what ends it if it comes first.
type Idle struct {
	// the goroutine's next wait in the same select that was not for a timer, or operation on a
	// channel of it; 0: the end of the program
	Next StepID
	Ends bool // the goroutine does nothing in that select after it: what it would do with the timer is left out
}

// Tick is such a wait.
type Tick struct {
	G    G
	Step StepID
}

// Reads reports whether a step waits for data from another goroutine.
func (w *Waits) Reads(s *Step) bool {
	return s.Kind == Take && w.FirstWrite > 0 && s.Token() >= w.FirstWrite
}

// Notices is how long after something has come a goroutine notices that, in ns.
func (p *Program) Notices(s *Step) int64 {
	at := s.Point()
	if len(p.Pauses) == 0 || at == trace.NoPoint || p.R.T.Points[at].Flags&spec.FlagAsks == 0 {
		return 0
	}
	return p.Pauses[p.R.T.Points[at].Owner]
}

// Counts are numbers of the whole run.
type Counts struct {
	Settled    bool  // whether operations determine the waits has been tried
	Operations int   // on objects
	Unended    int   // requests, which are not among [Program.Requests]
	Clamped    int64 // pieces of work that were shorter than the cost of their events, by [Options.Price]
	OffCPU     int64 // ns in which running threads had no processor, all together
	WakeUp     int64 // ns that half of all wake-ups took at most
	Wakes      Wakes // what it takes to wake threads; nil: not known
	// ns for which a processor that looks for work leaves another one the goroutine that is next
	HoldOff int64
	Memory  map[Took]int64 // bytes, from samples
}

// Took is where goroutines took memory of the heap.
type Took struct {
	Context replay.ContextID
	Stack   trace.StackID
}

// places are where operations and waits stand in the source.
type places struct {
	// waits for the outside, or for goroutines that timers started, in order of their steps when
	// the program is whole
	waits   []wait
	setters map[trace.PointID]*trace.Point // calls that may set a timer, by procedure; nil: several
	named   map[string]trace.PointID       // the first operation of each name
}

// wait is one for the outside, or for a goroutine that a timer started.
type wait struct {
	step  StepID
	stack trace.StackID
	again bool // not the first one of a system call
}

// Remarks are about information that a trace lacks, and the consequences.
type Remarks struct {
	Warnings []string // about the whole
	Notes    []string
}

// Warn adds a warning.
func (r *Remarks) Warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// Note adds a note.
func (r *Remarks) Note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Said is a copy of them, to add more to.
func (r *Remarks) Said() Remarks {
	return Remarks{append([]string{}, r.Warnings...), append([]string{}, r.Notes...)}
}

// All are the warnings and the notes.
func (r *Remarks) All() []string { return append(slices.Clip(r.Warnings), r.Notes...) }

// MarshalJSON makes one list of them.
func (r Remarks) MarshalJSON() ([]byte, error) { return json.Marshal(r.All()) }

// Goroutine is one of them.
type Goroutine struct {
	ID      trace.GoID
	First   StepID
	By      G          // its creator; NoG: not known, it begins at Created
	Created trace.Time // as recorded
	Context replay.ContextID
	Done    ObjectID // the WaitGroup that its end is an operation on, 0: none
	Told    StepID   // the last step that it takes until another one stops it; 0: none does
	System  bool
}

// Request is a stretch of a goroutine's work with a name: a region of the program's, a task, work
// with labels, or a call of a handler.
type Request struct {
	Name       string
	Kind       string
	G          G             // that began it; another one may end a task
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

// Step is one of them.
func (p *Program) Step(id StepID) *Step { return p.Steps.At(int(id)) }

// Awaits reports whether there are waits for a cause outside of the program.
func (p *Program) Awaits(c Cause) bool {
	for id := range StepID(p.Steps.Len()) {
		if p.Step(id).Waits(c) {
			return true
		}
	}
	return false
}

// PartsOf returns the parts of a step's work.
func (p *Program) PartsOf(id StepID) []Part { return p.partsOf(p.Step(id)) }

// PaidOf is the time for events in a step's i-th part, in ns.
func (p *Program) PaidOf(id StepID, i int) int64 { return p.paidOf(p.Step(id), i) }

func (p *Program) isProc(at trace.PointID) bool { return p.isKind(at, spec.PointProc) }
func (p *Program) isLoop(at trace.PointID) bool { return p.isKind(at, spec.PointLoop) }

func (p *Program) isKind(at trace.PointID, kind string) bool {
	return at >= 0 && int(at) < len(p.R.T.Points) && p.R.T.Points[at].Kind == kind
}

// RequestNamed is the name of the requests that a text means.
func (p *Program) RequestNamed(text string) (string, error) {
	list := map[string]bool{}
	for i := range p.Requests {
		list[p.Requests[i].Name] = true
	}
	return names.Find(text, "request", slices.Sorted(maps.Keys(list)))
}

// Untold returns how many calls of a procedure there were for each one that was traced, 1 or more:
// where they are many most are only counted.
func (p *Program) Untold(proc trace.PointID) float64 {
	if proc == trace.NoPoint {
		return 1
	}
	pt := &p.R.T.Points[proc]
	return max(1, float64(pt.Hits)/float64(max(pt.Traced, 1)))
}
