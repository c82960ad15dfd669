package profile

import (
	"cmp"
	"slices"
)

// Wait is the time that goroutines waited for one reason.
type Wait struct {
	Reason string `json:"reason"`
	Time   int64  `json:"time_ns"`
}

// Waited is an object, with the reason, that a procedure's goroutines waited for.
type Waited struct {
	Object string `json:"object"`
	Reason string `json:"reason"`
	Time   int64  `json:"time_ns"`
}

func sortWaited(list []Waited) {
	slices.SortFunc(list, func(x, y Waited) int {
		return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Object, y.Object), cmp.Compare(x.Reason, y.Reason))
	})
}

func parts(m map[string]int64) []Wait {
	var list []Wait
	for name, ns := range m {
		if ns != 0 {
			list = append(list, Wait{Reason: name, Time: ns})
		}
	}
	slices.SortFunc(list, func(x, y Wait) int {
		return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Reason, y.Reason))
	})
	return list
}
