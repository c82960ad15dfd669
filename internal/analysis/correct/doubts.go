package correct

import (
	"math"

	"qinst.dev/internal/analysis/price"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
)

// Limits above which a correction is not reliable: the share of probes in the busy time, and the
// share of counted hits in the removed time.
const (
	mostProbes  = 0.5
	mostCounted = 0.5
	worthwhile  = 0.01 // of the run: a smaller cost is not worth a warning
	differs     = 0.02 // of the run: so far apart the computed one has a warning
)

// moved reports whether something without a price may move the answer by more than half of its
// interval: time in which running threads had no processor, which it warns of, and the difference
// between the computed run and the recorded one, which has a warning of its own.
func (c *correction) moved(r *Result) bool {
	half := max(float64(r.Pessimistic-r.Optimistic)/2, worthwhile*c.measured)
	busy := 0.
	for _, x := range r.Procedures {
		busy += float64(x.Busy)
	}
	others := max(0, float64(c.p.OffCPU)-c.own()) / max(1, busy/max(c.measured, 1))
	if others > half {
		r.Remarks.Warn("other programs, or a quota, kept its running threads from processors, which made the run longer by up to %s: that may move the answer by more than its interval", measure.Time(int64(others)))
	}
	apart := math.Abs(c.measured-c.was) - others
	return others > half || c.was > 0 && apart > max(half, differs*c.measured)
}

// doubts warns if the times are not reliable, and says why.
func (c *correction) doubts(r *Result, losses *trace.Losses) {
	m := &r.Remarks
	var busy, took int64
	for _, x := range r.Procedures {
		busy, took = busy+x.Busy, took+x.Busy-x.Corrected
	}
	share := float64(took) / float64(max(busy, 1))
	before := len(m.Warnings)
	if c.p.R.T.Costs().Clock == 0 {
		m.Warn("the program did not measure what reading the clock takes, so that nothing has a price: nothing is taken out")
	}
	if share > mostProbes {
		remedy := ""
		if calls, all := c.spent(); c.from == "" && r.CountedShare <= mostCounted && calls >= leastCalls*all {
			remedy = "; a run at the default budget tells more of them (-density)"
		}
		m.Warn("probes took %.0f %% of the busy time: prices that are off by a tenth make what is left wrong by %.0f %%%s", 100*share, 10*share/(1-share), remedy)
	}
	if share > worthwhile && r.CountedShare > mostCounted {
		when := "evenly out of their procedures"
		if c.periods != nil {
			when = "out of their procedures by how many there were in each period"
		}
		m.Warn("%.0f %% of what was taken out is for hits that were only counted, which have no times: it is taken %s",
			100*r.CountedShare, when)
	}
	if list := losses.List(); len(list) > 0 {
		m.Warn("the trace has losses, which cost time too: %v", list[0])
	}
	if r.Flagged > 0 {
		m.Warn("%d operations kept their outcome that may have been another one without probes: a select that did not wait", r.Flagged)
	}
	moved := c.moved(r)
	r.Trusted = len(m.Warnings) == before && r.Measured > 0 && !moved
	if c.grown > worthwhile*float64(busy) {
		m.Note("text with probes is larger, and nothing measures what that takes: up to %.1f %% of each procedure's time is taken out, as a rule, and the bounds go from nothing to %.0f %%", 100*price.UsualOfSelf, 100*price.MostOfSelf)
	}
}
