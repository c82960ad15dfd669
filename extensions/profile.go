package extensions

import (
	"slices"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// ProcedureProfile describes a procedure instead of its entries and exits: one record each, at
// the end.
type ProcedureProfile struct {
	Procedure uint32 `sddf:"procedure,unit=probe"`
	Calls     uint64 `sddf:"calls,doc=that are over"`
	Total     int64  `sddf:"total,unit=ns,doc=time in it and what it called; recursive calls count once"`
	Self      int64  `sddf:"self,unit=ns,doc=without what it called"`
	Least     int64  `sddf:"least,unit=ns,doc=the shortest call"`
	Most      int64  `sddf:"most,unit=ns,doc=the longest"`
}

var procedureProfile = sddf.Define[ProcedureProfile]("procedure profile")

// profiler adds calls up by procedure.
type profiler struct {
	calls Calls
	sums  []procedureSums // by point
}

type procedureSums struct {
	n, total, self, least, most uint64
}

func (p *profiler) Batch(b *Batch) {
	p.calls.Walk(b, p.add)
	b.dropCalls()
}

func (p *profiler) add(c *Call) {
	s := at(&p.sums, c.Point)
	took := c.End - c.Start
	if s.n == 0 || took < s.least {
		s.least = took
	}
	s.n++
	s.most = max(s.most, took)
	s.self += took - c.Below
	if !c.Recursive {
		s.total += took
	}
}

func (p *profiler) Flush(out *Out, last bool) {
	if !last {
		return
	}
	for i := range p.sums {
		if s := &p.sums[i]; s.n > 0 {
			Emit(out, procedureProfile, ProcedureProfile{uint32(i), s.n, out.Ns(s.total), out.Ns(s.self),
				out.Ns(s.least), out.Ns(s.most)})
		}
	}
}

// at returns element i of a slice that grows on demand. In a damaged file points may have any
// number.
func at[T any](list *[]T, i uint32) *T {
	i = min(i, spec.MaxProbes-1)
	if int(i) >= len(*list) {
		*list = slices.Grow(*list, int(i)+1-len(*list))[:i+1]
	}
	return &(*list)[i]
}
