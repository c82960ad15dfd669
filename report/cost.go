package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"qinst.dev/analysis/profile"
	"qinst.dev/internal/measure"
	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

// cost accounts for the tool's own cost, and says what to leave out if counting alone is above
// the budget.
func (pg *page) cost() {
	p := pg.p
	cpu := p.CPU.User + p.CPU.System
	s := pg.Add("tool", "What the tool itself cost")
	c := &p.Tool.Cost
	s.Say("writer: %s runs, %s written, %s of processor time (%s of the process)", measure.Count(p.Tool.FlushRuns),
		measure.Bytes(p.Tool.FlushBytes), measure.Time(c.Writer), measure.Percent(c.Writer, cpu)) // its other work, too
	if c.Extensions > 0 {
		s.Say("extensions: about %s of processor time (%s of the process)", measure.Time(c.Extensions), measure.Percent(c.Extensions, cpu))
	}
	if p.Tool.EventCost == 0 {
		s.Say("events: %s; their cost on this machine: qinst cost", measure.Count(p.Events))
		return
	}
	if p.Tool.Probes > 0 {
		s.Say("probes: %s of processor time, %s of the run: taken out of all lines above, and shown as [probes]; events and hits, times what they cost in a loop", measure.Time(p.Tool.Probes), measure.Time(p.Tool.ProbesNPT))
	}
	if p.Tool.Plain > 0 {
		s.Say("a plain run takes %s, this one %s: probes are %s of the difference, %s are unaccounted", measure.Time(p.Tool.Plain), measure.Time(p.Ran), measure.Time(p.Tool.ProbesNPT), measure.Time(p.Tool.More))
	}
	for _, k := range []struct {
		what string
		paid profile.Paid
	}{{"events", c.Events}, {"times", c.Timed}, {"counts by probes", c.Counted}, {"counts in place", c.InPlace}, {"tests at entries", c.Tests}} {
		if k.paid.N > 0 {
			s.Say("%s: %s x %.1fns = %s (%s of the process)", k.what, measure.Count(int64(k.paid.N)), k.paid.Each(), measure.Time(k.paid.Cost), measure.Percent(k.paid.Cost, cpu))
		}
	}
	budget, within := pg.t.Int("budget_permille"), ""
	if budget > 0 {
		within = fmt.Sprintf("; the budget was %.3g%%", float64(budget)/10)
	}
	s.Say("together about %s of the process, between %s and %s%s", measure.Percent(c.All, cpu), measure.Percent(c.Lo, cpu), measure.Percent(c.Hi, cpu), within)
	s.Detail("the writer's time is measured; the rest are prices of a loop, and a processor does part of that work while it waits; the upper bound allows for text that is larger")
	counting := c.Counted.Cost + c.InPlace.Cost
	if most := cpu * budget / 1000; budget > 0 && counting > most {
		packages, hits, calls := counts(pg.t)
		s.Say("counting alone is above it; %s would not be", exclusion(packages, hits, uint64(float64(hits)*float64(most)/float64(counting))))
		if 2*calls > hits {
			s.Say("%s of the counts are of calls, many of them of what the compiler inlines: -kinds=proc,loop,sync leaves them out", measure.Count(calls))
		}
	}
}

// counts sums what counting cost, in hits of probes, by package, in all, and of calls.
func counts(t *trace.Trace) (packages map[string]uint64, hits, calls uint64) {
	packages = map[string]uint64{}
	for i := range t.Points {
		p := &t.Points[i]
		if p.Kind == spec.PointFunc || p.Kind == spec.PointSite {
			continue
		}
		n := p.Counts(trace.PointID(i))
		packages[p.Package] += n
		hits += n
		if p.Kind == spec.PointCall {
			calls += n
		}
	}
	return packages, hits, calls
}

// exclusion is the selection that leaves no more than so many hits: without as few
// packages as that takes.
func exclusion(packages map[string]uint64, hits, most uint64) string {
	names := make([]string, 0, len(packages))
	for name := range packages {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(packages[b], packages[a]), cmp.Compare(a, b)) })
	var out []string
	for _, name := range names {
		if hits <= most {
			break
		}
		hits -= packages[name]
		out = append(out, name)
	}
	return fmt.Sprintf("-exclude=%s", strings.Join(out, ","))
}
