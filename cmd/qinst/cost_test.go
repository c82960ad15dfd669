package main

import (
	"fmt"
	"testing"

	"qinst.dev/internal/lab"
)

// A cost is the median of differences within turns: a machine that is slower for a turn is so for
// both sides.
func TestCostReport(t *testing.T) {
	t.Parallel()
	c := &costRuns{times: map[string]map[costKey][]float64{}}
	for _, mode := range []string{"plain", "off", "count", "sample", "time", "trace"} {
		c.times[mode] = map[costKey][]float64{}
	}
	for turn, slow := range []float64{0, 100, 1} {
		for mode, ns := range map[string]float64{"plain": 2, "off": 2.5, "count": 4} {
			out := fmt.Sprintf("clock 1 %g\ndrive 1 %g\n", 10+slow, ns+slow)
			if err := c.add(lab.Result{Case: mode, Round: turn, Stdout: []byte(out)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := c.report()
	if r.ClockNS != 11 || r.CallNS != 3 || len(r.Entries) == 0 {
		t.Fatalf("%+v, expected 11 ns a reading, 3 a call, and entries", r)
	}
	want := map[string]float64{"off": 0.5, "count": 2}
	for _, e := range r.Entries {
		if ns, ok := want[e.Mode]; ok && (e.PairNS != ns || e.CallNS != 3 || e.Ratio != round(ns/22)) {
			t.Errorf("%+v, expected %g ns more than 3", e, ns)
		}
	}
	for _, bad := range []string{"drive 1", "drive one 3", "drive 1 three"} {
		if err := c.add(lab.Result{Case: "plain", Stdout: []byte(bad)}); err == nil {
			t.Errorf("%q is taken for a time", bad)
		}
	}
}
