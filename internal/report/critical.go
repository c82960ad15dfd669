package report

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
)

// waitedFrom is the smallest share of the run for which the procedure of a wait is shown.
const waitedFrom = 0.05

// mostCritical is how many entries are shown.
const mostCritical = 15

// Critical writes what determines how long a run takes. f is nil if conclusions are not wanted.
func Critical(r *critpath.Result, f *advice.Facts) *doc.Doc {
	d := &doc.Doc{Title: "critical path"}
	s := d.Add("critical", "")
	if r.Replay == 0 {
		for _, n := range r.Remarks.All() {
			s.Warn("%s", n)
		}
		return d
	}
	doubts(s, r.Remarks.Warnings)
	if n := r.Nearer; n != nil {
		s.Warn("The run took %s; computed with %s, it takes %s. With %s it takes %s: -policy %s tells what parts are worth there.",
			measure.Time(r.T), policies[sim.Policy(r.Policy)], measure.Time(r.Replay),
			policies[n.Policy], measure.Time(n.T), n.Policy)
	} else {
		unexplained(s, r.Policy, r.T-r.Replay, r.T, r.Off)
	}
	if r.Computed {
		s.Say("On %s the run takes %s, as computed.", processors(r.Procs), measure.Time(r.T))
	} else {
		s.Say("The run took %s on %s.", measure.Time(r.T), processors(r.Procs))
	}
	if f != nil {
		others(d, conclude(d, f))
		s = d.Add("path", "The path")
	}
	s.Say("Work and waits on the critical path, and what they are worth:")
	t, rows := doc.NewTable("name", "on path", "", "worth", "", "work"), 0
	for _, e := range shown(r, len(r.Entries), critpath.KindProc, critpath.KindWait) {
		if rows == mostCritical {
			break
		}
		if e.Self|e.Weighted|e.WeightedRight == 0 { // it only calls
			continue
		}
		rows++
		gains, share := worth(r, e, e.Weighted)
		if d := e.WeightedRight - e.Weighted; max(d, -d) > r.Replay/100 {
			gains.Text = fmt.Sprintf("%s to %s", measure.Time(min(e.Weighted, e.WeightedRight)),
				measure.Time(max(e.Weighted, e.WeightedRight)))
			gains = estimate(e, gains)
		}
		t.Row(doc.Name(e.Name, loopWidth), estimate(e, doc.Time(e.Self)), doc.Share(e.Self, r.T), gains, share,
			estimate(e, doc.Time(e.Work)))
		for _, in := range e.In {
			if float64(in.Self) >= waitedFrom*float64(r.T) {
				name := doc.Name(in.Name, loopWidth)
				if name.Text = "  in " + name.Text; in.Line > 0 {
					name.Text += fmt.Sprintf(" (%s:%d)", path.Base(in.File), in.Line)
				}
				t.Row(name, doc.Time(in.Self), doc.Share(in.Self, r.T), "", "", "")
			}
		}
	}
	s.Table(t)
	calls(s, r)
	agreement(s, r)
	bounds := views(s, r)
	if slices.ContainsFunc(r.Entries, func(e critpath.Entry) bool { return e.Interval != nil || e.Estimated }) {
		s.Note("Lines with ~ are estimates by samples, because calls were counted and not traced; -json has their 95 %% intervals.")
	}
	if bounds {
		s.Note("Lines with ≥ are of loops that were also entered without an event, where no sample tells of them: their work is at least so much.")
	}
	s.Note("Worth is what the run becomes shorter by for each ns that the work does, times its length: a tenth less work gains a tenth of it, as long as nothing else comes onto the path.")
	for _, n := range r.Remarks.Notes {
		s.Note("%s", n)
	}
	return d
}

// calls adds the procedures that are worth most with their callees, except for those that are
// nearly all of the run, or little more than their own work.
func calls(s *doc.Section, r *critpath.Result) {
	const nearlyAll, little, alike = 0.99, 1.2, 0.01
	list := shown(r, len(r.Entries), critpath.KindProc)
	list = slices.DeleteFunc(list, func(e *critpath.Entry) bool {
		w := float64(e.WeightedInclusive)
		return system(e) || w > nearlyAll*float64(r.Replay) || w < viewFrom*float64(r.Replay) ||
			w < little*float64(e.Weighted)
	})
	slices.SortStableFunc(list, func(a, b *critpath.Entry) int {
		return cmp.Compare(b.WeightedInclusive,
			a.WeightedInclusive)
	})
	// A procedure that does little but call one other is left out: that one comes next in the list.
	for i := 0; i+1 < len(list); {
		if float64(list[i].WeightedInclusive-list[i+1].WeightedInclusive) < alike*float64(r.Replay) {
			list = slices.Delete(list, i, i+1)
		} else {
			i++
		}
	}
	t := doc.NewTable("with all that it calls and starts", "on path", "", "worth", "", "calls on path")
	for _, e := range list[:min(len(list), mostViews)] {
		gains, share := worth(r, e, e.WeightedInclusive)
		t.Row(doc.Name(e.Name, loopWidth), estimate(e, doc.Time(e.Inclusive)), doc.Share(e.Inclusive, r.T), gains,
			share, some(e.Entries))
	}
	s.Table(t)
}

// some is a number, or nothing where calls were only counted.
func some(n int) any {
	if n == 0 {
		return ""
	}
	return doc.Count(n)
}

// Requests lists requests, or says what is on the paths of those of one name.
func Requests(r *critpath.Result) *doc.Doc {
	d := &doc.Doc{Title: "requests"}
	requests(d.Add("requests", ""), r)
	return d
}

// Served is about the requests of a program whose length the outside decides: its own path is a
// wait for that.
func Served(r *critpath.Result, ran int64, f *advice.Facts) *doc.Doc {
	d := &doc.Doc{Title: "requests"}
	s := d.Add("served", "")
	s.Say("The run took %s on %s. The outside decided that: for most of it, it waited for a signal, a time, or requests. So what follows is about its requests, %s; -procs=%d has the path of the run.", measure.Time(ran), processors(r.Procs), measure.Visible(r.Requests[0].Name), r.Procs)
	others(d, conclude(d, f))
	requests(d.Add("requests", "The requests"), r)
	return d
}

func requests(s *doc.Section, r *critpath.Result) {
	doubts(s, r.Remarks.Warnings)
	t := doc.NewTable("request", "kind", "number", "traced", "median", "p99", "in all").Left(1)
	for _, q := range r.Requests {
		t.Row(doc.Name(q.Name, loopWidth), q.Kind, doc.Count(int(q.Number)), doc.Count(q.Count),
			doc.Time(q.P50), doc.Time(q.P99), doc.Time(q.Total))
	}
	s.Table(t)
	if len(r.Entries) > 0 {
		s.Say("On the paths of these requests, and of the slowest hundredth of them; \"by others\" is what goroutines did that belong to none of them, or to another one:")
		t = doc.NewTable("name", "self on path", "", "with calls", "by others", "slowest")
		for _, e := range shown(r, mostCritical, critpath.KindProc, critpath.KindWait) {
			t.Row(doc.Name(e.Name, loopWidth), estimate(e, doc.Time(e.Self)), doc.Share(e.Self, r.T),
				doc.Time(e.Inclusive), doc.Time(e.Other), doc.Time(e.Tail))
		}
		s.Table(t)
		underLocks(s, r)
	}
	for _, n := range r.Remarks.Notes {
		s.Note("%s", n)
	}
}

// underLocks shows the part of requests' paths on which locks were held.
func underLocks(s *doc.Section, r *critpath.Result) {
	t := doc.NewTable("while it was held", "on path", "", "by others", "slowest")
	list := shown(r, mostViews, critpath.KindSync)
	for _, e := range list {
		t.Row(doc.Name(e.Name, loopWidth), doc.Time(e.Self), doc.Share(e.Self, r.T), doc.Time(e.Other),
			doc.Time(e.Tail))
	}
	s.Table(t)
}

// agreement says where processor time, normalized processor time, the path and worth disagree, and
// why.
func agreement(s *doc.Section, r *critpath.Result) {
	a := r.Agreement
	if a == nil || len(a.Rows) == 0 {
		return
	}
	s.Say("What has most processor time, as a profile shows it, need not be worth most (Kendall's tau of the two orders: %.2f; the same %d of the first %d). The shares of these in what all procedures have together differ most; worth itself is a share of the run:", a.Tau, a.First, a.OfTop)
	t := doc.NewTable("name", "processor time", "npt", "path", "of all worth", "worth", "why").Left(6)
	for _, x := range a.Rows {
		percent := func(share float64) doc.Cell {
			mark := ""
			if x.Estimated {
				mark = "~"
			}
			return doc.Cell{Text: fmt.Sprintf("%s%.1f %%", mark, math.Round(1000*share)/10+0)} // 0 has no sign
		}
		t.Row(doc.Name(x.Name, loopWidth), percent(x.Work), percent(x.NPT), percent(x.Path), percent(x.Worth),
			percent(x.OfRun), x.Why)
	}
	s.Table(t)
}

// unexplained says that the computed run is not the recorded one, if that matters.
func unexplained(s *doc.Section, policy string, ns, of, off int64) {
	if d := float64(ns) / float64(max(of, 1)); math.Abs(d) > critpath.Apart {
		why := "The difference is not explained, and what follows may be wrong by as much."
		if d > 0 && off > ns/2 {
			why = fmt.Sprintf("Meanwhile other programs, or waits that Go does not know of, kept its running threads from their processors for %s: what follows is about a run without that.", measure.Time(off))
		}
		how := ""
		if words := policies[sim.Policy(policy)]; words != "" {
			how = " with " + words
		}
		s.Warn("The run took %s; computed%s, it takes %s. %s", measure.Time(of), how, measure.Time(of-ns), why)
	}
}
