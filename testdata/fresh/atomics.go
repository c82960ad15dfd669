package main

import (
	"sync"
	"sync/atomic"
)

// All goroutines add to one atomic counter, all the time.
//
// truth: contended-atomic all-busy less-work
func atomics(s size) {
	var total atomic.Uint64
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			for i := range s.n * s.us * 20 / s.g {
				total.Add(uint64(i & 7))
			}
		})
	}
	wg.Wait()
	keep(total.Load())
}

func atomicsRepaired(s size) {
	var total atomic.Uint64
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			mine := uint64(0)
			for i := range s.n * s.us * 20 / s.g {
				mine += uint64(i & 7)
			}
			total.Add(mine)
		})
	}
	wg.Wait()
	keep(total.Load())
}
