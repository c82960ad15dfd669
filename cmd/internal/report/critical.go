package report

import (
	"cmp"
	"fmt"
	"slices"

	"qinst.dev/cmd/internal/analysis/critpath"
	"qinst.dev/cmd/internal/measure"
	"qinst.dev/cmd/internal/report/doc"
	"qinst.dev/cmd/internal/stats"
)

// mostCritical is how many entries are shown.
const mostCritical = 20

// Critical writes what determines how long a run takes.
func Critical(r *critpath.Result) *doc.Doc {
	d := &doc.Doc{Title: "critical path"}
	s := d.Add("critical", "")
	if r.Replay == 0 {
		for _, n := range r.Notes {
			s.Warn("%s", n)
		}
		return d
	}
	unexplained(s, r.T-r.Replay, r.T, r.Off)
	if r.Computed {
		s.Say("On %s the run takes %s, as computed. Work and waits on its critical path, and what they are worth:", processors(r.Procs), measure.Time(r.T))
	} else {
		s.Say("The run took %s. Work and waits on its critical path, and what they are worth on %s:", measure.Time(r.T), processors(r.Procs))
	}
	if outside(r) > r.T/2 && len(r.Requests) > 0 {
		s.Say("Most of it is waits for something outside. What it did meanwhile, such as %s, has paths of its own: qinst critical -requests.", r.Requests[0].Name)
	}
	t := doc.NewTable("name", "self on path", "", "with calls", "self worth", "", "with calls", "", "work")
	for _, e := range shown(r, mostCritical, critpath.KindProc, critpath.KindWait) {
		worth := doc.Time(e.Weighted)
		if d := e.WeightedRight - e.Weighted; max(d, -d) > r.Replay/100 {
			worth.Text = fmt.Sprintf("%s to %s", measure.Time(min(e.Weighted, e.WeightedRight)), measure.Time(max(e.Weighted, e.WeightedRight)))
		}
		t.Row(doc.Name(e.Name, loopWidth), estimate(e, doc.Time(e.Self)), doc.Share(e.Self, r.T), doc.Time(e.Inclusive), estimate(e, worth), doc.Share(e.Weighted, r.Replay),
			doc.Time(e.WeightedInclusive), doc.Share(e.WeightedInclusive, r.Replay), estimate(e, doc.Time(e.Work)))
	}
	s.Table(t)
	agreement(s, r)
	views(s, r)
	if slices.ContainsFunc(r.Entries, func(e critpath.Entry) bool { return e.Interval != nil }) {
		s.Note("Lines with ~ are estimates by samples, because calls were counted and not traced; -json has their 95 %% intervals.")
	}
	s.Note("Worth is what the run becomes shorter by for each ns that the work does, times its length: a tenth less work gains a tenth of it, as long as nothing else comes onto the path.")
	for _, n := range r.Notes {
		s.Note("%s", n)
	}
	return d
}

// Requests lists requests, or says what is on the paths of those of one name.
func Requests(r *critpath.Result) *doc.Doc {
	d := &doc.Doc{Title: "requests"}
	s := d.Add("requests", "")
	t := doc.NewTable("request", "kind", "number", "median", "p99", "all").Left(1)
	for _, q := range r.Requests {
		t.Row(doc.Name(q.Name, loopWidth), q.Kind, doc.Count(q.Count), doc.Time(q.P50), doc.Time(q.P99), doc.Time(q.Total))
	}
	s.Table(t)
	if len(r.Entries) > 0 {
		s.Say("On the paths of these requests, and of the slowest hundredth of them; \"by others\" is what goroutines did that belong to none of them, or to another one:")
		t = doc.NewTable("name", "self on path", "", "with calls", "by others", "slowest")
		for _, e := range shown(r, mostCritical, critpath.KindProc, critpath.KindWait) {
			t.Row(doc.Name(e.Name, loopWidth), estimate(e, doc.Time(e.Self)), doc.Share(e.Self, r.T), doc.Time(e.Inclusive), doc.Time(e.Other), doc.Time(e.Tail))
		}
		s.Table(t)
	}
	for _, n := range r.Notes {
		s.Note("%s", n)
	}
	return d
}

// estimate marks a number of an entry that samples told.
func estimate(e *critpath.Entry, c doc.Cell) doc.Cell {
	if e.Interval != nil {
		c.Text = "~" + c.Text
	}
	return c
}

// outside is how long the path waited for nothing of the program's.
func outside(r *critpath.Result) (ns int64) {
	for i := range r.Entries {
		switch r.Entries[i].ID {
		case "wait:timer", "wait:network", "wait:system call":
			ns += r.Entries[i].Self
		}
	}
	return ns
}

// shown are the first entries of some kinds that have anything.
func shown(r *critpath.Result, most int, kinds ...string) (list []*critpath.Entry) {
	for i := range r.Entries {
		e := &r.Entries[i]
		if slices.Contains(kinds, e.Kind) && e.Self|e.Inclusive|e.Weighted|e.WeightedRight|e.WeightedInclusive != 0 && len(list) < most {
			list = append(list, e)
		}
	}
	return list
}

// Rankings are compared by the shares that they give to a procedure.
const (
	mostApart  = 5
	apartFrom  = 0.05 // a difference of shares that is shown
	nothingOf  = 0.01 // less than this is next to nothing
	rankedFrom = 0.01
)

// agreement says where processor time, normalized processor time, the path and worth disagree, and why.
func agreement(s *doc.Section, r *critpath.Result) {
	all, npts := 0., 0.
	var procs []*critpath.Entry // those that are worth nothing too
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Kind == critpath.KindProc {
			procs = append(procs, e)
			all, npts = all+float64(e.Work), npts+float64(e.NPT)
		}
	}
	if all == 0 || npts == 0 || r.T == 0 || r.Replay == 0 {
		return
	}
	type ranks struct {
		e                       *critpath.Entry
		work, npt, path, weight float64
	}
	var list []ranks
	var ranked [2][]float64
	for _, e := range procs {
		x := ranks{e, float64(e.Work) / all, float64(e.NPT) / npts, float64(e.Self) / float64(r.T), float64(e.Weighted) / float64(r.Replay)}
		if max(x.work, x.weight) > rankedFrom {
			ranked[0], ranked[1] = append(ranked[0], x.work), append(ranked[1], x.weight)
		}
		if d := x.work - x.weight; max(d, -d) > apartFrom {
			list = append(list, x)
		}
	}
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(a, b ranks) int {
		return cmp.Compare(max(b.work-b.weight, b.weight-b.work), max(a.work-a.weight, a.weight-a.work))
	})
	s.Say("What has most processor time, as a profile shows it, need not be worth most (Kendall's tau of the two orders: %.2f). The shares of these differ most:", stats.Kendall(ranked[0], ranked[1]))
	t := doc.NewTable("name", "processor time", "npt", "path", "worth", "why").Left(5)
	for _, x := range list[:min(len(list), mostApart)] {
		percent := func(share float64) doc.Cell { return estimate(x.e, doc.Cell{Text: fmt.Sprintf("%.1f %%", 100*share)}) }
		why := "it runs beside others, and they share the processors"
		switch {
		case x.work > x.weight && x.path < nothingOf && x.weight < nothingOf:
			why = "it is not on the path: nobody waits for it to end"
		case x.work > x.weight && x.path < x.work:
			why = "a part of it is done while the run waits for something else"
		case x.weight > x.work:
			why = "others wait while it works"
		}
		t.Row(doc.Name(x.e.Name, loopWidth), percent(x.work), percent(x.npt), percent(x.path), percent(x.weight), why)
	}
	s.Table(t)
}

// mostViews is how many entries of each other kind are shown.
const mostViews = 5

// views adds the same time by other kinds.
func views(s *doc.Section, r *critpath.Result) {
	for _, v := range []struct{ kind, head string }{{critpath.KindSync, "while it was held"}, {critpath.KindGoroutine, "goroutines"}, {critpath.KindLoop, "loop"}} {
		t := doc.NewTable(v.head, "on path", "", "worth", "", "work")
		for _, e := range shown(r, mostViews, v.kind) {
			t.Row(doc.Name(e.Name, loopWidth), doc.Time(e.Self), doc.Share(e.Self, r.T), doc.Time(e.Weighted), doc.Share(e.Weighted, r.Replay), doc.Time(e.Work))
		}
		s.Table(t)
	}
}

// unexplained says that the computed run is not the recorded one, if that matters.
func unexplained(s *doc.Section, ns, of, off int64) {
	const from = 0.02
	if d := float64(ns) / float64(max(of, 1)); d > from || d < -from {
		why := "The difference is not explained, and what follows may be wrong by as much."
		if d > 0 && off > ns/2 {
			why = fmt.Sprintf("Meanwhile other programs, or waits that Go does not know of, kept its running threads from their processors for %s: what follows is about a run without that.", measure.Time(off))
		}
		s.Warn("The run took %s, and the same one computed %s. %s", measure.Time(of), measure.Time(of-ns), why)
	}
}

func processors(n int) string {
	if n == 1 {
		return "1 processor"
	}
	return fmt.Sprintf("%d processors", n)
}
