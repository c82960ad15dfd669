package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
)

// mostServed is how many kinds of requests the page has, and mostSlow how many parts of the
// slowest.
const (
	mostServed = 5
	mostSlow   = 2
)

// requests shows the requests that the program served, or other work that it named, and what the
// slowest of them do.
func (pg *page) requests() {
	p := pg.f.Program
	if p == nil {
		return
	}
	list := slices.DeleteFunc(critpath.NewRequests(p).Requests,
		func(r critpath.Requests) bool { return r.Kind == steps.RequestTest })
	if len(list) == 0 {
		return
	}
	t := doc.NewTable("request", "kind", "number", "median", "p99", "the slowest hundredth is").Left(1, 5)
	for _, q := range list[:min(mostServed, len(list))] {
		t.Row(doc.Name(q.Name, nameWidth), q.Kind, measure.Count(q.Number), doc.Time(q.P50), doc.Time(q.P99),
			slowest(p, q.Name))
	}
	s := pg.Add("requests", "Requests, by time in all")
	s.Table(t)
	if len(list) > mostServed {
		s.Say("and %d others: qinst critical -requests", len(list)-mostServed)
	}
}

// slowest names what has most of the paths of the slowest hundredth of some requests.
func slowest(p *steps.Program, name string) string {
	r, err := critpath.NewRequest(p, name)
	if err != nil {
		return ""
	}
	all := int64(0)
	entries := slices.DeleteFunc(slices.Clone(r.Entries), func(e critpath.Entry) bool {
		return e.Kind != critpath.KindProc && e.Kind != critpath.KindWait
	})
	for i := range entries {
		all += entries[i].Tail
	}
	slices.SortStableFunc(entries, func(a, b critpath.Entry) int { return cmp.Compare(b.Tail, a.Tail) })
	var parts []string
	for _, e := range entries[:min(mostSlow, len(entries))] {
		if e.Tail > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", measure.Visible(e.Name), measure.Percent(e.Tail, all)))
		}
	}
	return strings.Join(parts, ", ")
}
