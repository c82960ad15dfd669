package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
)

// policies say how goroutines get processors.
var policies = map[sim.Policy]string{
	sim.Sharing: "processors shared evenly", sim.List: "processors kept until a wait", sim.Go: "Go's scheduler",
}

// lead says what to change first.
func lead(s *doc.Section, r *critpath.Result) {
	var names []string
	procs := shown(r, len(r.Entries), critpath.KindProc)
	slices.SortStableFunc(procs, func(a, b *critpath.Entry) int { return cmp.Compare(b.Weighted, a.Weighted) })
	for _, e := range procs {
		if len(names) < leads && !system(e) && float64(e.Weighted) > leadFrom*float64(r.Replay) {
			names = append(names, fmt.Sprintf("%s (%s)", measure.Visible(e.Name),
				measure.Percent(e.Weighted, r.Replay)))
		}
	}
	waits, causes := outside(r)
	if waits > r.T/2 {
		s.Say("For %s of that it waits for %s, which no change of its procedures makes shorter, as far as the trace shows.", measure.Percent(waits, r.T), strings.Join(causes, " or "))
		if len(r.Requests) > 0 {
			s.Say("What it did meanwhile, such as %s, has paths of its own: qinst critical -requests.",
				r.Requests[0].Name)
		}
	}
	switch {
	case len(names) > 0:
		s.Say("Less work in %s makes it shorter; in brackets is the share of the run that each is worth.",
			strings.Join(names, ", "))
	case waits <= r.T/2:
		s.Say("No procedure's own work is worth more than %.0f %% of the run.", 100*leadFrom)
	}
	for _, c := range r.Crowds {
		if c.Cap > 0 && float64(c.Waited) > crowdedFrom*float64(r.T) {
			s.Say("Goroutines waited %s for room in %s, which has %s: qinst predict -what-if %s tells what more would gain.", measure.Time(c.Waited), measure.Visible(c.Name), roomOf(c.Cap), measure.Visible(c.Change))
			break
		}
	}
	for _, e := range shown(r, len(r.Entries), critpath.KindSync) {
		if float64(e.Weighted) > leadFrom*float64(r.Replay) && float64(e.Waited) > leadFrom*float64(r.T) {
			s.Say("Less time under %s (%s) makes it shorter: goroutines waited %s for it.", measure.Visible(e.Name),
				measure.Percent(e.Weighted, r.Replay), measure.Time(e.Waited))
			break
		}
	}
}

// system reports whether an entry is no procedure of the source.
func system(e *critpath.Entry) bool { return strings.HasPrefix(e.Name, "[") }

// doubts adds warnings.
func doubts(s *doc.Section, list []string) {
	for _, d := range list {
		s.Warn("%s", d)
	}
}

// shown are the first entries of some kinds that have anything.
func shown(r *critpath.Result, most int, kinds ...string) (list []*critpath.Entry) {
	for i := range r.Entries {
		e := &r.Entries[i]
		if slices.Contains(kinds, e.Kind) && e.Self|e.Inclusive|e.Weighted|e.WeightedRight|e.WeightedInclusive != 0 &&
			len(list) < most {
			list = append(list, e)
		}
	}
	return list
}

// mostViews is how many entries of each other kind are shown.
const mostViews = 5

// worth are the cells of what an entry is worth.
func worth(r *critpath.Result, e *critpath.Entry, ns int64) (gains, share doc.Cell) {
	if e.Unknown {
		return doc.Cell{Text: "not known"}, doc.Cell{}
	}
	return estimate(e, doc.Time(ns)), doc.Share(ns, r.Replay)
}

// views adds the same time by other kinds, and reports whether some of it is a lower bound.
func views(s *doc.Section, r *critpath.Result) (bounds bool) {
	note := ""
	for _, v := range []struct{ kind, head string }{{critpath.KindSync, "while it was held"},
		{critpath.KindGoroutine, "goroutines"}, {critpath.KindLoop, "loop"}} {
		t := doc.NewTable(v.head, "on path", "", "worth", "", "work")
		for _, e := range shown(r, mostViews, v.kind) {
			bounds = bounds || e.Least
			gains, share := worth(r, e, e.Weighted)
			times := []doc.Cell{estimate(e, doc.Time(e.Self)), gains, estimate(e, doc.Time(e.Work))}
			for i := range times {
				if e.Held > 0 && !e.Unknown {
					times[i].Text = "~" + strings.TrimPrefix(times[i].Text, "~")
				}
			}
			t.Row(doc.Name(e.Name, loopWidth), times[0], doc.Share(e.Self, r.T), times[1], share,
				times[2])
			if e.Held > 0 && note == "" {
				note = fmt.Sprintf("by the trace goroutines did more under %s than the time for which it was held, so that its times are estimates by that, %s at most", measure.Visible(e.Name), measure.Time(e.Held))
			}
		}
		s.Table(t)
	}
	if note != "" {
		s.Note("%s", note)
	}
	return bounds
}

func roomOf(n int) string {
	if n == 1 {
		return "1 place"
	}
	return fmt.Sprintf("%d places", n)
}

func processors(n int) string {
	if n == 1 {
		return "1 processor"
	}
	return fmt.Sprintf("%d processors", n)
}

// leads is how many procedures the first sentence names, if they are worth leadFrom of the run.
// Goroutines that waited for room for crowdedFrom of it are worth a sentence.
const (
	leads       = 3
	leadFrom    = 0.03
	crowdedFrom = 0.2
)

// outside returns how long the path waits for events outside of goroutines, by their cause.
func outside(r *critpath.Result) (ns int64, causes []string) {
	for _, c := range []struct {
		steps.Cause
		words string
	}{{steps.Timer, "timers"}, {steps.Call, "system calls"},
		{steps.Network, "the network or pipes, whose other ends may be this program's"}} {
		for i := range r.Entries {
			if e := &r.Entries[i]; e.ID == "wait:"+c.String() {
				if ns += e.Self; 100*e.Self > r.T {
					causes = append(causes, c.words)
				}
			}
		}
	}
	return ns, causes
}

// estimate marks a number of an entry that is sampled, or known in part.
func estimate(e *critpath.Entry, c doc.Cell) doc.Cell {
	switch {
	case e.Interval != nil || e.Estimated:
		c.Text = "~" + c.Text
	case e.Least:
		c.Text = "≥" + c.Text
	}
	return c
}
