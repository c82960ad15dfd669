package sim_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"qinst.dev/internal/analysis/sim"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

// truth compares a run with its known results. Names without a weight have none.
func truth(t *testing.T, p program, procs int, policy sim.Policy, length float64, slopes map[string]float64) {
	t.Helper()
	r := p.run(procs, policy)
	if !near(r.t, length) {
		t.Errorf("%d processors, %s: found T = %v, expected %v", procs, policy, r.t, length)
	}
	sum := 0.
	for _, w := range r.weights {
		sum += w
	}
	if !near(sum, r.t) {
		t.Errorf("%d processors, %s: the lengths times their weights add up to %v, expected T = %v", procs, policy, sum,
			r.t)
	}
	if slopes == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(r.slopes)) {
		if !near(r.slopes[name], slopes[name]) {
			t.Errorf("%d processors, %s: dT/d(%s) = %v, expected %v", procs, policy, name, r.slopes[name], slopes[name])
		}
	}
}

// figure1 is VPPB's Figure 1.
func figure1() program {
	return write(
		[]op{do("1a", 1), signal("X"), do("1b", 1), wait("Z"), do("1a'", 1)},
		[]op{do("2b", 1), wait("Y"), do("2d", 1), signal("Z")},
		[]op{wait("X"), do("3c", 1), signal("Y"), do("3b", 1)})
}

// V1: on three processors the path is T1 a, T3 c, T2 d, T1 a.
func TestV1(t *testing.T) {
	truth(t, figure1(), 3, sim.Sharing, 4, map[string]float64{"1a": 1, "3c": 1, "2d": 1, "1a'": 1})
}

// figure4 is VPPB's Figure 4 (W1), with the lengths that its text determines.
func figure4() program {
	a, b, c, d, e, f := int64(1), int64(4), int64(1), int64(2), int64(2), int64(3)
	return write(
		[]op{do("1a", a), signal("X"), do("1b", b), signal("Z"), do("1c", c), wait("X2"), do("1e", e)},
		[]op{wait("X"), do("2c", c), signal("Y"), do("2a", a), wait("Y2"), do("2d", d)},
		[]op{wait("Y"), do("3d", d), wait("Z"), do("3e", e), signal("X2"), do("3a", a), signal("Y2"), do("3f", f)})
}

// V2, V3, V4: T = 11, 12 and 20 on 3, 2 and 1 processors; and the exact sensitivities.
func TestFigure4(t *testing.T) {
	truth(t, figure4(), 3, sim.Sharing, 11, map[string]float64{"1a": 1, "1b": 1, "3e": 1, "3a": 1, "3f": 1})
	truth(t, figure4(), 2, sim.Sharing, 12, map[string]float64{"1a": 1, "1b": 1, "3e": 1, "3f": 1, "2a": .5, "1e": .5,
		"3a": .5})
	all := map[string]float64{}
	for _, name := range []string{"1a", "1b", "1c", "1e", "2c", "2a", "2d", "3d", "3e", "3a", "3f"} {
		all[name] = 1
	}
	truth(t, figure4(), 1, sim.Sharing, 20, all)
	truth(t, figure4(), 1, sim.List, 20, all)
	truth(t, figure4(), 3, sim.List, 11, map[string]float64{"1a": 1, "1b": 1, "3e": 1, "3a": 1, "3f": 1})
}
