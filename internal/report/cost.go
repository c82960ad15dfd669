package report

import (
	"fmt"
	"strings"

	"qinst.dev/internal/analysis/price"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
)

// measured says which parts of the cost are measured.
func measured(p *profile.Profile) string {
	if p.Sampling != nil && p.Sampling.Texts > 0 {
		return "the writer's time is measured, and that in probes which are called, by samples"
	}
	from := map[string]string{price.FromSamples: "samples of this run tell",
		price.FromItself: "events of this run tell that time themselves"}[p.Tool.Cost.From]
	if from == "" {
		from = "clock readings at the start tell, to a third"
	}
	return "the writer's time is measured; events have a price that " + from +
		"; counts by probes have prices of a loop"
}

// cost accounts for the tool's own cost, and says what to leave out if counting alone is above
// the budget.
func (pg *page) cost() {
	p := pg.p
	cpu := p.CPU.User + p.CPU.System
	s := pg.Add("tool", "What the tool itself cost")
	c := &p.Tool.Cost
	s.Say("writer: %s runs, %s written, %s of processor time%s", measure.Count(p.Tool.FlushRuns),
		measure.Bytes(p.Tool.FlushBytes), measure.Time(c.Writer), ofProcess(c.Writer, cpu)) // its other work, too
	if c.Extensions > 0 {
		s.Say("extensions: about %s of processor time%s", measure.Time(c.Extensions), ofProcess(c.Extensions, cpu))
	}
	if p.Tool.EventCost == 0 {
		s.Say("events: %s; their cost on this machine: qinst cost", measure.Count(p.Events))
		return
	}
	if p.Tool.Probes > 0 {
		s.Say("probes: %s of processor time, %s of the run: taken out of all lines above, and shown as [probes]",
			measure.Time(p.Tool.Probes), measure.Time(p.Tool.ProbesNPT))
	}
	if p.Tool.Plain > 0 {
		s.Say("a plain run takes %s, this one %s: probes are %s of the difference, %s are unaccounted",
			measure.Time(p.Tool.Plain), measure.Time(p.Ran), measure.Time(p.Tool.ProbesNPT), measure.Time(p.Tool.More))
	}
	for _, k := range []struct {
		what string
		paid profile.Paid
	}{{"events", c.Events}, {"events of scheduling, and others", c.Changes}, {"times", c.Timed},
		{"counts by probes", c.Counted}, {"counts in place", c.InPlace}, {"tests at entries", c.Tests},
		{"clocks read by the collector", c.Collector}} {
		if k.paid.N > 0 {
			s.Say("%s: %s x %.1fns = %s%s", k.what, measure.Count(int64(k.paid.N)), k.paid.Each(),
				measure.Time(k.paid.Cost), ofProcess(k.paid.Cost, cpu))
		}
	}
	if c.Text > 0 {
		s.Say("text that is larger: about %s%s, by a rule", measure.Time(c.Text), ofProcess(c.Text, cpu))
	}
	if c.Looks > 0 {
		s.Say("looks at what threads run: %s%s", measure.Time(c.Looks), ofProcess(c.Looks, cpu))
	}
	budget, within := pg.t.Int("budget_permille"), ""
	if budget > 0 {
		within = fmt.Sprintf("; the budget was %.3g%%", float64(budget)/10)
	}
	if cpu > 0 {
		s.Say("together about %s of the process, between %s and %s%s", measure.Percent(c.All, cpu),
			measure.Percent(c.Lo, cpu), measure.Percent(c.Hi, cpu), within)
	} else { // of a program that was killed, or could not write
		s.Say("together about %s, between %s and %s, of a time that the file lacks%s", measure.Time(c.All),
			measure.Time(c.Lo), measure.Time(c.Hi), within)
	}
	s.Detail("%s; counters and tests in the text have prices of a loop, a processor does part of that work while it waits, and what larger text costs is seldom the same: -plain=TIME tells what a run without probes takes", measured(p))
	if r := pg.remedy; r != nil {
		s.Say("to record less: -without=%s leaves out what costs most and tells least: counting would take about %.1f%% then, and their time is in their callers' lines. qinst report -apply writes that to qinst.toml",
			strings.Join(r.Without, ","), 100*r.Left)
	}
}
