package predict_test

import (
	"strings"
	"testing"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace/tracetest"
)

// A wait for the network may be for another goroutine of the program: a change may gain as much as
// such waits are worth. No goroutine ends a timer.
func TestNetworkMayBeOurs(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"IO wait", "sleep"} {
		b := tracetest.New(1)
		work := b.Proc("main.work")
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		b.Enter(main, work)
		b.At(20*ms).Wait(main, reason, 0, 0)
		if b.At(90 * ms); reason == "IO wait" {
			b.Netpoll(main)
		} else {
			b.UnparkLate(main, 0)
		}
		b.Start(main, 0)
		b.At(100*ms).Exit(main, work)
		b.End(main)
		p, _, err := steps.Build(b.Trace(), steps.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w, err := predict.ParseWhatIf("main.work=-10%")
		if err != nil {
			t.Fatal(err)
		}
		r := predict.New(p, predict.Ask{Procs: []int{1}, Policy: sim.Sharing, WhatIf: []predict.WhatIf{w}})
		c, most, noted := r.WhatIf[0], 3., false
		if reason == "IO wait" {
			most = 73
		}
		for _, n := range r.Remarks.All() {
			noted = noted || strings.HasPrefix(n, "for 70.0% of the computed run goroutines wait for the network")
		}
		if c.GainPct < 2.9 || c.GainPct > 3.1 || c.HiPct < most-1 || c.HiPct > most+1 ||
			noted != (reason == "IO wait") {
			t.Errorf("%s: gain %v %%, at most %v, noted %v in %q; expected 3 %%, at most %v", reason, c.GainPct,
				c.HiPct, noted, r.Remarks.All(), most)
		}
	}
}
