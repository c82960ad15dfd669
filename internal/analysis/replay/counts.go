package replay

import "qinst.dev/internal/trace"

// Counts are how many events a replay has seen so far, and of which kinds. No event is of more than
// one kind, and some are of none. All of them are counted where [Replay.event] has found the kind:
// to look at it twice would make a replay slower by 4%.
type Counts struct {
	Events     int64 // all of them
	Entries    int64 // enters and exits
	Operations int64 // on synchronization objects
	Changes    int64 // of states
	Yields     int64 // after which goroutines went on, of which an event has many
	Switches   int64 // of threads, as the system reported
}

// changed counts a Change.
func (c *Counts) changed(e *trace.Event) {
	if e.From == trace.OffCPU || e.To == trace.OffCPU {
		c.Switches++
	} else {
		c.Changes++
	}
}
