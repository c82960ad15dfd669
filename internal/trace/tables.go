package trace

import (
	"fmt"
)

// Tables are everything in a trace besides its events.
type Tables struct {
	Program
	System
	Recording

	Attrs   []Attr // in the file's order
	Reasons map[ReasonID]string
	Metrics []Metric // in time order
	Limits  []Limit
	Periods Periods
	End     End
	Ran     Time  // to the end record, or the last record; later than the end of the events after a limit
	Began   int64 // ns since 1970, 0 if unknown
	// Extensions are those that reduced the trace, in the order of the file.
	Extensions []Extension
	// Own are the records of the program's own kinds that are not among its events: those made by
	// extensions, by name.
	Own      []OwnRecords
	Progress *Progress // nil: nobody looks at it
}

// Recording is how the trace was written: what it has, and what that took.
type Recording struct {
	Flush     Flush
	Took      map[string]Took // by kind: what events took that timed themselves
	Memory    Memory
	Levels    []LevelChange // in time order
	HasCounts bool
	Kept      bool // only the last events of the run are there: earlier ones made room for them
	counted   bool // and what was counted before these is known
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

// Attr is a stream attribute.
type Attr struct {
	Key   string
	Value any
}

// OwnRecords are the records of one kind.
type OwnRecords struct {
	Name string
	N    uint64
}

// Metric is a reading of the runtime's heap metrics.
type Metric struct {
	Time   Time
	Heap   int64 // bytes that are live, or were allocated since
	Goal   int64 // bytes at which the collector's next cycle is to end
	Cycles int64 // of the collector that were complete
	// Objects were allocated since the start of the process, exactly in the last reading of a
	// program that has ended; 0: not known.
	Objects int64
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
