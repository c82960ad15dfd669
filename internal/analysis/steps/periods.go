package steps

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// inPeriods adds work to those periods for which the trace tells what was counted.
func (b *builder) inPeriods(at replay.ContextID, from, to trace.Time) {
	p := &b.r.T.Periods
	for int(at) >= len(b.p.Periods) {
		b.p.Periods = append(b.p.Periods, nil)
	}
	if b.p.Periods[at] == nil {
		b.p.Periods[at] = make([]float64, p.N)
	}
	p.Spread(b.p.Periods[at], from, to, float64(to-from))
}
