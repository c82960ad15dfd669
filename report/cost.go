package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	writer := max(p.Tool.FlushCPU, p.CPU.Writer) // its other work, too
	s.Say("writer: %s runs, %s written, %s of processor time (%s of the process)", measure.Count(p.Tool.FlushRuns),
		measure.Bytes(p.Tool.FlushBytes), measure.Time(writer), measure.Percent(writer, cpu))
	var reduced, reducer int64
	for i := range pg.t.Points {
		reduced += int64(pg.t.Points[i].Reduced)
	}
	for _, e := range pg.t.Extensions {
		reducer += e.Took
	}
	if reducer > 0 {
		s.Say("extensions: about %s of processor time (%s of the process)", measure.Time(reducer), measure.Percent(reducer, cpu))
	}
	c := p.Tool.EventCost
	if c == 0 {
		s.Say("events: %s; their cost on this machine: qinst cost", measure.Count(p.Events))
		return
	}
	if p.Tool.Probes > 0 {
		s.Say("probes: %s of processor time, %s of the run: taken out of all lines above, and shown as [probes]; events and hits, times what they cost in a loop", measure.Time(p.Tool.Probes), measure.Time(p.Tool.ProbesNPT))
	}
	if p.Tool.Plain > 0 {
		s.Say("a plain run takes %s, this one %s: probes are %s of the difference, %s are unaccounted", measure.Time(p.Tool.Plain), measure.Time(p.Ran), measure.Time(p.Tool.ProbesNPT), measure.Time(p.Tool.More))
	}
	written := p.Events + 2*reduced // entries and exits, for the most part
	events := int64(c * float64(written))
	s.Say("events: %s x %.1fns = %s of processor time (%s of busy)", measure.Count(written), c, measure.Time(events), measure.Percent(events, p.Busy))
	packages, hits, calls, timed, inLine := counting(pg.t)
	if hits == 0 {
		return
	}
	each := float64(pg.t.Int("count_cost_ps")) / 1000
	counted := int64(each * float64(hits))
	s.Say("counts: %s x %.1fns = %s (%s of the process)", measure.Count(hits), each, measure.Time(counted), measure.Percent(counted, cpu))
	if inLine > 0 {
		s.Detail("among them %s calls that are counted in place, %d for one of the others", measure.Count(inLine), spec.InLineParts)
	}
	times := int64(2 * c * float64(timed))
	if timed > 0 {
		s.Say("times: %s x %.1fns = %s (%s of the process)", measure.Count(timed), 2*c, measure.Time(times), measure.Percent(times, cpu))
	}
	budget := pg.t.Int("budget_permille")
	if budget == 0 {
		return
	}
	all := writer + reducer + events + counted + times
	s.Say("together %s of the process; the budget was %.3g%%", measure.Percent(all, cpu), float64(budget)/10)
	if most := cpu * budget / 1000; counted > most {
		s.Say("counting alone is above it; %s would not be", exclusion(packages, hits, uint64(float64(most)/each)))
		if 2*calls > hits {
			s.Say("%s of the counts are of calls, many of them of what the compiler inlines: -kinds=proc,loop,sync leaves them out", measure.Count(calls))
		}
	}
}

// counting sums the counts of all points by package, and of calls, and returns how many hits were
// timed, and counted in place,
// as entries of procedures that ran without probes are.
func counting(t *trace.Trace) (packages map[string]uint64, hits, calls, timed, inLine uint64) {
	packages = map[string]uint64{}
	for i := range t.Points {
		p := &t.Points[i]
		if p.Kind == spec.PointFunc || p.Kind == spec.PointSite {
			continue
		}
		n := p.Counts(trace.PointID(i))
		packages[p.Package] += n
		hits += n
		timed += p.Timed()
		if p.Kind == spec.PointCall {
			calls += n
		}
		if p.Flags&spec.FlagInLine != 0 {
			inLine += p.Hits
		}
		inLine += p.Plain
	}
	return packages, hits, calls, timed, inLine
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
