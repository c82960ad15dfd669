package profile

import (
	"cmp"
	"slices"

	"qinst.dev/cmd/internal/trace"
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
