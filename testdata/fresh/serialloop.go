package main

import "sync"

// Independent items are done one after the other.
//
// truth: serial-run serial-procedure one-goroutine one-processor few-parts
func serialloop(s size) {
	sums := make([]uint64, s.n)
	for i := range sums {
		sums[i] = work(s.us)
	}
	keep(sums[0])
}

func serialloopRepaired(s size) {
	sums := make([]uint64, s.n)
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			for i := g; i < s.n; i += s.g {
				sums[i] = work(s.us)
			}
		})
	}
	wg.Wait()
	keep(sums[0])
}
