package doe

import (
	"fmt"
	"math/bits"
)

// blocks divides the runs into blocks of equal size, and returns each run's. What blocks differ by is then aliased with the highest interactions, and with none of main effects.
func (b *base) blocks(n int) ([]int, error) {
	block := make([]int, len(b.rows))
	switch {
	case n == 1:
		return block, nil
	case b.columns == nil && b.folded && n == 2: // a shift by block is aliased with what the fold took from main effects
		for i := range block {
			block[i] = 2 * i / len(block)
		}
		return block, nil
	case b.columns == nil:
		return nil, fmt.Errorf("found %d blocks for a Plackett-Burman plan, expected 1, or 2 if it is folded", n)
	case n&(n-1) != 0 || n > len(b.rows)/2:
		return nil, fmt.Errorf("found %d blocks for %d runs, expected a power of two, of two runs or more", n, len(b.rows))
	}
	short := b.shortest()
	var columns []int // whose signs make up a block
	sums := map[int]bool{0: true}
	for 1<<len(columns) < n {
		best, order := 0, 0
		for c := 1; c < len(b.rows); c++ {
			if sums[c] {
				continue
			}
			least := len(b.columns) + 1
			for s := range sums {
				least = min(least, short[s^c])
			}
			if least > order {
				best, order = c, least
			}
		}
		if order < 2 {
			return nil, fmt.Errorf("found no %d blocks of %d runs that leave main effects alone: expected fewer blocks, or more runs", n, len(b.rows))
		}
		for s := range sums {
			sums[s^best] = true
		}
		columns = append(columns, best)
	}
	for r := range block {
		for i, c := range columns {
			block[r] |= bits.OnesCount(uint(r&c)) & 1 << i
		}
	}
	return block, nil
}

// shortest is by column the number of factors in the lowest effect that it has: 1 for a main effect, 2 for an interaction of two. None is larger than that of all.
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
