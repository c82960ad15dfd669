package critpath

import (
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// mostUnlimited is the largest number of steps for which a program is run once more, for slack and
// VPPB's marks.
const mostUnlimited = 4_000_000

// unlimited finds slack and VPPB's marks: both are of the run with a processor for each
// goroutine.
func (b *builder) unlimited() {
	if b.p.Steps.Len() > mostUnlimited {
		b.res.Remarks.Note("the run has so many steps that slack and marks are left out: look at a part of it with -from and -to")
		return
	}
	run := sim.Simulate(b.p, sim.Options{Procs: max(len(b.p.Gs), 1), Policy: sim.Sharing, Keep: true, Order: true})
	run.Marked(b.res.Procs, func(step steps.StepID) {
		b.own(step, func(i int, ns float64) { b.sums[i].marked += ns })
	})
	run.Slack(func(step steps.StepID, slack float64, delay bool) {
		if delay {
			b.slack(b.entry(b.delayOf(step)), slack)
			return
		}
		b.own(step, func(i int, _ float64) { b.slack(i, slack) })
	})
}

// slack notes that of one piece of an entry's work.
func (b *builder) slack(i int, ns float64) {
	s := &b.sums[i]
	if s.slack == nil {
		s.slack = &[2]float64{ns, ns}
	}
	s.slack[0], s.slack[1] = min(s.slack[0], ns), max(s.slack[1], ns)
}
