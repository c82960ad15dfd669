package trace

import "qinst.dev/ratecontrol"

// PointsNamed returns the points whose name a pattern matches: * stands for any
// characters, all else for itself.
func (t *Tables) PointsNamed(pattern string) map[PointID]bool {
	found := map[PointID]bool{}
	for i := range t.Points {
		if ratecontrol.Matches(pattern, t.Points[i].Name) {
			found[PointID(i)] = true
		}
	}
	return found
}
