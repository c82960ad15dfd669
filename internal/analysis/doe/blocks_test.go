package doe_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/doe"
)

// TestPartlyConfounded is the plasma etching experiment of Montgomery (Design and Analysis of
// Experiments, chapter 7): two replicates in two blocks each. A:B:C is aliased with the blocks of
// the first one and A:B with those of the second, so that each is estimated from the other
// replicate.
func TestPartlyConfounded(t *testing.T) {
	t.Parallel()
	d := &doe.Data{Factors: []string{"A", "B", "C"}}
	for rep, responses := range [2][]float64{{550, 669, 633, 642, 1037, 749, 1075, 729},
		{604, 650, 601, 635, 1052, 868, 1063, 860}} {
		for i, y := range responses {
			a, b, c := int8(2*(i&1)-1), int8(2*(i>>1&1)-1), int8(2*(i>>2&1)-1)
			block := 1
			if rep == 0 && a*b*c > 0 {
				block = 2
			} else if rep == 1 {
				block = 3 + int(1-a*b)/2
			}
			d.Runs = append(d.Runs, doe.Observed{Run: doe.Run{Block: block, Levels: []int8{a, b, c}}, Response: y})
		}
	}
	f := fit(t, d, doe.Method{})
	for name, want := range map[string]float64{"A": -101.625, "B": 7.375, "C": 306.125, "A:B": -42, "A:C": -153.625,
		"B:C": -2.125, "A:B:C": -1.75} {
		if e := effect(f, name); !same(e.Effect, want, 1e-9) {
			t.Errorf("found %v for %s, expected %v", e.Effect, name, want)
		}
	}
	deviation := math.Sqrt(12754.8125 / 5)
	if f.SEMethod != doe.Replicates || f.DF != 5 || !same(effect(f, "A").SE, deviation/2, 1e-9) ||
		!same(effect(f, "A:B").SE, deviation/math.Sqrt2, 1e-9) {
		t.Errorf("found %v degrees of freedom (%s) and the errors %v and %v, expected 5, %v and %v", f.DF, f.SEMethod,
			effect(f, "A").SE, effect(f, "A:B").SE, deviation/2, deviation/math.Sqrt2)
	}
}

// TestUnequalBlocks: blocks of three and five runs, without noise.
func TestUnequalBlocks(t *testing.T) {
	t.Parallel()
	d := standard("A B C", make([]float64, 8))
	for i := range d.Runs {
		r := &d.Runs[i]
		r.Response = 10 + 5*float64(r.Levels[0])
		if i >= 3 {
			r.Block, r.Response = 2, r.Response+100
		}
	}
	f := fit(t, d, doe.Method{})
	if a := effect(f, "A"); !same(a.Effect, 10, 1e-9) || f.Effects[0].Name != "A" || !same(f.Effects[1].Effect, 0, 1e-9) {
		t.Errorf("found %+v, expected 10 for A and nothing else", f.Effects)
	}
	if text := strings.Join(f.Notes, "; "); !strings.Contains(text, "A:B:C is aliased") ||
		!strings.Contains(text, "fitted together") {
		t.Errorf("found the notes %s", text)
	}
}

// TestAnyBlocks: whatever runs are in which block, what blocks differ by is in no effect, and what
// there is of the effects that are estimated is found.
func TestAnyBlocks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"A", "B", "C", "D"}[:rapid.IntRange(2, 4).Draw(t, "factors")]
		d := &doe.Data{Factors: names}
		blocks := rapid.IntRange(1, 4).Draw(t, "blocks")
		for i := range 1 << len(names) {
			levels := make([]int8, len(names))
			for k := range levels {
				levels[k] = int8(2*(i>>k&1) - 1)
			}
			for range rapid.IntRange(1, 3).Draw(t, "replicates") {
				d.Runs = append(d.Runs, doe.Observed{Run: doe.Run{
					Block: rapid.IntRange(1, blocks).Draw(t, "block"), Levels: levels}})
			}
		}
		method := doe.Method{Name: doe.Pool, Order: 1} // takes what there is
		first, err := d.Fit(method, 0.05)
		if err != nil {
			return // nothing is told apart from blocks
		}
		want := map[string]float64{}
		for _, e := range first.Effects {
			want[e.Name] = float64(rapid.IntRange(-9, 9).Draw(t, e.Name))
		}
		for i := range d.Runs {
			r := &d.Runs[i]
			r.Response = 1000 * float64(r.Block)
			for name, x := range want {
				for k, factor := range names {
					if strings.Contains(name, factor) {
						x *= float64(r.Levels[k])
					}
				}
				r.Response += x / 2
			}
		}
		f, err := d.Fit(method, 0.05)
		if err != nil || len(f.Effects) != len(want) {
			t.Fatalf("%v: found %d effects, expected %d", err, len(f.Effects), len(want))
		}
		for _, e := range f.Effects {
			if !same(e.Effect, want[e.Name], 1e-6) {
				t.Errorf("found %v for %s, expected %v", e.Effect, e.Name, want[e.Name])
			}
		}
		if pure, err := d.Fit(doe.Method{Name: doe.Replicates}, 0.05); err == nil && !same(pure.SE, 0, 1e-6) {
			t.Errorf("found the standard error %v in runs without noise", pure.SE)
		}
	})
}

// TestManyBlocks: a table in which each of very many runs is a block is refused in time.
func TestManyBlocks(t *testing.T) {
	t.Parallel()
	d := &doe.Data{Factors: []string{"A"}}
	for i := range 1 << 17 {
		d.Runs = append(d.Runs, doe.Observed{Run: doe.Run{Block: i + 1, Levels: []int8{int8(2*(i&1) - 1)}}})
	}
	if _, err := d.Fit(doe.Method{}, 0.05); err == nil || !strings.Contains(err.Error(), "too many runs and effects") {
		t.Errorf("found %v, expected an error", err)
	}
}
