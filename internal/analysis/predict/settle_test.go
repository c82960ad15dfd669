package predict_test

import (
	"math/rand/v2"
	"testing"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace/tracetest"
)

// TestSettleEnds: where a computed run stands still although no object is left to give up, that
// ends, and objects that did not determine waits before do not do so after it.
func TestSettleEnds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	stood := 0
	for range tracetest.Cases(2000) {
		p, _, err := steps.Build(tracetest.Random(r.IntN).Trace(), steps.Options{})
		if err != nil {
			t.Fatal(err)
		}
		kept := map[int]bool{}
		for i := range p.Objects {
			if kept[i] = !p.Objects[i].Free || r.IntN(2) == 0; kept[i] {
				p.Objects[i].Free = false
			}
		}
		if predict.Settle(p, nil) {
			stood++
		}
		for i := range kept {
			if kept[i] && p.Objects[i].Free {
				t.Fatal("an object whose operations are not all known determines waits")
			}
		}
	}
	if stood == 0 {
		t.Error("no run stood still")
	}
}
