package doe

import (
	"fmt"
	"math/bits"
	"slices"
)

// A fraction of 2^k runs has 2^m of them, of m independent columns and k-m that are products of
// these. A column is a number with a bit for each of the m: a run is such a number too, and a
// factor's level is by whether the two share an even number of bits. Products of factors that are
// always 1 are the words of the plan. The fewer short words it has, the fewer effects are aliased:
// the shortest word's length is the resolution.

// fraction finds the smallest fraction for k factors, or one with a given number of runs, with the
// fewest short words (minimum aberration: Fries and Hunter 1980).
func fraction(k int, o Options) (*base, error) {
	if o.Runs != 0 && (o.Runs&(o.Runs-1) != 0 || o.Runs < 2) {
		return nil, fmt.Errorf("found %d runs, expected a power of two for a fraction of all combinations", o.Runs)
	}
	found := 0
	for m := 1; 1<<m <= mostRuns; m++ {
		if o.Runs != 0 && 1<<m != o.Runs || k >= 1<<m {
			continue
		}
		if m >= k {
			b, _ := full(k, Options{}) // k is not larger than m
			for range m - k {
				b.rows = append(b.rows, b.rows...)
			}
			return b, nil
		}
		columns := search(k, m, o.Resolution)
		if r := resolution(columns, m); r >= o.Resolution {
			return &base{"fraction", r, levels(columns, m), columns, false}, nil
		} else if found = r; o.Runs != 0 {
			break
		}
	}
	if o.Runs != 0 && found > 0 {
		return nil, fmt.Errorf("a fraction with %d runs and %d factors has resolution %d at best, expected %d: it needs more runs", o.Runs, k, found, o.Resolution)
	}
	if o.Runs != 0 {
		return nil, fmt.Errorf("found %d runs for %d factors, expected more runs than factors, and %d or fewer", o.Runs,
			k, mostRuns)
	}
	return nil, fmt.Errorf("a fraction of resolution %d for %d factors has more than %d runs", o.Resolution, k,
		mostRuns)
}

// levels are the runs of a plan with some columns.
func levels(columns []int, m int) [][]int8 {
	rows := make([][]int8, 1<<m)
	for r := range rows {
		rows[r] = make([]int8, len(columns))
		for i, c := range columns {
			rows[r][i] = int8(2*(bits.OnesCount(uint(r&c))&1) - 1)
		}
	}
	return rows
}

// partial is a part of a fraction while it is searched for.
type partial struct {
	columns []int
	odd     []uint8 // of each run, how many columns share an odd number of bits with it
	words   []int   // by length
}

const (
	kept     = 6144 // parts that are kept while columns are added, times the number of runs
	alike    = 6    // of these, those with the same numbers of words
	compared = 7    // lengths of words, starting at 1
)

// search finds k columns: it adds them to the independent ones in turn, and keeps the sets with the
// fewest short words.
func search(k, m, least int) []int {
	n := 1 << m
	first := partial{odd: make([]uint8, n)}
	for i := range m {
		first = first.with(1<<i, n)
	}
	var candidates []int
	for c := 3; c < n; c++ {
		odd := bits.OnesCount(uint(c))&1 == 1
		if c&(c-1) == 0 || least == 4 && 16*k > 5*n && 2*k <= n && !odd {
			// then all plans of resolution 4 are of odd columns
			continue
		}
		candidates = append(candidates, c)
	}
	if len(candidates) == k-m {
		return append(first.columns, candidates...)
	}
	parts := []partial{first}
	for len(parts[0].columns) < k {
		var more []partial
		table := krawtchouks(len(parts[0].columns) + 1)
		seen := map[string]bool{}
		for _, p := range parts {
			for _, c := range candidates {
				if slices.Contains(p.columns, c) {
					continue
				}
				x := p.with(c, n)
				key := x.key()
				if seen[key] {
					continue
				}
				seen[key] = true
				x.count(table)
				more = append(more, x)
			}
		}
		parts = fewest(more, kept/n)
	}
	return parts[0].columns
}

// with is a part with one column more.
func (p partial) with(c, n int) partial {
	x := partial{columns: append(slices.Clone(p.columns), c), odd: slices.Clone(p.odd)}
	for r := range n {
		x.odd[r] += uint8(bits.OnesCount(uint(r&c)) & 1)
	}
	return x
}

// key is the same for the same columns in another order.
func (p partial) key() string {
	sorted := slices.Sorted(slices.Values(p.columns))
	key := make([]byte, 0, 2*len(sorted))
	for _, c := range sorted {
		key = append(key, byte(c), byte(c>>8))
	}
	return string(key)
}

// count counts the words up to some length, from the numbers of runs by how many columns are odd in
// them (MacWilliams' identity).
func (p *partial) count(table [][]int) {
	runs := make([]int, len(table))
	for _, odd := range p.odd {
		runs[odd]++
	}
	p.words = make([]int, len(table[0]))
	for odd, many := range runs {
		if many == 0 {
			continue
		}
		for length, x := range table[odd] {
			p.words[length] += many * x
		}
	}
	for i := range p.words {
		p.words[i] /= len(p.odd)
	}
}

// krawtchouks are, by the number of negative signs among k and by length, the sums of the products
// of all sets of that length.
func krawtchouks(k int) [][]int {
	table := make([][]int, k+1)
	for negative := range table {
		table[negative] = make([]int, min(compared, k)+1)
		for length := range table[negative] {
			for j := 0; j <= min(length, negative); j++ {
				term := choices(negative, j) * choices(k-negative, length-j)
				if j&1 == 1 {
					term = -term
				}
				table[negative][length] += term
			}
		}
	}
	return table
}

// choices is n over k.
func choices(n, k int) int {
	if k < 0 || k > n {
		return 0
	}
	c := 1
	for i := range k {
		c = c * (n - i) / (i + 1)
	}
	return c
}

// fewest are the parts with the fewest short words.
func fewest(parts []partial, most int) []partial {
	slices.SortStableFunc(parts, func(a, b partial) int { return slices.Compare(a.words, b.words) })
	var best []partial
	same := 0
	for i, p := range parts {
		if i > 0 && slices.Equal(p.words, parts[i-1].words) {
			same++
		} else {
			same = 0
		}
		if same < alike {
			best = append(best, p)
		}
		if len(best) >= most {
			break
		}
	}
	return best
}

// resolution is the length of the shortest word; one more than there are columns if there is none.
func resolution(columns []int, m int) int {
	p := partial{odd: make([]uint8, 1<<m)}
	for _, c := range columns {
		p = p.with(c, 1<<m)
	}
	p.count(krawtchouks(len(columns)))
	for length, n := range p.words {
		if length > 0 && n > 0 {
			return length
		}
	}
	return min(len(p.words), len(columns)+1)
}

// aliases are groups of main effects and interactions of two factors with the same signs, in a
// fraction.
func (b *base) aliases(factors []string) [][]string {
	if b.columns == nil {
		return nil
	}
	var order []int
	by := map[int][]string{}
	add := func(column int, name string) {
		if by[column] == nil {
			order = append(order, column)
		}
		by[column] = append(by[column], name)
	}
	for i, c := range b.columns {
		add(c, factors[i])
	}
	for i, c := range b.columns {
		for j := i + 1; j < len(b.columns); j++ {
			add(c^b.columns[j], factors[i]+":"+factors[j])
		}
	}
	var groups [][]string
	for _, column := range order {
		if len(by[column]) > 1 {
			groups = append(groups, by[column])
		}
	}
	return groups
}
