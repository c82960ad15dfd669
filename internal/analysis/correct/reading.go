package correct

import (
	"qinst.dev/internal/analysis/price"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// read reads a trace.
func read(source trace.Source, o Options) (*correction, *trace.Losses, error) {
	c := &correction{o: o, measured: float64(source.Wall()),
		pricing: pricing{prices: price.Of(source.Tables()), factor: 1, spread: price.Spread}}
	p, losses, err := steps.Build(source, steps.Options{Price: c.pays})
	if err != nil {
		return nil, nil, err
	}
	c.p = p
	if o.Receive == Preserve {
		p.KeepReceives()
	}
	c.countedText()
	c.mend()
	c.fit()
	c.inPeriods()
	if c.known() {
		c.explain()
	}
	return c, &losses, nil
}
