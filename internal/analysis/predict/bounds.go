package predict

import (
	"cmp"
	"fmt"
	"slices"
)

// Whatever a program does, a run on P processors takes no less than a part in P of the run on one,
// and no less than the run on any number; no change gains more than the run; and the more a change
// takes away, the more it gains. Figures that break a bound are of runs that the program cannot
// have: operations are missing in the trace. They are not given.

// slip is by how much computed times may miss a bound, as a share, without being doubted: policies
// are no optimal ones, and Go's has chance.
const slip = 0.02

// bound takes out the times that break a bound, and corrects those that nearly do.
func (r *Result) bound() {
	for i := range r.Runs {
		of := &r.Runs[i]
		least := float64(r.T1) / float64(of.Procs)
		switch {
		case of.Unknown || float64(of.T) >= least:
			continue
		case float64(of.T) >= (1-slip)*least:
			of.T, of.Hi = round(least), max(of.Hi, round(least))
			of.Speedup = float64(of.Procs)
			continue
		}
		r.Remarks.Note("the computed run on %d processors is more than %d times as fast as on one, which cannot be: operations are missing in the trace, and how long the run takes there is not known", of.Procs, of.Procs)
		*of = Of{Procs: of.Procs, Unknown: true}
	}
	for i := range r.Runs {
		if of := &r.Runs[i]; !of.Unknown && r.TInf > 0 {
			r.TInf = min(r.TInf, of.T)
		}
	}
}

// boundGains takes out gains that break a bound.
func (r *Result) boundGains(changes []WhatIf) {
	type subject struct {
		kind  *changeKind
		name  string
		procs int
	}
	type gain struct {
		scale float64
		c     *Change
	}
	groups := map[subject][]gain{}
	for i := range r.WhatIf {
		c := &r.WhatIf[i]
		k := slices.IndexFunc(changes, func(w WhatIf) bool { return w.Text == c.Change })
		if c.Unknown != "" || k < 0 {
			continue
		}
		if c.T < 0 {
			c.refuse("the computed gain is more than the run, which cannot be")
		} else if w := changes[k].of[0]; len(changes[k].of) == 1 && w.kind.share {
			s := subject{w.kind, w.name, c.Procs}
			groups[s] = append(groups[s], gain{w.scale, c})
		}
	}
	for s, list := range groups {
		slices.SortStableFunc(list, func(a, b gain) int { return cmp.Compare(b.scale, a.scale) })
		for i := range list[1:] {
			if less, more := list[i].c, list[i+1].c; more.HiPct < less.LoPct {
				for _, g := range list {
					g.c.refuse(fmt.Sprintf("less work in %s is computed to gain more than still less work does, which cannot be", s.name))
				}
				break
			}
		}
	}
}

// refuse takes the figures of a change out.
func (c *Change) refuse(why string) {
	*c = Change{Change: c.Change, Procs: c.Procs, T: c.T + c.Gain, Unknown: why}
}
