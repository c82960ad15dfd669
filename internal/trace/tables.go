package trace

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"qinst.dev/internal/names"
	"qinst.dev/sddf/spec"
)

// Tables are the tables of a recording about the program and the run: names, and totals of the
// whole run. Reading the events adds to Points the data that only events have.
type Tables struct {
	Attrs     []Attr                        // in the file's order
	Points    []Point                       // by PointID
	Functions []Function                    // by pc
	Callees   map[PointID]map[string]uint64 // by point and function, if only known at run time
	Texts     map[TextID]string
	Stacks    []Stack  // by StackID
	Paths     []Path   // by PathID
	Codes     []Code   // by CodeID
	Threads   []Thread // by dense number, then thread id
	Given     map[ThreadID][]Given
	Reasons   map[ReasonID]string
	Usage     Usage
	Memory    Memory
	Metrics   []Metric // in time order
	Flush     Flush
	Took      map[string]Took // by kind: what events took that timed themselves
	Throttled int64           // ns lost to the control group's quota
	Steal     int64           // ns that a host took from the machine's processors; -1: not known
	// ns in which some thread of the control group, or else of the machine, waited for a processor;
	// -1: not known
	Pressure int64
	Sources  map[string]OSSource
	Before   int64   // ns that threads had a processor before the trace began; [Tables.Usage] has them
	Watched  []Watch // when the system reported switches
	Limits   []Limit
	Levels   []LevelChange // in time order
	Periods  Periods
	End      End
	// Extensions are those that reduced the trace, in the order of the file.
	Extensions []Extension
	// Own are the records of the program's own kinds that are not among its events: those made by
	// extensions, by name.
	Own []OwnRecords
	// Dotted are the packages whose names need it: see [Tables.PackageOf].
	Dotted    names.Paths
	HasCounts bool
	Kept      bool  // only the last events of the run are there: earlier ones made room for them
	counted   bool  // and what was counted before these is known
	Ran       Time  // to the end record, or the last record; later than the end of the events after a limit
	Began     int64 // ns since 1970, 0 if unknown

	called map[PointID]Estimate // of each procedure that is counted where it is called, see sumCalls
}

// Source is an ordered, validated stream of events with its tables: a file, a part of one, or a
// trace that was computed from another.
type Source interface {
	Tables() *Tables
	// Wall is the time of the end of the traced time.
	Wall() Time
	// Events calls f with the events in order, in batches that are valid only during the call. It
	// returns the losses and repairs. It can be called again.
	Events(f func([]Event) error) (Losses, error)
}

// Attr returns a stream attribute's value, nil if there is none of that key.
func (t *Tables) Attr(key string) any {
	for _, a := range t.Attrs {
		if a.Key == key {
			return a.Value
		}
	}
	return nil
}

// Int returns a stream attribute that is a whole number, 0 if there is none.
func (t *Tables) Int(key string) int64 {
	switch v := t.Attr(key).(type) {
	case int64:
		return v
	case uint64:
		return int64(v)
	}
	return 0
}

// Function returns the goroutine start function of a pc, nil if it is unknown.
func (t *Tables) Function(pc uint64) *Function {
	i := sort.Search(len(t.Functions), func(i int) bool { return t.Functions[i].PC >= pc })
	if i < len(t.Functions) && t.Functions[i].PC == pc {
		return &t.Functions[i]
	}
	return nil
}

// Reason names the code of a wait.
func (t *Tables) Reason(code ReasonID) string {
	if s, ok := t.Reasons[code]; ok {
		return s
	}
	switch code {
	case SwitchReason:
		return "coroutine switch"
	case StoppedReason:
		return "preempted"
	}
	return fmt.Sprintf("reason %d", code)
}

// Costs are the costs of recording on the machine of the run, in ns, as the program measured them
// in otherwise empty loops; 0 if it did not.
type Costs struct {
	Clock  float64 // a reading of the clock
	Event  float64 // a traced event
	Count  float64 // a hit that is counted
	Atomic float64 // a locked instruction
}

// Costs returns them. The start of a process may be slow as a whole; if the clock was read faster
// later, all were measured at a slow time.
func (t *Tables) Costs() Costs {
	k, clock := 1.0, float64(t.Int("clock_cost_ps"))/1000
	if later := t.Took["clock"]; later.N > 0 && clock > 0 {
		k = min(1, later.Mean/clock)
	}
	ns := func(key string) float64 { return k * float64(t.Int(key)) / 1000 }
	return Costs{ns("clock_cost_ps"), ns("event_cost_ps"), ns("count_cost_ps"), ns("atomic_cost_ps")}
}

// Point is one probe point: a row of a "probes" record.
type Point struct {
	ID      uint64 // stable across builds: hash of (import path, function, kind, ordinal)
	Kind    string // spec.PointProc, PointCall, PointGo, PointLoop, PointSync, PointSite, PointFunc, PointRecord
	Package string // import path
	// as [names.Of] has it: the function for a proc, the callee for call and go ("": known at run
	// time only); a loop's head
	Name           string
	File           string
	Line           int
	End            int // of a loop: the line with its end; 0: not known
	Flags          uint32
	Owner          PointID // the procedure that contains the point; a proc: itself
	Representative PointID // the point whose hits are this one's, too; may be the point itself
	Loop           PointID // the innermost loop around it whose body stands twice, NoPoint if there is none
	Op             string  // of a sync point: spec.OpLock ...
	Totals                 // over the run
}

// Totals are the numbers of a point over the run.
type Totals struct {
	// times reached, over the whole run, as far as it was observed; see [Tables.Hits]; 0 if no
	// totals were written
	Hits   uint64
	Traced uint64 // times it wrote an event
	// Reduced of those were dropped by extensions, so there are no events of them.
	Reduced uint64
	// Off: the point was switched off for a part of the run, so Hits is only the known part.
	Off   bool
	Times *Times // nil if it was never timed
	// Plain is how many of a procedure's hits, or of a loop's iterations, ran without probes: they
	// were counted, and what they reached was not. Bursts, nil if there were none, tell what the
	// others reached.
	Plain  uint64
	Bursts *Bursts
}

// Times sums up the timed activations of a point, which have no events.
type Times struct {
	N           uint64   // that have ended
	Took        int64    // ns, with callees
	Least, Most int64    // ns
	Lengths     []Length // how many were how long, the shortest first
}

// Length is a number of activations that took at most so long.
type Length struct {
	Most int64 // ns
	N    uint64
}

// Timed is how often the point was timed.
func (p *Point) Timed() uint64 {
	if p.Times == nil {
		return 0
	}
	return p.Times.N
}

// Level is how much of a point is recorded; see package ratecontrol.
type Level uint8

// Levels of recording.
const (
	LevelOff Level = iota
	LevelCount
	LevelTime
	LevelTrace
	numLevels
)

func (l Level) String() string {
	if l >= numLevels {
		return "invalid"
	}
	return [numLevels]string{"off", "count", "time", "trace"}[l]
}

// Extension describes the work of an extension while the program ran, or on its file.
type Extension struct {
	Name    string
	Seen    uint64 // events that it was shown
	Dropped uint64 // of these it took out
	Emitted uint64 // records that it made
	Took    int64  // ns that it worked
	Failed  string // why it was not called to the end; ""
}

// LevelChange is a change of a point's level.
type LevelChange struct {
	Time     Time
	Point    PointID
	Old, New Level
	Rate     float64 // hits/s before it
	Reason   string
}

// Traceable reports whether hits of p can be events: procedures, loops, sync
// operations, records. The others are counted only.
func (p *Point) Traceable() bool {
	switch p.Kind {
	case spec.PointProc, spec.PointLoop, spec.PointRecord:
		return true
	}
	return p.Kind == spec.PointSync && p.Op != spec.OpDefault
}

// Spins reports whether p is a loop that only reads shared state until it changes.
// It is entered with its second iteration.
func (p *Point) Spins() bool { return p.Flags&spec.FlagSpin != 0 }

// Small reports whether p is a procedure that is only counted, because a pair of probes would take
// as long as it does. Its time is in the lines of its callers.
func (p *Point) Small() bool { return p.Flags&spec.FlagSmall != 0 }

// Summed reports whether p is a small procedure without a counter, whose hits are those of its
// calls.
func (p *Point) Summed() bool { return p.Flags&spec.FlagSummed != 0 }

// Degraded is how often the point was reached without an event: it was counted, or
// timed.
func (p *Point) Degraded() uint64 { return p.Hits - min(p.Traced, p.Hits) }

// Counts is how many hits of probes that count cost as much as counting the point did: a
// point that has no counter of its own costs nothing.
func (p *Point) Counts(index PointID) uint64 {
	switch {
	case p.Representative != index || p.Flags&(spec.FlagDerived|spec.FlagSummed) != 0:
		return 0
	case p.Kind == spec.PointSync && p.Flags&spec.FlagInLine != 0:
		return p.Hits - p.Degraded() + p.Degraded()/spec.InLineParts
	case p.Flags&(spec.FlagInLine|spec.FlagSmall) != 0:
		return p.Hits / spec.InLineParts
	}
	return p.Counting(p.Hits)
}

// Counting is how many hits of probes that count cost as much as so many of p's hits. Those that
// ran without probes are the first to be among them, and were counted in line, as iterations are.
func (p *Point) Counting(hits uint64) uint64 {
	if p.Kind == spec.PointLoop {
		return hits + p.Plain/spec.InLineParts
	}
	plain := min(p.Plain, hits)
	return hits - plain + plain/spec.InLineParts
}

// Function is a function in which goroutines start.
type Function struct {
	PC   uint64
	Name string // as [names.Of] has it
	File string
	Line int
}

// Stack is a stack that goroutines waited in.
type Stack []Frame // innermost first, as deep as it was recorded

// Frame is a call in a stack.
type Frame struct {
	Function string // as [names.Of] has it
	File     string
	Line     int
}

// Code is a line of the program's text at which a goroutine was, and the calls that led to it.
type Code struct {
	From     CodeID // the call, a smaller number; 0: a goroutine started here
	Function string // as [names.Of] has it; "": calls that are not known
	Line     int
}

// Path is a path of procedures and loops in which samples were taken.
type Path struct {
	From     PathID  // the path one step shorter, a smaller number; 0: where the goroutine started
	Point    PointID // procedure or loop that it leads into; NoPoint: not known
	Untraced bool    // there is no event of the entry
}

// PathName is a path in words: its points, outermost first.
func (t *Tables) PathName(number PathID) string {
	name := ""
	for i := number; i > 0 && int(i) < len(t.Paths); i = t.Paths[i].From {
		if p := t.Paths[i].Point; p >= 0 {
			name = t.Points[p].Name + strings.Repeat(" > ", min(len(name), 1)) + name
		}
	}
	return name
}

// Attr is a stream attribute.
type Attr struct {
	Key   string
	Value any
}

// Thread describes an operating-system thread of the program.
type Thread struct {
	ID     uint32 // dense number; reused when a thread exits
	TID    uint32 // the operating system's id
	Run    int64  // ns on a processor, at its last reading
	Wait   int64  // ns runnable but not on a processor
	Writer bool   // the thread that wrote the file, not the program's own
}

// Given is a reading of what the operating system has given a thread so far.
type Given struct {
	Time      Time
	Run, Wait int64 // ns on a processor, and runnable without one
}

// Share returns which part of the time that a thread wanted a processor it had one, as far as
// readings show: 1 if nothing is known. It holds until the time that it returns with it.
func (t *Tables) Share(id ThreadID, at Time) (share float64, until Time) {
	w, told := t.watchedAt(at)
	if told && at >= w.From { // the states of its goroutines tell
		return 1, w.Until
	}
	if until = math.MaxInt64; told {
		until = w.From
	}
	list := t.Given[id]
	k := sort.Search(len(list), func(i int) bool { return list[i].Time > at })
	switch {
	case len(list) < 2:
		return 1, until
	case k == 0:
		k = 1
	}
	if k < len(list) {
		until = min(until, list[k].Time)
	}
	k = min(k, len(list)-1)
	run, wait := list[k].Run-list[k-1].Run, list[k].Wait-list[k-1].Wait
	if run < 0 || wait < 0 || run+wait == 0 { // another thread has the number now, or it slept
		return 1, until
	}
	return float64(run) / float64(run+wait), until
}

// OwnRecords are the records of one kind.
type OwnRecords struct {
	Name string
	N    uint64
}

// Memory is the tool's use of memory in the program, in bytes, and how often memory was short.
type Memory struct {
	Known                                 bool
	Limit, Events, Counts, Stacks, Tables int64
	Pageless, Stackless                   uint64 // hits counted instead of traced: no page, or no stack
	Unlisted                              uint64 // times that rate control had no room for a point
	// times that a thread or goroutine found no ledger of its own: hits of calls may be off by one
	// each
	Unowned  uint64
	Ringless uint64 // ledgers, or parts of them, that a killed program would lose
}

// Usage is getrusage of the process at its last reading.
type Usage struct {
	Known        bool
	Time         Time
	User, System int64 // ns of processor time
	MaxRSS       int64 // bytes
	Collector    int64 // ns, of the garbage collector's mark workers and assists; -1: not known
	Looks        int64 // ns, of threads that told samplers where they are
	Ended        int64 // ns, of threads that have ended, as far as [Tables.Threads] does not have it
	Faults       int64 // waits for pages that had to be read
	Calls        int64 // system calls without events, which keep their processors: a rate of bytes was overdrawn
	Called       int64 // ns that these took; their goroutines seem to run meanwhile
}

// Metric is a reading of the runtime's heap metrics.
type Metric struct {
	Time   Time
	Heap   int64 // bytes that are live, or were allocated since
	Goal   int64 // bytes at which the collector's next cycle is to end
	Cycles int64 // of the collector that were complete
}

// Took is what events of one kind took that timed themselves, with a reading of the clock: how many
// did, the mean, and the standard deviation in ns.
type Took struct {
	N        uint64
	Mean, SD float64
}

// Flush sums the runs of the thread that wrote the file.
type Flush struct {
	Runs  int64
	Wall  int64 // ns
	CPU   int64 // ns
	Bytes int64
}

// Limit is a moment from which on points only counted.
type Limit struct {
	Time   Time
	Bytes  int64 // written so far
	Reason string
}

// End is how the program ended.
type End struct {
	Known  bool
	Reason string
	Status int // -1: nobody told it
}

func (e End) String() string {
	if e.Status < 0 {
		return e.Reason
	}
	return fmt.Sprintf("%s, status %d", e.Reason, e.Status)
}

// name is what a linker symbol is called.
func (t *Tables) name(symbol string) string {
	t.Dotted.Add(symbol)
	return names.Of(symbol)
}

// PackageOf is the import path of the package of a function's name, "" if it has none.
func (t *Tables) PackageOf(name string) string { return t.Dotted.PackageOf(name) }

// NameOf is the name of a point as tables show it: that of a loop has its procedure's before it.
func (t *Tables) NameOf(id PointID) string {
	p := &t.Points[id]
	if p.Kind == spec.PointLoop && p.Owner >= 0 && int(p.Owner) < len(t.Points) && p.Owner != id {
		return t.Points[p.Owner].Name + ": " + p.Name
	}
	return p.Name
}

// Cut reports whether a stack is not there down to where its goroutine started.
func (t *Tables) Cut(stack StackID) bool {
	if int(stack) >= len(t.Stacks) || len(t.Stacks[stack]) == 0 {
		return true
	}
	s := t.Stacks[stack]
	return s[len(s)-1].Function != "runtime.goexit"
}

// OfTimer reports whether a name is of something that package time or context has: all programs
// have the same names for it.
func (t *Tables) OfTimer(name string) bool {
	pkg := t.PackageOf(name)
	return pkg == "time" || pkg == "context"
}
