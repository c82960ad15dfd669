package report

import (
	"cmp"
	"fmt"
	"slices"

	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

// pointName names a loop by its procedure, and an operation by its object.
func (pg *page) pointName(i int32) string {
	switch p := &pg.t.Points[i]; {
	case p.Kind == spec.PointLoop && p.Owner >= 0:
		return pg.t.Points[p.Owner].Name + ": " + p.Name
	case p.Kind == spec.PointSync:
		return p.Name + " " + p.Op
	default:
		return p.Name
	}
}

// levels shows the points that were not traced all the time: how each of their hits
// was recorded, and why.
func (pg *page) levels() error {
	t := pg.t
	last, changes := map[int32]*trace.LevelChange{}, map[int32]int{}
	for i := range t.Levels {
		c := &t.Levels[i]
		last[c.Point] = c
		changes[c.Point]++
	}
	if len(last) == 0 {
		return nil
	}
	points := make([]int32, 0, len(last))
	for p := range last {
		points = append(points, p)
	}
	slices.SortFunc(points, func(a, b int32) int {
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
		tb.row(short(pg.pointName(i), loopWidth), count(p.Hits), count(p.Traced), count(p.Timed()), count(p.Degraded()-min(p.Timed(), p.Degraded())), mean, most,
			count(changes[i]), fmt.Sprintf("%s (%s, %.3g/s)", last[i].New, last[i].Reason, last[i].Rate))
	}
	if n := len(points) - top; n > 0 {
		tb.row(fmt.Sprintf("and %d more", n))
	}
	return tb.write(pg.w, "  ")
}
