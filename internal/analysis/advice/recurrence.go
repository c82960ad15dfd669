package advice

import (
	"fmt"
	"slices"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
	"qinst.dev/sddf/spec"
)

// recurrentShare is the least share of the run that work is worth which needs its own last result,
// if it decides how long the run is.
const recurrentShare = 0.6

// dividing are the conclusions that ask for work to be divided.
var dividing = []string{"serial-run", "one-processor", "serial-procedure", "one-goroutine"}

// recurrent says of work that cannot be divided that only less of it helps, instead of asking for
// that. It is a remark: a chain of hashes is meant to be one.
func (f *Facts) recurrent(list []Item) []Item {
	divides := func(it Item) bool { return !it.Remark && slices.Contains(dividing, it.ID) }
	if !slices.ContainsFunc(list, divides) {
		return list
	}
	most, _ := f.mostWorth()
	if len(most) == 0 || measure.Ratio(f.worthOf(most[0]), f.Wall) < recurrentShare || !f.isChained(most[0]) {
		return list
	}
	s := f.whose(most[0])
	return append(slices.DeleteFunc(list, divides), Item{ID: "recurrence", Claim: "each step of the work needs the one before",
		Subject: s, Remark: true, Change: LessWork,
		Evidence: []Fact{share("of the run for its own code", measure.Ratio(f.worthOf(most[0]), f.Wall))},
		Text: fmt.Sprintf("The run waits for %s, and each step of it needs the result of the one before: its work cannot be divided, and is done in one goroutine at a time.",
			at(&s))})
}

// lastingLoop is the share of the run that a function takes each time that has a loop whose
// iterations need each other, at least: of shorter ones several may run at once.
const lastingLoop = 0.4

// inChain reports whether most of a procedure's work is a call that is given what it has returned,
// or the procedure is what such a call calls.
func (f *Facts) inChain(e *profile.Entry) bool {
	if f.Program == nil {
		return false
	}
	t := f.Program.R.T
	for i := range t.Points {
		p := &t.Points[i]
		if p.Kind != spec.PointCall || p.Flags&spec.FlagChained == 0 {
			continue
		}
		in := f.written(t.NameOf(p.Owner))
		if in == nil || float64(in.CallBusy) < lastingLoop*float64(f.Wall)*float64(max(1, in.Calls)) {
			continue
		}
		most := len(e.Callees) > 0 && e.Callees[0].In[0] >= 0.5 && e.Callees[0].Line == p.Line
		if in.Name == e.Name && most || p.Name == e.Name && 10*p.Hits >= 9*e.Calls {
			return true
		}
	}
	return false
}

// isChained reports whether a procedure, or the one that it calls for most of its work, is flagged
// so: see [spec.FlagChained].
func (f *Facts) isChained(e *profile.Entry) bool {
	flags := f.flagsOf(e.Name)
	if c := f.worker(e); c != nil {
		flags |= f.flagsOf(c.Name)
	}
	return flags&spec.FlagChained != 0 || f.inChain(e)
}
