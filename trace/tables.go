package trace

import (
	"strings"

	"qinst.dev/sddf/spec"
)

// Point is one probe point: a row of a "probes" record.
type Point struct {
	ID      uint64 // stable across builds: hash of (import path, function, kind, ordinal)
	Kind    string // spec.PointProc, PointCall, PointGo, PointLoop, PointSync
	Package string // import path
	Name    string // linker symbol: the function for a proc, the callee for call and go ("": known at run time only); a loop's head
	File    string
	Line    int
	Flags   uint32
	Owner   int32  // index of the procedure that contains the point; a proc: itself
	Leader  int32  // index of the point whose hits are this one's, too; else its own
	Op      string // of a sync point: spec.OpLock ...

	Hits   uint64 // times reached, over the whole run; 0 if no totals were written
	Traced uint64 // times it wrote an event
	// Reduced of those were taken out by extensions: no event tells of them.
	Reduced uint64
	// Off: it was not to be reached for a part of the run, so that Hits are only those
	// that are known.
	Off   bool
	Times *Times // nil if it was never timed
}

// Times sums up the activations of a point that were timed: no event tells of them.
type Times struct {
	N           uint64   // that have ended
	Took        int64    // ns, with what they called
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

// Extension is what an extension did while the program ran, or to its file.
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
	Time     int64 // ns since the trace began
	Point    int32
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

// Degraded is how often the point was reached without an event: it was counted, or
// timed.
func (p *Point) Degraded() uint64 { return p.Hits - min(p.Traced, p.Hits) }

// Counts is how many hits of probes that count cost as much as counting the point did: a
// point that has no counter of its own costs nothing.
func (p *Point) Counts(index int32) uint64 {
	switch {
	case p.Leader != index || p.Flags&spec.FlagDerived != 0:
		return 0
	case p.Flags&spec.FlagTallied != 0:
		return p.Hits / spec.TallyParts
	}
	return p.Hits
}

// Function is a function in which goroutines start.
type Function struct {
	PC   uint64
	Name string // linker symbol
	File string
	Line int
}

// Stack is a stack that goroutines waited in.
type Stack []Frame // innermost first, as deep as it was recorded

// Frame is a call in a stack.
type Frame struct {
	Function string // linker symbol
	File     string
	Line     int
}

// Path is a path of procedures and loops in which samples were taken.
type Path struct {
	From     int32 // path that leads there: a smaller number; 0: where the goroutine started
	Point    int32 // procedure or loop that it leads into; -1: not known
	Untraced bool  // no event told of the entry
}

// PathName is a path in words: its points, outermost first.
func (t *Trace) PathName(number uint32) string {
	name := ""
	for i := int(number); i > 0 && i < len(t.Paths); i = int(t.Paths[i].From) {
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

// Thread is what is known of an operating-system thread of the program.
type Thread struct {
	ID     uint32 // dense number; reused when a thread exits
	TID    uint32 // the operating system's id
	Run    int64  // ns on a processor, at its last reading
	Wait   int64  // ns runnable but not on a processor
	Writer bool   // the thread that wrote the file, not the program's own
}

// OwnRecords are the records of one kind.
type OwnRecords struct {
	Name string
	N    uint64
}

// Memory is what the tool used in the program, in bytes, and how often it found no room.
type Memory struct {
	Known                                 bool
	Limit, Events, Counts, Stacks, Tables int64
	Pageless, Stackless                   uint64 // hits that were counted and not traced: no cell of the thread's own, no stack
	Unlisted                              uint64 // times that rate control had no room for a point
}

// Usage is getrusage of the process at its last reading.
type Usage struct {
	Known        bool
	Time         int64 // ns since the trace began
	User, System int64 // ns of processor time
	MaxRSS       int64 // bytes
}

// Metric is what the runtime said of its heap at a time.
type Metric struct {
	Time   int64 // ns since the trace began
	Heap   int64 // bytes that are live, or were allocated since
	Goal   int64 // bytes at which the collector's next cycle is to end
	Cycles int64 // of the collector that were complete
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
	Time   int64 // ns since the trace began
	Bytes  int64 // written so far
	Reason string
}

// End is how the program ended.
type End struct {
	Known  bool
	Reason string
	Status int
}
