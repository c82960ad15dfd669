package price

import (
	"math"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Whole reports whether every call of a probe of a procedure or loop has an event. Then samples add
// nothing but the cost of probes. Of a part of a trace, which counts its own events alone, this is
// unknown.
func Whole(t *trace.Tables) bool {
	if !t.HasCounts || t.Attr(trace.AttrFrom) != nil {
		return false
	}
	for i := range t.Points {
		p := &t.Points[i]
		if (p.Kind == spec.PointProc || p.Kind == spec.PointLoop) && !p.Small() && p.Flags&spec.FlagSummed == 0 &&
			p.Degraded() > 0 {
			return false
		}
	}
	return true
}

// Seen is the time in which samples found goroutines at work, and in which they found probes in
// them.
type Seen struct {
	n, probes     int
	all, inProbes float64 // ns that they stand for
}

// Add adds a sample of a goroutine that worked.
func (s *Seen) Add(x trace.Sampled, probe bool) {
	if x.Code == 0 {
		return
	}
	ns := 1000 * float64(max(x.Gap, 1))
	s.n++
	s.all += ns
	if probe {
		s.probes++
		s.inProbes += ns
	}
}

const (
	leastSeen  = 8
	unseen     = 60   // ns of a goroutine's work at each change of its state are the scheduler's, which is not sampled
	mostUnseen = 0.75 // of the work
	// of the cost of calls: the rest is around them in the program's own text, which saves values
	// for them and tests which are on
	seenOfCalls = 0.9
	// standard deviation among programs of the cost of calls, as a share of the sampled time:
	// programs differ in how many instructions wait for a probe, or in it
	seenSpread   = 0.2
	seenOfLocked = 0.5 // of the price of an operation: the rest is in the lock's own instructions, which wait
)

// Mend corrects the price of calls by the samples of a whole trace with the given numbers of calls,
// operations and changes of state, in which goroutines worked for some ns. The price is right
// within its standard deviation, and the sampled time within its sampling error; both are weighted
// by their precision.
func (p *Prices) Mend(s *Seen, work float64, calls, operations, changes int64) {
	priced := float64(calls) * p[Call].Each
	all := work - min(unseen*float64(changes), mostUnseen*work)
	if s.n < leastSeen || priced <= 0 || all <= 0 || p[Call].SD <= 0 {
		return
	}
	share := float64(s.probes+1) / float64(s.n+2)
	found := max(0, s.inProbes/s.all*all-seenOfLocked*float64(operations)*p[Sync].Each) / seenOfCalls
	apart := math.Hypot(all*math.Sqrt(share*(1-share)/float64(s.n)), seenSpread*found)
	n := float64(calls)
	p[Call] = p[Call].and(Price{found / n, apart / n, FromSamples})
}
