package correct

import (
	"cmp"
	"fmt"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// procedures says what each procedure's processor time would have been, those first that lose most.
func (c *correction) procedures(r *Result) {
	lo, hi := c.between()
	by := map[trace.PointID]*Procedure{}
	for id := range replay.ContextID(c.p.R.Contexts.Len()) {
		paid, work := c.p.Paid(id)
		if work == 0 {
			continue
		}
		probes := max(0, c.probes[id])
		for _, s := range c.p.Shares(id) {
			if s.Proc == c.p.R.System.Probes {
				continue
			}
			if by[s.Proc] == nil {
				by[s.Proc] = c.named(s.Proc)
			}
			x, share := by[s.Proc], s.Share
			if c.probes[id] >= 0 {
				share /= max(1-probes, 1e-9) // of all but the probes, which are everybody's in proportion
			} else {
				share = 1 // what the events cost is not yet taken out of it
			}
			own := int64(share * float64(work))
			x.Busy += own
			events := int64(share * float64(paid))
			without := func(cost times) int64 { return int64(max(0, c.left(id, own, events, 1, cost))) }
			x.Corrected += without(known)
			x.Lo += without(hi)
			x.Hi += without(lo)
		}
	}
	for _, x := range by {
		if x.Busy > 0 {
			r.Procedures = append(r.Procedures, *x)
		}
	}
	slices.SortFunc(r.Procedures, func(x, y Procedure) int {
		return cmp.Or(cmp.Compare(y.Busy-y.Corrected, x.Busy-x.Corrected), cmp.Compare(x.Name, y.Name),
			cmp.Compare(x.ID, y.ID))
	})
}

func (c *correction) named(proc trace.PointID) *Procedure {
	if proc == trace.NoPoint {
		return &Procedure{ID: "no procedure", Name: "[no procedure]"}
	}
	pt := &c.p.R.T.Points[proc]
	if c.p.R.IsSystem(proc) {
		return &Procedure{ID: pt.Name, Name: pt.Name}
	}
	return &Procedure{ID: fmt.Sprintf("%016x", pt.ID), Name: pt.Name}
}
