package report

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// A line of the profile is kept if it has this share of the busy time: users will look at it.
// And a list that is longer is no remedy.
const (
	remedyKeeps = 0.10
	remedyMost  = 8
)

// RemedyFor returns the procedures to leave out so that counting is within the budget, or nearly,
// nil if that is not needed or nothing would help.
func RemedyFor(t *trace.Trace, p *profile.Profile) *Remedy {
	cpu, budget, c := p.CPU.User+p.CPU.System, t.Int("budget_permille"), &p.Tool.Cost
	counting := c.Counted.Cost + c.InPlace.Cost + c.Tests.Cost
	if most := cpu * budget / 1000; budget <= 0 || counting <= most || cpu == 0 {
		return nil
	}
	paid, all := paidFor(t)
	r := &Remedy{}
	left := all
	for _, name := range dearest(paid, kept(p, func(e *profile.Entry) bool {
		return measure.Ratio(e.SelfBusy,
			p.Busy) >= remedyKeeps
	})) {
		if float64(left)*float64(counting) <= float64(all)*float64(cpu*budget/1000) || len(r.Without) == remedyMost ||
			50*paid[name] < all {
			break
		}
		r.Without = append(r.Without, name)
		left -= min(left, paid[name])
	}
	if len(r.Without) == 0 {
		return nil
	}
	r.Left = measure.Ratio(counting, cpu) * float64(left) / float64(all)
	return r
}

// paidFor returns the cost of counting for each procedure, in hits: of its own points, and of calls
// of it.
func paidFor(t *trace.Trace) (paid map[string]uint64, all uint64) {
	paid = map[string]uint64{}
	for i := range t.Points {
		p := &t.Points[i]
		n := p.Counts(trace.PointID(i))
		if n == 0 || p.Kind == spec.PointFunc || p.Kind == spec.PointSite || p.Kind == spec.PointSync {
			continue // information about synchronization is worth its price
		}
		all += n
		of := p
		if o := int(p.Owner); p.Kind != spec.PointCall && o >= 0 && o < len(t.Points) {
			of = &t.Points[o]
		}
		paid[of.Name] += n // a call counts for its callee
	}
	return paid, all
}

// dearest sorts procedures, those that cost most first, without those that a reader wants to see.
func dearest(paid map[string]uint64, keep []*profile.Entry) (names []string) {
	for name := range paid {
		wanted := slices.ContainsFunc(keep, func(e *profile.Entry) bool { return e.Name == name })
		if name != "" && name != "main.main" && !wanted {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(paid[b], paid[a]), cmp.Compare(a, b)) })
	return names
}

// kept returns the entries for which want is true.
func kept(p *profile.Profile, want func(*profile.Entry) bool) (list []*profile.Entry) {
	for i := range p.Entries {
		if e := &p.Entries[i]; want(e) {
			list = append(list, e)
		}
	}
	return list
}

// Remedy are the procedures to leave out of a program in which counting costs too much, and the
// cost of counting then.
type Remedy struct {
	Without []string // procedures that cost much and show little
	Left    float64  // share of the processor time that counting would take
}
