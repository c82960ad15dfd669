package replay

import "qinst.dev/internal/trace"

// Counts are how many events a replay has seen so far, and of which kinds. No event is of more than
// one kind, and some are of none.
type Counts struct {
	Events     int64 // all of them
	Entries    int64 // enters and exits
	Operations int64 // on synchronization objects
	Changes    int64 // of states; an event that stands for several changes counts as these
	Switches   int64 // of threads, as the system reported
}

// count adds an event.
func (c *Counts) count(e *trace.Event) {
	c.Events++
	switch e.Kind {
	case trace.Enter, trace.Exit:
		c.Entries++
	case trace.Sync:
		c.Operations++
	case trace.Yields:
		c.Changes += 2 * int64(e.Yields())
	case trace.Change:
		if e.From == trace.OffCPU || e.To == trace.OffCPU {
			c.Switches++
		} else {
			c.Changes++
		}
	}
}
