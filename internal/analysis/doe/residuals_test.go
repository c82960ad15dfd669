package doe_test

import (
	"math"
	"testing"

	"qinst.dev/internal/analysis/doe"
)

// Residuals are the noise that was added to two effects and a difference between blocks.
func TestResiduals(t *testing.T) {
	t.Parallel()
	noise := []float64{1, -1, -1, 1, -1, 1, 1, -1} // independent of a, b, their interaction and blocks
	d := &doe.Data{Factors: []string{"a", "b"}}
	for i, e := range noise {
		a, b, block := int8(2*(i&1)-1), int8(i&2-1), 1+i/4
		d.Runs = append(d.Runs, doe.Observed{Run: doe.Run{Block: block, Levels: []int8{a, b}},
			Response: 10 + 3*float64(a) + 2*float64(a*b) + 5*float64(block) + e})
	}
	left, deviation := d.Residuals(fit(t, d, doe.Method{}), []string{"a", "a:b"})
	squares := 0.
	for i := range left {
		if !same(left[i], noise[i], 1e-9) {
			t.Errorf("run %d: found %v, expected %v", i+1, left[i], noise[i])
		}
		squares += noise[i] * noise[i]
	}
	if want := math.Sqrt(squares / 4); !same(deviation, want, 1e-9) { // 8 runs, 2 blocks, 2 effects
		t.Errorf("found a standard deviation of %v, expected %v", deviation, want)
	}
}
