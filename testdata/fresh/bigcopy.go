package main

import "sync"

// Large values are copied on the way through calls.
//
// truth: less-work all-busy serial-run serial-procedure one-goroutine one-processor few-parts
type bigcopyMatrix [1024]int

func bigcopy(s size) {
	rows := make([]bigcopyMatrix, 64)
	bigcopyRun(s, func(i int) int { return bigcopyFirst(rows[i%64]) })
}

func bigcopyRepaired(s size) {
	rows := make([]bigcopyMatrix, 64)
	bigcopyRun(s, func(i int) int { return bigcopyFirstAt(&rows[i%64]) })
}

//go:noinline
func bigcopyFirst(m bigcopyMatrix) int { return m[5] + m[1000] }

//go:noinline
func bigcopyFirstAt(m *bigcopyMatrix) int { return m[5] + m[1000] }

func bigcopyRun(s size, first func(int) int) {
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			sum := 0
			for i := g; i < s.n*s.us*3; i += s.g {
				sum += first(i)
			}
			keep(uint64(sum))
		})
	}
	wg.Wait()
}
