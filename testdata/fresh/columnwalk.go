package main

import "sync"

// The loops go down the columns of a table that lies in memory by rows.
//
// truth: across-memory
func columnwalk(s size) { columnwalkRun(s, columnwalkDown) }

func columnwalkRepaired(s size) { columnwalkRun(s, columnwalkAlong) }

func columnwalkRun(s size, sum func([][]uint32) uint64) {
	const rows, cols = 1500, 1500
	table := make([][]uint32, rows)
	for i := range table {
		table[i] = make([]uint32, cols)
	}
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			for i := g; i < 1+s.n*s.us/8000; i += s.g {
				keep(sum(table))
			}
		})
	}
	wg.Wait()
}

//go:noinline
func columnwalkDown(table [][]uint32) (sum uint64) {
	for c := range table[0] {
		for r := range table {
			sum += uint64(table[r][c])
		}
	}
	return sum
}

//go:noinline
func columnwalkAlong(table [][]uint32) (sum uint64) {
	for r := range table {
		for c := range table[r] {
			sum += uint64(table[r][c])
		}
	}
	return sum
}
