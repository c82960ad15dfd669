package trace

import (
	"maps"
	"slices"

	"qinst.dev/internal/names"
	"qinst.dev/ratecontrol"
	"qinst.dev/sddf/spec"
)

// PointsNamed returns the points whose name matches a pattern, in which * stands for any
// characters, or the ones that it means as [names.Find] has it.
func (t *Program) PointsNamed(pattern string) (map[PointID]bool, error) {
	if found := t.pointsMatching(pattern); len(found) > 0 {
		return found, nil
	}
	of := map[string][]PointID{}
	for i := range t.Points {
		id := PointID(i)
		of[t.NameOf(id)] = append(of[t.NameOf(id)], id)
		if t.Points[i].Kind == spec.PointSync {
			of[t.OperationOf(id)] = append(of[t.OperationOf(id)], id)
		}
	}
	name, err := names.Find(pattern, "point", slices.Sorted(maps.Keys(of)))
	if err != nil {
		return nil, err
	}
	found := map[PointID]bool{}
	for _, id := range of[name] {
		found[id] = true
	}
	return found, nil
}

// OperationOf is the name of a point with what it does with its object.
func (t *Program) OperationOf(id PointID) string {
	if p := &t.Points[id]; p.Kind == spec.PointSync {
		return p.Name + " " + p.Op
	}
	return t.NameOf(id)
}

func (t *Program) pointsMatching(pattern string) map[PointID]bool {
	found := map[PointID]bool{}
	for i := range t.Points {
		if ratecontrol.Matches(pattern, t.Points[i].Name) || ratecontrol.Matches(pattern, t.NameOf(PointID(i))) {
			found[PointID(i)] = true
		}
	}
	return found
}
