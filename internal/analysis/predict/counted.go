package predict

import (
	"fmt"
	"math"
	"slices"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
)

// Held is the estimated hold time of the locks of a name, if not all operations on them were
// events.
type Held struct {
	Name         string
	Ops, Counted uint64 // operations, and those of them that were only counted
	Objects      int
	Hold, Most   int64 // ns in all: as estimated, and the upper end of its 95 % interval; 0: not known
}

// partly reports whether the events do not tell what goroutines do while they have it.
func (h *Held) partly() bool { return float64(h.Counted) > mostCounted*float64(h.Ops) }

// mostCounted is the share of a lock's operations that may be no events.
const mostCounted = 0.02

// contended bounds by how much longer a run may take because of locks whose waits are not known:
// they may be as in the recorded run, or all goroutines may wait for one holder of each name.
func contended(p *steps.Program, held []Held, procs int) (ns float64) {
	if procs <= p.Procs {
		return 0 // waits for a processor are longer than for a lock, and these were recorded
	}
	for _, h := range held {
		if h.Most == 0 && h.partly() {
			return math.Inf(1)
		}
		ns += float64(h.Most) / float64(max(1, h.Objects)) * (1 - 1/float64(procs))
	}
	return ns
}

// mostNamed is how many locks a note names.
const mostNamed = 3

// notesOn says which locks those are.
func notesOn(held []Held) (notes []string) {
	list := slices.Clone(held)
	slices.SortStableFunc(list, func(a, b Held) int { return int(min(max(b.Most-a.Most, -1), 1)) })
	for i, h := range list {
		if i == mostNamed {
			return append(notes, fmt.Sprintf("and %d more such locks", len(list)-i))
		}
		long := "for how long it was held is not known"
		if h.Most > 0 {
			long = fmt.Sprintf("it was held for %s, %s at most", measure.Time(h.Hold), measure.Time(h.Most))
		}
		notes = append(notes, fmt.Sprintf("%s: %.0f %% of %d operations were only counted, and %s; the interval for more processors goes up to where only one goroutine at a time has it. QINST=kind:sync=trace records all",
			h.Name, 100*float64(h.Counted)/float64(max(h.Ops, 1)), h.Ops, long))
	}
	return notes
}
