package advice

import (
	"testing"

	"qinst.dev/internal/analysis/profile"
)

// TestUsedTimes: estimates and lower bounds are marked.
func TestUsedTimes(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]profile.Object{
		"500":  {Ops: 1000},
		"~500": {Ops: 1000, OpsLo: 900, OpsHi: 1100},
		"≥500": {Ops: 1000, OpsLo: 1000},
	} {
		if got := usedTimes(&o, 2); got != want {
			t.Errorf("%+v: %s, expected %s", o.Used(), got, want)
		}
	}
}
