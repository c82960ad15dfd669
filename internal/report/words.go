package report

import (
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
)

// policies say how goroutines get processors.
var policies = map[sim.Policy]string{
	sim.Sharing: "processors shared evenly", sim.List: "processors kept until a wait", sim.Go: "Go's scheduler",
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

func processors(n int) string {
	if n == 1 {
		return "1 processor"
	}
	return fmt.Sprintf("%d processors", n)
}

// viewFrom is the share of the run that a procedure is worth with its callees to be shown with
// them.
const viewFrom = 0.03

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
