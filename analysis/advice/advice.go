package advice

import (
	"strings"

	"qinst.dev/analysis/profile"
	"qinst.dev/internal/measure"
)

// rule finds conclusions of one kind.
type rule func(*profile.Profile) []Item

// rules are asked in this order: those first that name what to change.
var rules = []rule{serialRuns, locks, barriers, buffers, imbalance, starvation, turns, idleness, spinning, operations, collector, serialProcs, alone, unprobed, ready, saturated}

// Of returns the conclusions that a profile supports, those first that name what to change.
func Of(p *profile.Profile) (list []Item) {
	if p.Goroutines == 0 && len(p.Parallelism) < 2 {
		return nil // it only counted
	}
	for _, r := range rules {
		list = append(list, r(p)...)
	}
	return list
}

// Texts are the texts of conclusions, but for remarks.
func Texts(list []Item) (texts []string) {
	for i := range list {
		if !list[i].Remark {
			texts = append(texts, list[i].Text)
		}
	}
	return texts
}

// serial reports whether everything ran alone: then it is no news of any procedure.
func serial(p *profile.Profile) bool {
	return measure.Ratio(p.Busy, p.NPTSum) < serialRun.value() && p.Procs > 1
}

// isWritten reports whether an entry is a procedure that somebody wrote: not the runtime's
// work, the tool's, or nobody's.
func isWritten(e *profile.Entry) bool {
	return e.Kind == profile.KindProc && e.ID != profile.NoProcedure && !strings.HasPrefix(e.Name, "[")
}

// unused is the time in which some processor had nothing to do while others worked.
func unused(p *profile.Profile) int64 {
	if len(p.Parallelism) <= p.Procs {
		return p.Wall - p.Idle
	}
	return p.Wall - p.Idle - p.Parallelism[p.Procs]
}
