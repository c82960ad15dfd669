package sim

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/steps"
)

// Turns are the places of steps among those on the same object, in the order of the recorded run:
// of the channels and WaitGroups whose operations do not determine who waits for them. A run that
// keeps the recorded waits may let a goroutine receive before what it receives is sent, if it did
// not wait for that in the recorded run. One that takes turns does not, and waits where it need
// not. The program's own run lies between the two.
type Turns struct {
	of map[steps.StepID]int32
}

// NewTurns are those of a program; nil: it has no such objects.
func NewTurns(p *steps.Program) *Turns {
	var list []steps.StepID
	for id := steps.StepID(1); int(id) < p.Steps.Len(); id++ {
		if o := &p.Objects[p.Step(id).Obj]; o.IsKept() && !o.AnyReleases() {
			list = append(list, id)
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b steps.StepID) int { return cmp.Compare(p.Step(a).At, p.Step(b).At) })
	t := &Turns{make(map[steps.StepID]int32, len(list))}
	next := make([]int32, len(p.Objects))
	for _, id := range list {
		obj := p.Step(id).Obj
		t.of[id] = next[obj]
		next[obj]++
	}
	return t
}
