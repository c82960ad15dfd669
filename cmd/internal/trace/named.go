package trace

import "qinst.dev/ratecontrol"

// PointsNamed returns the points whose name matches a pattern. * stands for any characters, other
// characters for themselves.
func (t *Tables) PointsNamed(pattern string) map[PointID]bool {
	found := map[PointID]bool{}
	for i := range t.Points {
		if ratecontrol.Matches(pattern, t.Points[i].Name) {
			found[PointID(i)] = true
		}
	}
	return found
}
