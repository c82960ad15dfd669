package replay

import (
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Hides returns the procedures that call some with some that are not calls have events, or may, as
// degraded tells of a point: where no sample says more, what these do seems to be done by their
// callers. Of no procedure these are what goroutines start with.
func Hides(t *trace.Tables, degraded func(*trace.Point) bool) map[trace.PointID]bool {
	points, hidden := t.Points, map[string]bool{}
	for i := range points {
		if p := &points[i]; p.Kind == spec.PointProc && degraded(p) {
			hidden[p.Name] = true
		}
	}
	if len(hidden) == 0 {
		return nil
	}
	hides := map[trace.PointID]bool{}
	for i := range points {
		p := &points[i]
		switch {
		case p.Kind == spec.PointCall && (p.Name == "" || hidden[p.Name]) && t.Hits(trace.PointID(i)).Value > 0:
			hides[p.Owner] = true
		case p.Kind == spec.PointGo && (p.Name == "" || hidden[p.Name]):
			hides[trace.NoPoint] = true
		}
	}
	return hides
}
