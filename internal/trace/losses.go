package trace

import (
	"fmt"
	"reflect"
)

// Losses counts missing data, and the repairs needed to read a trace. The zero value is a perfect
// trace.
type Losses struct {
	TailBytes    int64 `json:"tail_bytes"`    // bytes of the file that no whole packet could be read from
	OtherStreams int64 `json:"other_streams"` // bytes of the file that belong to other, concatenated streams
	Incomplete   int64 `json:"incomplete"`    // 1 if the file has no "end" record
	Records      int64 `json:"records"`       // records that made no sense
	Blocks       int64 `json:"blocks"`        // event blocks missing from a thread's numbering
	BlockDamage  int64 `json:"block_damage"`  // buffers whose rest could not be decoded
	Events       int64 `json:"events"`        // events that the program reported lost (gap and end records)
	Missing      int64 `json:"missing"`       // enter events that counts promise and the file does not have
	Early        int64 `json:"early"`         // hits of points before their package was registered
	Overflow     int64 `json:"overflow"`      // entries deeper than the program's profile stack
	Unnamed      int64 `json:"unnamed"`       // names, labels, stacks and callees that the program had no room for
	BackwardTime int64 `json:"backward_time"` // events earlier than their predecessor on the same thread
	NoGoroutine  int64 `json:"no_goroutine"`  // events about the running goroutine when none was known
	UnknownPoint int64 `json:"unknown_point"` // enter or exit of a point that no table has
	States       int64 `json:"states"`        // scheduling events that did not fit the state before
	Context      int64 `json:"context"`       // blocks that begin in another goroutine than the one before ended in
	Exits        int64 `json:"exits"`         // procedures left because an outer one was
	StrayExits   int64 `json:"stray_exits"`   // exits without an enter
	// stops of goroutines that have the reason and the object of the goroutine's wait before
	Reasons int64 `json:"wait_reasons"`
	NoClock int64 `json:"no_clock"` // 1 if ticks could not be converted and are shown as ns
}

// Loss is one line of a report about losses.
type Loss struct {
	Count int64
	What  string
}

// List returns the losses that are not zero, in a fixed order, in words.
func (l *Losses) List() []Loss {
	all := []Loss{
		{l.TailBytes, "bytes of the file are damaged or incomplete"},
		{l.OtherStreams, "bytes of the file belong to further streams, which are not read (qinst convert -stream=2 -o second.sddf)"},
		{l.Incomplete, "file without an end record: the program did not end normally, or still runs"},
		{l.Records, "records made no sense and were ignored"},
		{l.Blocks, "blocks of events are missing"},
		{l.BlockDamage, "blocks of events are damaged"},
		{l.Events, "events were lost while the program ran"},
		{l.Missing, "procedure entries were traced but are not in the file"},
		{l.Early, "hits of points came before their package was registered"},
		{l.Overflow, "entries were deeper than the profile stack"},
		{l.Unnamed, "names, labels, stacks or callees found no room in the program"},
		{l.BackwardTime, "events went back in time"},
		{l.NoGoroutine, "events belong to no known goroutine"},
		{l.UnknownPoint, "events name an unknown point"},
		{l.States, "goroutine states were repaired"},
		{l.Context, "blocks begin in an unexpected goroutine"},
		{l.Exits, "missing procedure exits were repaired"},
		{l.StrayExits, "procedure exits without an entry were ignored"},
		{l.Reasons, "times that the collector stopped a goroutine are in the file as waits for what it had waited for before (it was written by an older program); they are read as stops"},
		{l.NoClock, "no clock calibration: times are in ticks, not ns"},
	}
	var out []Loss
	for _, x := range all {
		if x.Count != 0 {
			out = append(out, x)
		}
	}
	return out
}

// Add adds the losses of another trace.
func (l *Losses) Add(m *Losses) {
	to, more := reflect.ValueOf(l).Elem(), reflect.ValueOf(m).Elem()
	for i := range to.NumField() { // all fields are numbers
		to.Field(i).SetInt(to.Field(i).Int() + more.Field(i).Int())
	}
}

// Any reports whether anything was lost or repaired.
func (l *Losses) Any() bool { return *l != Losses{} }

func (l Loss) String() string { return fmt.Sprintf("%d %s", l.Count, l.What) }
