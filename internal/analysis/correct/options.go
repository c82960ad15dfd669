package correct

import (
	"errors"
	"io"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/trace"
)

// Options are what a correction depends on.
type Options struct {
	// Density is another trace of the same program, in which more or less was traced: the prices of
	// events are such that both would have taken the same time without them. nil: prices are the
	// trace's own.
	Density trace.Source
	// Model is how long hand-overs take: from when a goroutine could run to when it does, while a
	// processor is idle. Empty: Fit.
	Model Model
	// Receive is the order in which receivers get values from channels with several senders or
	// receivers. Empty: FIFO.
	Receive Receive
	// Exit is the order in which goroutines leave barriers of conditions and of channels that are
	// closed; empty: that of the recorded run.
	Exit sim.Exit
	// Out gets the trace with corrected times; nil: it is not written.
	Out io.Writer
}

// Model is a model of hand-overs.
type Model string

// Models.
const (
	Optimistic  Model = "optimistic"  // they take no time
	Fit         Model = "fit"         // each takes what is usual for as long as its processor has been idle
	Pessimistic Model = "pessimistic" // each takes what it took
)

// Models are all of them.
var Models = []Model{Optimistic, Fit, Pessimistic}

// Receive is the order at a channel (Sarukkai and Malony 1993, section 4.2).
type Receive string

// Orders.
const (
	FIFO     Receive = "fifo"     // Go's: the goroutine that waits longest
	Preserve Receive = "preserve" // that of the recorded run
	LIFO     Receive = "lifo"     // the goroutine that came last
)

// Receives are all of them.
var Receives = []Receive{FIFO, Preserve, LIFO}

// ErrCorrected is that a trace's times are corrected already.
var ErrCorrected = errors.New("its times are corrected already: found a corrected trace, expected that of a run")
