package price

import (
	"qinst.dev/cmd/internal/trace"
)

// Kind is a kind of thing that the tool does in the program's time.
type Kind uint8

// Kinds.
const (
	Call     Kind = iota // an entry or exit of a procedure or loop
	Sync                 // an operation on an object
	Schedule             // a change of a goroutine's state
	Other                // any other event
	NumKinds
)

func (k Kind) String() string { return [NumKinds]string{"call", "operation", "scheduling", "other"}[k] }

// KindOf returns the kind of an event, false if the program did not pay for it.
func KindOf(e *trace.Event) (Kind, bool) {
	if e.Cause == trace.ByRepair {
		return Other, false
	}
	switch e.Kind {
	case trace.Enter, trace.Exit:
		return Call, true
	case trace.Sync:
		return Sync, true
	case trace.Change, trace.Create:
		return Schedule, e.From != trace.OffCPU && e.To != trace.OffCPU // these are the system's, which the writer reads
	case trace.Sample, trace.Searched, trace.Gap, trace.Procs:
		return Other, false
	}
	return Other, true
}

// Price is what one of a kind costs, in ns.
type Price struct {
	Each, SD float64
	From     string // where it was measured
}

// Prices are those of a trace.
type Prices [NumKinds]Price

// readings is what an event costs in a program, in readings of the clock, with the caches it uses: found by comparing programs where all is traced with
// plain runs. Those of calls were 1.75 to 2.9.
var readings = [NumKinds]float64{Call: 1.9, Sync: 2.3, Schedule: 2.8, Other: 2}

// Spread is the standard deviation of these among programs, as a share.
const Spread = 0.3

// Of returns a trace's prices.
func Of(t *trace.Tables) (p Prices) {
	clock := float64(t.Int("clock_cost_ps")) / 1000
	for k := range p {
		p[k] = Price{readings[k] * clock, Spread * readings[k] * clock, "clock readings at the start"}
	}
	return p
}
