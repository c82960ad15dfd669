package predict_test

import (
	"math"
	"testing"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace/tracetest"
)

// TestMemory: a procedure works for 60 ms of 100 on the only processor, the collector for 20. The
// procedure takes a share of the memory. Half as much work gains 30 %, and as much more as the
// collector then works less.
func TestMemory(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		own, other uint64
		scale      string
		gain, more float64
	}{{3000, 1000, "-50%", 30, 7.5}, {0, 1000, "-50%", 30, 0}, {1000, 0, "+50%", -30, -10}} {
		b := tracetest.New(1)
		work := b.Proc("main.work")
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		b.Enter(main, work)
		if x.own > 0 {
			b.Alloc(main, x.own, b.Stack("runtime.mallocgc", "main.leaf", "main.work", "main.main"))
		}
		b.At(60*ms).Exit(main, work)
		b.Alloc(main, x.other+1, b.Stack("runtime.mallocgc", "main.main"))
		b.At(80 * ms)
		collector := b.Go(main, "runtime.gcBgMarkWorker")
		b.Wait(main, "chan receive", 0, 0)
		b.Start(collector, 0)
		b.At(100*ms).Unpark(collector, main)
		b.End(collector)
		b.Start(main, 0)
		b.End(main)
		p, _, err := steps.Build(b.Trace(), steps.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w, err := predict.ParseWhatIf("main.work=" + x.scale)
		if err != nil {
			t.Fatal(err)
		}
		c := predict.New(p, predict.Ask{Procs: []int{1}, Policy: sim.Sharing, WhatIf: []predict.WhatIf{w}}).WhatIf[0]
		off := math.Min(c.HiPct-c.GainPct, c.GainPct-c.LoPct) // without regard to memory
		more := c.HiPct - c.GainPct - off
		if x.more < 0 {
			more = c.LoPct - c.GainPct + off
		}
		if math.Abs(c.GainPct-x.gain) > 0.1 || math.Abs(more-x.more) > 0.1 {
			t.Errorf("%d bytes of %d, %s: gain %v %%, and %v more; expected %v and %v", x.own, x.own+x.other, x.scale,
				c.GainPct, more, x.gain, x.more)
		}
	}
}
