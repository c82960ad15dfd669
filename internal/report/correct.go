package report

import (
	"fmt"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/correct"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/stats"
)

// mostCorrected is how many procedures are shown.
const mostCorrected = 15

// Correct writes what a run would have been without probes. f is nil if conclusions are not wanted.
func Correct(r *correct.Result, f *advice.Facts) *doc.Doc {
	d := &doc.Doc{Title: "correction"}
	s := d.Add("correct", "")
	doubts(s, r.Remarks.Warnings)
	unexplained(s, r.Policy, r.Measured-r.Replay, r.Measured, r.Off)
	s.Say("The run took %s. Without probes it would have taken %s, between %s and %s: %s of the time was the tool's.",
		measure.Time(r.Measured), measure.Time(r.Model), measure.Time(r.Optimistic), measure.Time(r.Pessimistic),
		measure.Percent(max(0, r.Measured-r.Model), r.Measured))
	if n := len(r.Turns); n > 0 {
		measured, model := r.Over()
		off := func(list []int64) string {
			return fmt.Sprintf("%s (%s to %s)", apart(stats.Median(list), r.Actual), apart(list[0], r.Actual),
				apart(list[n-1], r.Actual))
		}
		s.Say("That is the median one of %d runs. By turns with them, plain runs took %s, 95 of 100 between %s and %s. Corrected times are off by %s, measured ones by %s: medians, and the lowest and highest. The corrected time was closer in %d.",
			n, measure.Time(r.Actual), measure.Time(r.ActualLo), measure.Time(r.ActualHi), off(model), off(measured),
			r.Closer())
	} else if r.Actual > 0 {
		s.Say("Plain runs took %s, 95 of 100 between %s and %s: the correction is off by %s, the measured time by %s.",
			measure.Time(r.Actual), measure.Time(r.ActualLo), measure.Time(r.ActualHi),
			apart(r.Model, r.Actual), apart(r.Measured, r.Actual))
	}
	if r.CountedShare > 0.1 {
		s.Say("%.0f %% of what was taken out is for events, the rest for hits that were only counted.",
			100*(1-r.CountedShare))
	}
	s.Say("What was taken out of processor time, and for what:")
	t := doc.NewTable("kind", "number", "each", "", "all", "price measured in")
	for i := range r.Costs {
		c := &r.Costs[i]
		t.Row(c.Kind, doc.Count(int64(c.N)), fmt.Sprintf("%.1fns", c.Each), fmt.Sprintf("+- %.1f", c.SD),
			doc.Time(c.Total), c.Measured)
	}
	s.Table(t)
	t = doc.NewTable("procedure", "busy", "without probes", "from", "to")
	for _, p := range r.Procedures[:min(mostCorrected, len(r.Procedures))] {
		t.Row(doc.Name(p.Name, loopWidth), doc.Time(p.Busy), doc.Time(p.Corrected), doc.Time(p.Lo), doc.Time(p.Hi))
	}
	s.Table(t)
	s.Note("The shorter of the two times: who could run did so at once, and probes cost the most they may. The longer one: waits are as in this run, and probes cost the least.")
	if r.Clamped > 0 {
		s.Note("%s pieces of work were shorter than what the events before them cost: the rest was taken out of the next ones.", measure.Count(r.Clamped))
	}
	for _, n := range r.Remarks.Notes {
		s.Note("%s", n)
	}
	if f != nil {
		others(d, conclude(d, f))
	}
	return d
}

// apart is by how much a time differs from another one, with its sign.
func apart(t, from int64) string {
	return measure.Change(100*(float64(t)/float64(max(from, 1))-1)) + " %"
}
