package predict_test

import (
	"strings"
	"testing"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace/tracetest"
)

// TestCounted: the waits for a lock whose operations were not events are not known on more
// processors. Four goroutines hold it for 3 of 4 ms, as profiles estimate: on four processors the
// run takes between 4 ms and the sum of all holds, on the recorded one there is no doubt.
func TestCounted(t *testing.T) {
	t.Parallel()
	var threads []tracetest.Thread
	for range 4 {
		threads = append(threads, tracetest.Thread{Name: "main.worker",
			Ops: []tracetest.Op{work("inside", 3), work("outside", 1)}})
	}
	b := tracetest.New(1)
	p, _, err := steps.Build(tracetest.SimulateOn(b, threads).Trace(), steps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	held := []predict.Held{{Name: "main.mu", Ops: 80, Counted: 60, Objects: 1, Hold: 12 * ms, Most: 14 * ms}}
	r := predict.New(p, predict.Ask{Procs: []int{1, 4}, Policy: sim.Sharing, Held: held})
	if one := r.Runs[0]; one.T != 16*ms || one.Hi != one.T {
		t.Errorf("on one processor it takes %d, up to %d, expected 16 ms", one.T, one.Hi)
	}
	if four := r.Runs[1]; four.T != 4*ms || four.Lo > 4*ms || four.Hi < 13*ms || four.Hi > 16*ms {
		t.Errorf("on four processors it takes %d, from %d to %d, expected 4 ms, and up to 13 at least", four.T, four.Lo,
			four.Hi)
	}
	if all := strings.Join(r.Remarks.All(), "\n"); !strings.Contains(all,
		"main.mu: 75 % of 80 operations were only counted") {
		t.Errorf("the notes do not name the lock:\n%s", all)
	}
}

// Of a lock of which much was only counted no gain is known, and without its hold time the interval
// on more processors goes up to the time on one.
func TestHoldNotKnown(t *testing.T) {
	t.Parallel()
	p := built(t, convoy(8, 50, 4, 1))
	w, err := predict.ParseWhatIf("hold:main.mu=-10%")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Check(p); err != nil {
		t.Fatal(err)
	}
	for counted, known := range map[uint64]bool{8: true, 300: false} {
		held := []predict.Held{{Name: "main.mu", Ops: 800, Counted: counted, Objects: 1}}
		r := predict.New(p, predict.Ask{Procs: []int{8, 16}, Policy: sim.Sharing, Held: held,
			WhatIf: []predict.WhatIf{w}})
		if (r.WhatIf[0].Unknown == "") != known {
			t.Errorf("%d of 800 operations counted: found %+v", counted, r.WhatIf[0])
		}
		if more := r.Runs[1]; (more.Hi >= r.T1) == known {
			t.Errorf("%d of 800 operations counted: on 16 processors it takes %d, %d at most, on one %d", counted, more.T,
				more.Hi, r.T1)
		}
	}
}
