package report

import (
	"cmp"
	"fmt"
	"slices"

	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

// pointName names a loop by its procedure, and an operation by its object.
func (pg *page) pointName(i trace.PointID) string {
	switch p := &pg.t.Points[i]; {
	case p.Kind == spec.PointLoop && p.Owner >= 0:
		return pg.t.Points[p.Owner].Name + ": " + p.Name
	case p.Kind == spec.PointSync:
		return p.Name + " " + p.Op
	default:
		return p.Name
	}
}

// extensions shows what extensions took out, and made of it.
func (pg *page) extensions() error {
	if len(pg.t.Extensions) == 0 {
		return nil
	}
	tb := &table{left: map[int]bool{5: true}}
	tb.row("extension", "shown", "took out", "records made", "took", "")
	for _, e := range pg.t.Extensions {
		tb.row(e.Name, count(e.Seen), count(e.Dropped), count(e.Emitted), dur(e.Took), e.Failed)
	}
	if err := tb.write(pg.w, "  "); err != nil {
		return err
	}
	var reduced uint64
	for i := range pg.t.Points {
		reduced += pg.t.Points[i].Reduced
	}
	if reduced > 0 {
		pg.say("  %s activations and records are not in these numbers: extensions took them out", count(reduced))
	}
	if len(pg.t.Own) == 0 {
		return nil
	}
	pg.say("  what they made of them:")
	made := &table{left: map[int]bool{1: true}}
	for _, o := range pg.t.Own {
		made.row(count(o.N), fmt.Sprintf("qinst dump -only=%q %s", o.Name, pg.t.Path))
	}
	return made.write(pg.w, "  ")
}

// levels shows the points that were not traced all the time: how each of their hits
// was recorded, and why.
func (pg *page) levels() error {
	t := pg.t
	last, changes := map[trace.PointID]*trace.LevelChange{}, map[trace.PointID]int{}
	for i := range t.Levels {
		c := &t.Levels[i]
		last[c.Point] = c
		changes[c.Point]++
	}
	if len(last) == 0 {
		return nil
	}
	points := make([]trace.PointID, 0, len(last))
	unknown, calls := 0, 0
	for i := range last {
		p := &t.Points[i]
		if p.Off {
			unknown++
		}
		if p.Kind == spec.PointCall || p.Kind == spec.PointGo {
			calls++ // not traced anyway
			continue
		}
		points = append(points, i)
	}
	slices.SortFunc(points, func(a, b trace.PointID) int {
		return cmp.Or(cmp.Compare(t.Points[b].Hits, t.Points[a].Hits), cmp.Compare(a, b))
	})
	tb := &table{left: map[int]bool{8: true}}
	tb.row("not always traced", "hits", "traced", "timed", "counted", "mean", "most", "changes", "at the end")
	for _, i := range points[:min(len(points), top)] {
		p := &t.Points[i]
		mean, most := "", ""
		if n := p.Timed(); n > 0 {
			mean, most = dur(p.Times.Took/int64(n)), dur(p.Times.Most)
		}
		hits := count(p.Hits)
		if p.Off {
			hits += "+"
		}
		tb.row(short(pg.pointName(i), loopWidth), hits, count(p.Traced), count(p.Timed()), count(p.Degraded()-min(p.Timed(), p.Degraded())), mean, most,
			count(changes[i]), fmt.Sprintf("%s (%s, %.3g/s)", last[i].New, last[i].Reason, last[i].Rate))
	}
	if n := len(points) - top; n > 0 {
		tb.row(fmt.Sprintf("and %d more", n))
	}
	if len(points) > 0 {
		if err := tb.write(pg.w, "  "); err != nil {
			return err
		}
	}
	if unknown > 0 {
		pg.say("  %d points, %d of them calls, were off for a time: how often they were reached then is not known", unknown, calls)
	}
	return nil
}
