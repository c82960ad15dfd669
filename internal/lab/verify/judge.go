package verify

import (
	"fmt"
	"math"

	"qinst.dev/internal/stats"
)

// Verdict is the state of a bound.
type Verdict string

// Verdicts.
const (
	Holds     Verdict = "holds"
	Exceeds   Verdict = "exceeds"
	Undecided Verdict = "not decided"
)

// Statuses of the command, which are those of qinst check.
const (
	AllHold = 0
	Broken  = 1 // a bound is exceeded
	Open    = 2 // one is not decided
	Busy    = 3 // one is not decided because of other load
)

// Units of errors.
const (
	percent = "%"
	points  = "points" // hundredths of the run, or of the processor time
	hits    = "hits"
)

// Row is a figure next to the truth.
type Row struct {
	ID    string `json:"id"`
	What  string `json:"what"`  // the figure
	Truth string `json:"truth"` // where the truth comes from
	// Of is the unit of Found and Expected, which are medians: ns, % or hits
	Of       string  `json:"of"`
	Found    float64 `json:"found"`
	Expected float64 `json:"expected"`
	// Off is the error with its 95 % interval, in Unit: %, points or hits; nil: qinst does not know
	// the figure in each run
	Off  *float64 `json:"off"`
	Low  *float64 `json:"off_lo"`
	High *float64 `json:"off_hi"`
	Unit string   `json:"unit"`
	// Least and Most are the bound of the error. Least is nil if it may be any amount below zero.
	Least *float64 `json:"least"`
	Most  float64  `json:"most"`
	// Equal is how far equal programs may differ, in Unit, if that is a part of the error
	Equal   float64 `json:"equal_programs"`
	Verdict Verdict `json:"verdict"`
	Busy    bool    `json:"busy"`          // it is not decided because of other load
	Why     string  `json:"why,omitempty"` // the verdict is another one than holds
}

// off sets the error.
func (r *Row) off(i stats.Interval, ok bool) {
	if !ok {
		return
	}
	for to, x := range map[**float64]float64{&r.Off: i.Mean, &r.Low: i.Low, &r.High: i.High} {
		x = hundredths(x)
		*to = &x
	}
}

// judge decides whether an error is within its bound: its whole interval has to be on one side. On
// a busy machine no error is certain, because the truth is measured there, too.
func (r *Row) judge(m *Machine) {
	least := math.Inf(-1)
	if r.Least != nil {
		least = *r.Least
	}
	r.Verdict = Undecided
	switch {
	case r.Off == nil:
		r.Why = "qinst does not know it in each run, or there are too few pairs of runs for an interval"
	case *r.Low >= least && *r.High <= r.Most:
		r.Verdict = Holds
	case r.Unit != hits && m.busy(r) != "":
		r.Busy, r.Why = true, "the machine is too busy: "+m.busy(r)
	case *r.Low > r.Most || *r.High < least:
		r.Verdict = Exceeds
		r.Why = fmt.Sprintf("it is off by %s (%s to %s), expected %s", r.signed(r.Off), r.signed(r.Low), r.signed(r.High),
			r.bound())
	default:
		r.Why = fmt.Sprintf("the interval of its error, %s to %s, has an end of the bound", r.signed(r.Low),
			r.signed(r.High))
	}
}

// mostWaited is the part of the time, in percent, for which threads that could run may wait for a
// processor on a machine without other load.
const mostWaited = 3

// busy says why the machine is too busy for a figure; empty: it is not.
func (m *Machine) busy(r *Row) string {
	switch {
	case r.Equal > r.Most:
		return fmt.Sprintf("equal programs differ by up to %.1f %s", r.Equal, r.Unit)
	case m.Waited > mostWaited:
		return fmt.Sprintf("threads that could run waited for a processor for %.0f %% of the time", m.Waited)
	}
	return ""
}
