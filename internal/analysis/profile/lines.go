package profile

import (
	"cmp"
	"slices"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// WaitLines returns the places where goroutines waited: each call in the stacks of the waits, as
// deep as those were recorded. They are sorted by file, line and function.
func (p *Profile) WaitLines() []LineWait {
	sum := map[trace.Frame]int64{}
	for _, q := range p.Parts() {
		for f, ns := range q.built.objects.lines {
			sum[f] += ns
		}
	}
	var list []LineWait
	for f, ns := range sum {
		list = append(list, LineWait{f, ns})
	}
	slices.SortFunc(list, func(x, y LineWait) int {
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Function, y.Function))
	})
	return list
}

// Inlined are the procedures without probes, which have no entries, in which there are places at
// which goroutines may wait, or calls: the compiler inlines them. They are sorted by name.
func (p *Profile) Inlined() []Entry {
	var list []Entry
	for _, q := range p.Parts() {
		for i := range q.built.r.T.Points {
			if pt := &q.built.r.T.Points[i]; pt.Kind == spec.PointFunc && pt.File != "" {
				list = append(list, Entry{Kind: KindProc, Name: pt.Name, File: pt.File, Line: pt.Line})
			}
		}
	}
	slices.SortFunc(list, func(x, y Entry) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
	})
	return slices.CompactFunc(list, func(x, y Entry) bool { return x.Name == y.Name })
}
