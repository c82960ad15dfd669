package trace

import "qinst.dev/ratecontrol"

// PointsNamed returns the points whose name a pattern matches: * stands for any
// characters, all else for itself.
func (t *Trace) PointsNamed(pattern string) map[int32]bool {
	found := map[int32]bool{}
	for i := range t.Points {
		if ratecontrol.Matches(pattern, t.Points[i].Name) {
			found[int32(i)] = true
		}
	}
	return found
}
