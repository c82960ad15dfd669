package predict_test

import (
	"testing"

	"qinst.dev/cmd/internal/analysis/predict"
)

// A run whose operations and tokens together demand what cannot be keeps the order of the recorded run, and ends when all is done.
func TestStandstill(t *testing.T) {
	t.Parallel()
	p := writeWith(map[string]int{"ch": 1},
		[]op{signal("ch"), do("main", 10), signal("ch"), give(1), take(2)},
		[]op{take(1), wait("ch"), do("other", 10), give(2)},
	)
	p.Tokens, p.Last = 3, 0
	for _, policy := range predict.Policies {
		for procs := 1; procs <= 2; procs++ {
			if r := predict.Simulate(p.Program, predict.Options{Procs: procs, Policy: policy}); r.T != 20 || r.Forced != 0 || !r.Ends {
				t.Errorf("%s on %d: it takes %v, and %d goroutines were forced to go on; expected 20", policy, procs, r.T, r.Forced)
			}
		}
	}
}
