package steps

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// Watcher is shown what goroutines do, and in which steps. A trace that is read again has the same
// steps, but the last ones may not be complete.
type Watcher interface {
	// Reads is called first, with the program as far as it is read.
	Reads(p *Program)
	// Worked is called for work of the n-th goroutine after its last step, with the ns in it that
	// were for events.
	Worked(n G, at replay.ContextID, from, to trace.Time, paid int64)
	// Event is called after each event, with its goroutine, and the one that made or woke it.
	Event(e *trace.Event, g, by Place)
}

// Place is where a goroutine is.
type Place struct {
	N    G      // NoG: there is none
	Last StepID // that it has done
}
