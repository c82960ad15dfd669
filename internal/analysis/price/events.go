package price

import (
	"math"

	"qinst.dev/internal/trace"
)

// Kind is a kind of work that the tool does in the program's time.
type Kind uint8

// Kinds.
const (
	Call     Kind = iota // an entry or exit of a procedure or loop
	Sync                 // an operation on an object
	Schedule             // a change of a goroutine's state
	Yield                // a yield after which the goroutine went on
	Other                // any other event
	NumKinds
)

func (k Kind) String() string {
	return [NumKinds]string{"call", "operation", "scheduling", "yield", "other"}[k]
}

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
	case trace.Yields: // an event of many
		return Yield, true
	case trace.Change, trace.Create:
		// these are the system's, which the writer reads
		return Schedule, e.From != trace.OffCPU && e.To != trace.OffCPU
	case trace.Sample, trace.Searched, trace.Woke, trace.Gap, trace.Procs:
		return Other, false
	case trace.Trips: // a word of the exit after it
		return Call, false
	}
	return Other, true
}

// Price is the cost of one event of a kind, in ns.
type Price struct {
	Each, SD float64
	From     string // where it was measured
}

// Where prices are from.
const (
	FromClock   = "clock readings at the start"
	FromItself  = "this program" // events that time themselves
	FromSamples = "samples of this run"
)

// Prices are those of a trace.
type Prices [NumKinds]Price

// readings is the cost of an event in a program, with the caches it uses, in readings of the clock.
// It was found by comparing fully traced programs with plain runs. Those of calls were 0.4 to 2.9,
// on two kinds of processors.
var readings = [NumKinds]float64{Call: 1.5, Sync: 1.8, Schedule: 2.5, Yield: 2, Other: 1.8}

// Spread is the standard deviation of these among programs, as a share.
const Spread = 0.35

// Events that time themselves wait for all instructions under way before they read the clock again;
// others do not. So an event costs a part of the measured time. That part, and its standard
// deviation among programs, is from comparisons with plain runs, too.
var itself = [NumKinds]float64{Call: 0.55, Sync: 0.8, Schedule: 0.53, Yield: 1, Other: 0.7}

const (
	itselfSpread = 0.3
	leastItself  = 30 // events
)

// Of returns a trace's prices. Events that timed themselves in the program are better evidence than
// readings of the clock at its start, and both together are better than either.
func Of(t *trace.Tables) (p Prices) {
	clock := t.Costs().Clock
	for k := range p {
		p[k] = Price{readings[k] * clock, Spread * readings[k] * clock, FromClock}
		if own := t.Took[Kind(k).String()]; own.N >= leastItself && clock > 0 {
			a, b := 1/(Spread*Spread), 1/(itselfSpread*itselfSpread) // of the logarithms, since both err by factors
			each := math.Exp((a*math.Log(p[k].Each) + b*math.Log(itself[k]*max(own.Mean, 0.1))) / (a + b))
			p[k] = Price{each, each / math.Sqrt(a+b), FromItself}
		}
		p[k].Each += extra(t)
	}
	return p
}

// extra is the time by which events were made longer, for an experiment, in ns. Events during the
// run measure it better than those at its start, because they were interrupted as often as the rest
// of the run. They read the clock once more for it.
func extra(t *trace.Tables) float64 {
	if own := t.Took["extra"]; own.N >= leastItself {
		return own.Mean + t.Costs().Clock
	}
	return float64(t.Int("extra_ps")) / 1000
}

// and combines two measurements with additive errors, weighted by their precision. Its source is
// that of the second.
func (p Price) and(q Price) Price {
	a, b := 1/(p.SD*p.SD), 1/(q.SD*q.SD)
	return Price{(a*p.Each + b*q.Each) / (a + b), 1 / math.Sqrt(a+b), q.From}
}
