package main

import "sync"

// Goroutines meet after each of many tiny steps.
//
// truth: batches barrier tiny-goroutines
func tinysteps(s size) {
	for range s.n * s.us / 8 {
		var wg sync.WaitGroup
		for range s.g {
			wg.Go(func() { keep(work(1)) })
		}
		wg.Wait()
	}
}

func tinystepsRepaired(s size) {
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			sum := uint64(0)
			for range s.n * s.us / 8 {
				sum += work(1)
			}
			keep(sum)
		})
	}
	wg.Wait()
}
