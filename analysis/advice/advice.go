package advice

import (
	"strings"

	"qinst.dev/analysis/profile"
	"qinst.dev/internal/measure"
)

// rule finds conclusions of one kind.
type rule func(*profile.Profile) []Item

// rules are applied in this order: those that name a possible change come first.
var rules = []rule{serialRuns, locks, barriers, buffers, imbalance, starvation, turns, idleness, spinning, operations, collector, serialProcs, alone, unprobed, ready, saturated}

// Of returns the conclusions that a profile supports, those that name a possible change first.
func Of(p *profile.Profile) (list []Item) {
	if p.Goroutines == 0 && len(p.Parallelism) < 2 {
		return nil // the run was only counted
	}
	for _, r := range rules {
		list = append(list, r(p)...)
	}
	return list
}

// Texts returns the texts of conclusions other than remarks.
func Texts(list []Item) (texts []string) {
	for i := range list {
		if !list[i].Remark {
			texts = append(texts, list[i].Text)
		}
	}
	return texts
}

// serial reports whether the whole run was serial. Then it is not worth saying so of single
// procedures.
func serial(p *profile.Profile) bool {
	return measure.Ratio(p.Busy, p.NPTSum) < serialRun.value() && p.Procs > 1
}

// isWritten reports whether an entry is a procedure of the source: not work of the runtime or the
// tool, nor time outside any procedure.
func isWritten(e *profile.Entry) bool {
	return e.Kind == profile.KindProc && e.ID != profile.NoProcedure && !strings.HasPrefix(e.Name, "[")
}

// unused returns the time in which some processor was idle while others worked.
func unused(p *profile.Profile) int64 {
	if len(p.Parallelism) <= p.Procs {
		return p.Wall - p.Idle
	}
	return p.Wall - p.Idle - p.Parallelism[p.Procs]
}
