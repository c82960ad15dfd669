package correct

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"math"
	"slices"

	"qinst.dev/internal/analysis/price"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// New corrects a trace.
func New(source trace.Source, o Options) (*Result, error) {
	if _, computed := source.Tables().Corrected(); computed {
		return nil, ErrCorrected
	}
	c, losses, err := read(source, o)
	if err != nil {
		return nil, err
	}
	if o.Density != nil {
		if err := c.density(o.Density); err != nil {
			return nil, err
		}
	}
	p := c.p
	r := &Result{Version: Version, Measured: int64(source.Wall()), Off: p.OffCPU, Events: p.R.Events,
		Clamped: p.Clamped, Remarks: steps.Remarks{Warnings: slices.Clone(p.Warnings)}}
	c.costs(r)
	for i := range p.R.T.Points {
		if pt := &p.R.T.Points[i]; pt.Op == spec.OpDefault {
			r.Flagged += pt.Hits
		}
	}
	if c.known() {
		c.times(r)
		c.procedures(r)
	}
	c.doubts(r, losses)
	r.Remarks.Notes = append(r.Remarks.Notes, p.Notes...)
	if o.Out != nil {
		err = c.write(source, r, o.Out)
	}
	return r, err
}

// write writes the trace with corrected times.
func (c *correction) write(source trace.Source, r *Result, to io.Writer) error {
	t, ok := source.(*trace.Trace)
	if !ok || !c.known() {
		return errors.New("the trace tells nothing of goroutines, so that there are no times to correct: it needs events (QINST=mode=trace, as without a setting)")
	}
	var log sim.Log
	c.simulate(c.assumed.cost, c.assumed.handOver, &log)
	left, err := c.rewrite(t, &log, r, to)
	if left > 0 {
		r.Remarks.Note("%d events are not in the corrected trace: their goroutines had not come to them when the program ended", left)
	}
	return err
}

// times computes the run as it would have been.
func (c *correction) times(r *Result) {
	ns := func(t float64) int64 { return int64(math.Round(t)) }
	lo, hi := c.between()
	r.Policy, r.Replay = string(c.policy), ns(c.was)
	models := map[Model]assumption{Optimistic: {hi, func(steps.StepID, float64) float64 { return 0 }},
		Fit: {known, c.fitted()}, Pessimistic: {cost: lo}}
	t := func(m Model) int64 { return ns(c.corrected(models[m].cost, models[m].handOver)) }
	c.assumed = models[cmp.Or(c.o.Model, Fit)]
	fit := t(Fit)
	r.Optimistic, r.Pessimistic = min(fit, t(Optimistic)), max(fit, t(Pessimistic))
	r.Model = map[Model]int64{Optimistic: r.Optimistic, Fit: fit, Pessimistic: r.Pessimistic}[cmp.Or(c.o.Model, Fit)]
}

// textSpread is the standard deviation of the cost of larger text among programs, as a share.
const textSpread = 0.7

// costs lists the costs that were removed, by their cause.
func (c *correction) costs(r *Result) {
	events := 0.
	for k, n := range c.events {
		x, by := c.mended[k], c.factor/c.told
		if x.Each *= by; c.from != "" {
			x.SD, x.From = c.spread/c.factor*x.Each, c.from
		}
		events += float64(n) * x.Each
		r.Costs = append(r.Costs, Cost{price.Kind(k).String(), n, x.Each, x.SD, int64(math.Round(float64(n) * x.Each)),
			x.From})
	}
	counted := 0.
	for _, proc := range slices.Sorted(maps.Keys(c.text)) { // sums depend on the order
		counted += c.text[proc]
	}
	tests := 0.
	for _, proc := range slices.Sorted(maps.Keys(c.tested)) {
		tests += c.tested[proc]
	}
	for _, x := range []struct {
		kind   string
		n      uint64
		ns     float64
		spread float64
		from   string
	}{{"counted", c.counted, counted - tests, price.Spread, price.FromClock},
		{"test", c.tests, tests, price.Spread, price.FromClock},
		{"larger text", c.tests, c.grown, textSpread, "other programs"}} {
		each := max(0, x.ns) / float64(max(1, x.n))
		r.Costs = append(r.Costs, Cost{x.kind, x.n, each, x.spread * each, int64(math.Round(x.ns)), x.from})
	}
	if all := events + counted; all > 0 {
		r.CountedShare = counted / all
	}
}
