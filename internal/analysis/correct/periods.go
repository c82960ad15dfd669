package correct

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// Hits without an event cost a share of the work of procedures. The trace has their number in each
// period, and the work of contexts then. So a procedure that was called often in some period, with
// little work per call, loses more in that period, and less in the others.

// mostDense bounds the ratio of a period's share to the mean, because the work in most periods has
// few samples.
const mostDense = 8

// upTo is how much there is before each part of a list, and before its end.
func upTo(list []float64) []float64 {
	sums := make([]float64, len(list)+1)
	for i, x := range list {
		sums[i+1] = sums[i] + x
	}
	return sums
}

// steps notes when the work of each step began.
func (p *periods) steps(program *steps.Program) {
	p.began = make([]trace.Time, program.Steps.Len())
	for g := range program.Gs {
		at := max(0, program.Gs[g].Created)
		for id := program.Gs[g].First; id != 0; {
			p.began[id] = at
			s := program.Step(id)
			at, id = s.At, s.Next
		}
	}
}

// inStep is how many hits a context had in a step, as dense is.
func (p *periods) inStep(program *steps.Program, id steps.StepID, at replay.ContextID) float64 {
	if p == nil {
		return 1
	}
	s := program.Step(id)
	return p.dense(at, p.began[id], p.began[id]+trace.Time(s.Work))
}

// dense is how many hits a context had between two times for its work there, as a part of its mean.
func (p *periods) dense(id replay.ContextID, from, to trace.Time) float64 {
	if p == nil || int(id) >= len(p.counts) || p.counts[id] == nil {
		return 1
	}
	work := p.of.Between(p.work[id], from, to)
	if work <= 0 {
		return 1
	}
	return p.of.Between(p.counts[id], from, to) / work
}

// periods are the shares of contexts in each period, as parts of their mean.
type periods struct {
	of     *trace.Periods
	work   [][]float64  // by context, up to each period, in ns
	counts [][]float64  // the same, each ns as often as it is of a mean one; nil: the same everywhere
	began  []trace.Time // of each step's work
}
