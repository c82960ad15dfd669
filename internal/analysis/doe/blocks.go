package doe

import (
	"fmt"
	"math/bits"
	"slices"
)

// blocks divides the runs into blocks of equal size, and returns each run's. Differences between
// blocks are then aliased with as few low interactions as possible, and with no main effect.
func (b *base) blocks(n int) ([]int, error) {
	block := make([]int, len(b.rows))
	switch {
	case n == 1:
		return block, nil
	// a shift by block is aliased with the interactions that the fold removed from main effects
	case b.columns == nil && b.folded && n == 2:
		for i := range block {
			block[i] = 2 * i / len(block)
		}
		return block, nil
	case b.columns == nil:
		return nil, fmt.Errorf("found %d blocks for a Plackett-Burman plan, expected 1, or 2 if it is folded", n)
	case n&(n-1) != 0 || n > len(b.rows)/2:
		return nil, fmt.Errorf("found %d blocks for %d runs, expected a power of two, of two runs or more", n,
			len(b.rows))
	}
	columns := b.confounded(bits.Len(uint(n)) - 1)
	if columns == nil {
		return nil, fmt.Errorf("found no %d blocks of %d runs that leave main effects alone: expected fewer blocks, or more runs", n, len(b.rows))
	}
	for r := range block {
		for i, c := range columns {
			block[r] |= bits.OnesCount(uint(r&c)) & 1 << i
		}
	}
	return block, nil
}

// mostTried bounds the search for blocks. All choices for up to 256 runs are fewer; for more the
// best one that was found is taken.
const mostTried = 1 << 20

// confounded are the independent columns whose signs make up 2 to the power of p blocks; nil: there
// are none that leave main effects alone. Blocks differ by all products of these columns; of all
// choices this is the one with the fewest products that are interactions of two factors, then of
// three, and so on (minimum aberration, as of fractions).
func (b *base) confounded(p int) (best []int) {
	short := b.shortest()
	var least []int // of the best one: products by the number of factors
	tried := 0
	// Each choice is looked at once: columns have different highest bits, in rising order, and none
	// has that of another one.
	var add func(columns, products, counts []int)
	add = func(columns, products, counts []int) {
		if best != nil && slices.Compare(counts, least) >= 0 {
			return // more columns make it worse
		}
		if len(columns) == p {
			best, least = slices.Clone(columns), slices.Clone(counts)
			return
		}
		from, others := 1, 0
		for _, c := range columns {
			top := 1 << (bits.Len(uint(c)) - 1)
			from, others = 2*top, others|top
		}
		for c := from; c < len(b.rows) && tried < mostTried; c++ {
			if c&others != 0 {
				continue
			}
			tried++
			more, with := slices.Clone(counts), slices.Clone(products)
			for _, x := range products {
				more[short[x^c]]++
				with = append(with, x^c)
			}
			if more[1] == 0 {
				add(append(columns[:len(columns):len(columns)], c), with, more)
			}
		}
	}
	add(nil, []int{0}, make([]int, len(b.columns)+2))
	return best
}

// shortest is by column the number of factors in the lowest effect that it has: 1 for a main
// effect, 2 for an interaction of two. None is larger than that of all.
func (b *base) shortest() []int {
	short := make([]int, len(b.rows))
	for i := range short {
		short[i] = len(b.columns) + 1
	}
	reached := map[int]bool{0: true}
	for order := 0; len(reached) > 0; order++ {
		next := map[int]bool{}
		for c := range reached {
			if short[c] > order {
				short[c] = order
				for _, f := range b.columns {
					next[c^f] = true
				}
			}
		}
		reached = next
	}
	return short
}
