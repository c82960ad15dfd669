package report

import (
	"cmp"
	"fmt"
	"slices"

	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// extensions shows how many events extensions dropped, and the records they made.
func (pg *page) extensions(s *doc.Section) {
	if len(pg.t.Extensions) == 0 {
		return
	}
	tb := doc.NewTable("extension", "shown", "took out", "records made", "took", "").Left(5)
	for _, e := range pg.t.Extensions {
		tb.Row(e.Name, doc.Count(e.Seen), doc.Count(e.Dropped), doc.Count(e.Emitted), doc.Time(e.Took), e.Failed)
	}
	s.Table(tb)
	var reduced uint64
	for i := range pg.t.Points {
		reduced += pg.t.Points[i].Reduced
	}
	if reduced > 0 {
		s.Say("%s activations and records are not in these numbers: extensions took them out", measure.Count(reduced))
	}
	if len(pg.t.Own) == 0 {
		return
	}
	s.Say("what they made of them:")
	made := doc.NewTable().Left(1)
	for _, o := range pg.t.Own {
		made.Row(doc.Count(o.N), fmt.Sprintf("qinst dump -only=%q %s", o.Name, pg.t.File.Path))
	}
	s.Table(made)
}

// levels shows the points that were not traced all the time: how each of their hits was recorded,
// and the reasons.
func (pg *page) levels(s *doc.Section) {
	t := pg.t
	last, changes := map[trace.PointID]*trace.LevelChange{}, map[trace.PointID]int{}
	for i := range t.Levels {
		c := &t.Levels[i]
		if c.Reason == spec.ReasonBurst {
			continue
		}
		last[c.Point] = c
		changes[c.Point]++
	}
	if len(last) == 0 {
		return
	}
	points := make([]trace.PointID, 0, len(last))
	unknown, calls := 0, 0
	for i := range last {
		p := &t.Points[i]
		if p.Off {
			unknown++
		}
		if p.Kind == spec.PointCall || p.Kind == spec.PointGo {
			calls++ // not traced in any case
			continue
		}
		points = append(points, i)
	}
	slices.SortFunc(points, func(a, b trace.PointID) int {
		return cmp.Or(cmp.Compare(t.Points[b].Hits, t.Points[a].Hits), cmp.Compare(a, b))
	})
	tb := doc.NewTable("not always traced", "hits", "traced", "timed", "counted", "mean", "most", "changes",
		"at the end").Left(8)
	for _, i := range points[:min(len(points), top)] {
		tb.Row(append(pg.recorded(i), measure.Count(changes[i]),
			fmt.Sprintf("%s (%s, %.3g/s)", last[i].New, last[i].Reason, last[i].Rate))...)
	}
	if n := len(points) - top; n > 0 {
		tb.Row(fmt.Sprintf("and %d more", n))
	}
	s.Table(tb)
	if unknown > 0 {
		s.Say("%d points, %d of them calls, were off for a time: how often they were reached then is not known",
			unknown, calls)
	}
}

// recorded are the cells of a point: its hits by how they were recorded, and how long timed ones
// took.
func (pg *page) recorded(i trace.PointID) []any {
	p := &pg.t.Points[i]
	mean, most := "", ""
	if n := p.Timed(); n > 0 {
		mean, most = measure.Time(p.Times.Took/int64(n)), measure.Time(p.Times.Most)
	}
	all := pg.t.Hits(i)
	reached, told := hits(all), p.Traced+p.Timed()
	// the rest, so that the columns add up
	counted := all.Mark() + measure.Count(all.Shown()-min(told, all.Shown()))
	if p.Off {
		reached, counted = reached+"+", counted+"+"
	}
	return []any{measure.Short(pg.t.OperationOf(i), loopWidth), reached, measure.Count(p.Traced),
		measure.Count(p.Timed()), counted, mean, most}
}
