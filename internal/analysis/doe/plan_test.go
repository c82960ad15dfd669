package doe_test

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/doe"
)

// names are k factors.
func names(k int) []string {
	list := make([]string, k)
	for i := range list {
		list[i] = fmt.Sprintf("F%d", i+1)
	}
	return list
}

func plan(t interface{ Fatalf(string, ...any) }, k int, o doe.Options) *doe.Plan {
	p, err := doe.New(names(k), o)
	if err != nil {
		t.Fatalf("%d factors, %+v: %v", k, o, err)
	}
	return p
}

// words counts the sets of n factors whose product is the same in all runs, except for the sign.
func words(p *doe.Plan, length int) (n int) {
	product := make([]int8, len(p.Runs))
	for i := range product {
		product[i] = 1
	}
	var from func(k, more int, product []int8)
	from = func(k, more int, product []int8) {
		if more == 0 {
			sum := 0
			for _, x := range product {
				sum += int(x)
			}
			if sum == len(product) || sum == -len(product) {
				n++
			}
			return
		}
		for ; k <= len(p.Factors)-more; k++ {
			next := slices.Clone(product)
			for i := range next {
				next[i] *= p.Runs[i].Levels[k]
			}
			from(k+1, more-1, next)
		}
	}
	from(0, length, product)
	return n
}

// TestMinimumAberration: the fewest words of four factors, as published (Chen, Sun and Wu 1993).
func TestMinimumAberration(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ runs, factors, words int }{
		{16, 5, 0}, {16, 6, 3}, {16, 7, 7}, {16, 8, 14},
		{32, 6, 0}, {32, 7, 1}, {32, 8, 3}, {32, 9, 6}, {32, 10, 10}, {32, 11, 25}, {32, 12, 38}, {32, 13, 55},
		{32, 14, 77}, {32, 15, 105}, {32, 16, 140},
		{64, 7, 0}, {64, 8, 0}, {64, 9, 1}, {64, 10, 2}, {64, 11, 4}, {64, 12, 6}, {64, 13, 14}, {64, 14, 22},
		{64, 15, 30}, {64, 16, 43}, {64, 17, 59}, {64, 18, 78}, {64, 19, 100}, {64, 20, 125},
	} {
		p := plan(t, c.factors, doe.Options{Kind: doe.Fraction, Runs: c.runs})
		if three, four := words(p, 3), words(p, 4); three != 0 || four != c.words {
			t.Errorf("%d factors in %d runs: found %d words of three and %d of four, expected 0 and %d", c.factors,
				c.runs, three, four, c.words)
		}
	}
}

// TestSmallest: how many runs plans have. The paper has 31 factors in 64.
func TestSmallest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		factors int
		o       doe.Options
		runs    int
		design  string
	}{
		{3, doe.Options{}, 8, "full"}, {3, doe.Options{Resolution: 3}, 4, "fraction"},
		{4, doe.Options{}, 8, "fraction"}, {5, doe.Options{Resolution: 5}, 16, "fraction"},
		{6, doe.Options{}, 16, "fraction"}, {7, doe.Options{}, 16, "fraction"}, {9, doe.Options{}, 24, "pb, folded"},
		{12, doe.Options{}, 24, "pb, folded"}, {17, doe.Options{}, 40, "pb, folded"},
		{31, doe.Options{}, 64, "fraction"},
		{31, doe.Options{Resolution: 3}, 32, "fraction"}, {11, doe.Options{Resolution: 3}, 12, "pb"},
		{19, doe.Options{Resolution: 3}, 20, "pb"},
		{23, doe.Options{Kind: doe.PlackettBurman, Resolution: 3}, 24, "pb"},
		{9, doe.Options{Kind: doe.Fraction}, 32, "fraction"}, {8, doe.Options{Resolution: 5}, 64, "fraction"},
		{11, doe.Options{Resolution: 5}, 128, "fraction"}, {7, doe.Options{Foldover: true}, 16, "fraction, folded"},
		{4, doe.Options{Kind: doe.Full}, 16, "full"}, {1, doe.Options{}, 2, "full"},
		{40, doe.Options{}, 80, "pb, folded"}, {64, doe.Options{}, 128, "fraction"},
	} {
		p := plan(t, c.factors, c.o)
		if len(p.Runs) != c.runs || p.Design != c.design || p.Resolution < min(max(c.o.Resolution, 3), c.factors+1) {
			t.Errorf("%d factors, %+v: found %d runs, %s, resolution %d; expected %d, %s", c.factors, c.o, len(p.Runs),
				p.Design, p.Resolution, c.runs, c.design)
		}
	}
}

// TestClear: in each plan factors are independent, each as often low as high; at resolution 4 main
// effects are also independent of interactions of two, and at 5 these of each other (D5).
func TestClear(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 14).Draw(t, "factors")
		o := doe.Options{Resolution: rapid.IntRange(3, 5).Draw(t, "resolution"), Seed: rapid.Uint64().Draw(t, "seed"),
			Replicates: rapid.IntRange(1, 2).Draw(t, "replicates"),
			Kind:       rapid.SampledFrom([]doe.Kind{doe.Smallest, doe.Fraction, doe.PlackettBurman}).Draw(t, "kind"),
			Blocks:     rapid.SampledFrom([]int{1, 2}).Draw(t, "blocks")}
		p, err := doe.New(names(k), o)
		if err != nil {
			return
		}
		dot := func(f ...int) (sum int) {
			for _, r := range p.Runs {
				x := 1
				for _, i := range f {
					x *= int(r.Levels[i])
				}
				sum += x
			}
			return sum
		}
		blocks := map[int][]int{}
		for _, r := range p.Runs {
			if blocks[r.Block] == nil {
				blocks[r.Block] = make([]int, k)
			}
			for i, x := range r.Levels {
				blocks[r.Block][i] += int(x)
			}
		}
		for b, sums := range blocks {
			if slices.ContainsFunc(sums, func(s int) bool { return s != 0 }) {
				t.Fatalf("%+v: block %d is aliased with a factor: %v", o, b, sums)
			}
		}
		for a := range k {
			if dot(a) != 0 {
				t.Fatalf("%d factors, %+v: factor %d is not as often low as high", k, o, a)
			}
			for b := range a {
				if dot(a, b) != 0 {
					t.Fatalf("%d factors, %+v: factors %d and %d", k, o, a, b)
				}
				for c := range b {
					if p.Resolution >= 4 && dot(a, b, c) != 0 {
						t.Fatalf("%d factors, %+v: factors %d, %d and %d", k, o, a, b, c)
					}
					for d := range c {
						if p.Resolution >= 5 && dot(a, b, c, d) != 0 {
							t.Fatalf("%d factors, %+v: factors %d, %d, %d and %d", k, o, a, b, c, d)
						}
					}
				}
			}
		}
	})
}

// TestAliases: those of six factors in 16 runs are the products with the words, and effects that
// are not clear are named.
func TestAliases(t *testing.T) {
	t.Parallel()
	p := plan(t, 6, doe.Options{})
	if p.Resolution != 4 || len(p.Aliases) != 7 {
		t.Errorf("found resolution %d and %d groups, expected 4 and 7: %v", p.Resolution, len(p.Aliases), p.Aliases)
	}
	n := 0
	for _, group := range p.Aliases {
		n += len(group)
	}
	if n != 15 { // all interactions of two factors, and no main effect
		t.Errorf("found %d interactions in groups, expected 15: %v", n, p.Aliases)
	}
}

// TestConfounded: blocks of full plans are those of published tables (Sun, Wu & Chen 1997, table 1;
// Box, Hunter & Hunter 2005, table 5A.1): the numbers of two-factor, three-factor and higher
// interactions that are aliased with differences between blocks.
func TestConfounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		factors, blocks int
		want            string
	}{
		{3, 2, "[0 1]"}, {3, 4, "[3 0]"}, {4, 2, "[0 0 1]"}, {4, 4, "[1 2 0]"}, {4, 8, "[6 0 1]"}, {5, 2, "[0 0 0 1]"},
		{5, 4, "[0 2 1 0]"}, {5, 8, "[2 4 1 0]"},
		{5, 16, "[10 0 5 0]"}, {6, 4, "[0 0 3 0 0]"}, {6, 8, "[0 4 3 0 0]"}, {6, 16, "[3 8 3 0 1]"},
		{6, 32, "[15 0 15 0 1]"},
	} {
		p := plan(t, c.factors, doe.Options{Kind: doe.Full, Blocks: c.blocks})
		counts := make([]int, c.factors-1)
		for set := 1; set < 1<<c.factors; set++ {
			signs, same := map[int]int{}, true
			for _, r := range p.Runs {
				sign := 1
				for k, x := range r.Levels {
					if set>>k&1 == 1 {
						sign *= int(x)
					}
				}
				same = same && signs[r.Block] != -sign
				signs[r.Block] = sign
			}
			switch n := bits.OnesCount(uint(set)); {
			case same && n == 1:
				t.Errorf("%d factors in %d blocks: a main effect is aliased with them", c.factors, c.blocks)
			case same:
				counts[n-2]++
			}
		}
		if got := fmt.Sprint(counts); got != c.want {
			t.Errorf("%d factors in %d blocks: found %s interactions, expected %s", c.factors, c.blocks, got, c.want)
		}
	}
}

// TestParts: blocks have the same number of runs, and centre points are spread over them; the same
// seed gives the same order.
func TestParts(t *testing.T) {
	t.Parallel()
	o := doe.Options{Blocks: 2, Center: 4, Replicates: 2, Seed: 7}
	p, again, other := plan(t, 6, o), plan(t, 6, o),
		plan(t, 6, doe.Options{Blocks: 2, Center: 4, Replicates: 2, Seed: 8})
	if len(p.Runs) != 36 || fmt.Sprint(p) != fmt.Sprint(again) || fmt.Sprint(p) == fmt.Sprint(other) {
		t.Errorf("found %d runs, expected 36 in an order that the seed tells", len(p.Runs))
	}
	n, halfway := map[int]int{}, map[int]int{}
	for i, r := range p.Runs {
		if n[r.Block]++; slices.Max(r.Levels) == 0 {
			halfway[r.Block]++
		}
		if i > 0 && r.Block < p.Runs[i-1].Block {
			t.Errorf("run %d is of a block before", i)
		}
	}
	if n[1] != 18 || n[2] != 18 || halfway[1] != 2 || halfway[2] != 2 {
		t.Errorf("found %v runs by block, %v of them halfway; expected 18 and 2", n, halfway)
	}
}

// TestNoPlan: impossible plans are refused, with a possible one.
func TestNoPlan(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		factors []string
		o       doe.Options
	}{
		"found no factor":                         {nil, doe.Options{}},
		"has resolution 3 at best, expected 4":    {names(9), doe.Options{Kind: doe.Fraction, Runs: 16}},
		"expected a power of two":                 {names(5), doe.Options{Kind: doe.Fraction, Runs: 24}},
		"expected a multiple of 8":                {names(5), doe.Options{Kind: doe.PlackettBurman, Runs: 20}},
		"expected more runs than factors":         {names(9), doe.Options{Runs: 8}},
		"found resolution 6":                      {names(9), doe.Options{Resolution: 6}},
		"twice":                                   {[]string{"a", "a"}, doe.Options{}},
		"a name without colons":                   {[]string{"a:b"}, doe.Options{}},
		"the name of a column":                    {[]string{"Block"}, doe.Options{}},
		"expected 1, or 2 if it is folded":        {names(9), doe.Options{Blocks: 4}},
		"leave main effects alone":                {names(8), doe.Options{Blocks: 16, Kind: doe.Fraction, Runs: 32}},
		"expected 12 or fewer":                    {names(13), doe.Options{Kind: doe.Full}},
		"has more than 512 runs":                  {names(40), doe.Options{Resolution: 5}},
		"Plackett-Burman plan, which has 3, or 4": {names(4), doe.Options{Resolution: 5, Kind: doe.PlackettBurman}},
		"turned round has resolution 4":           {names(4), doe.Options{Resolution: 5, Foldover: true}},
	} {
		if _, err := doe.New(c.factors, c.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d factors, %+v: found %v, expected %q", len(c.factors), c.o, err, want)
		}
	}
}
