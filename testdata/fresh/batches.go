package main

import "sync"

// Each batch waits for its longest part before the next one begins.
//
// truth: batches barrier unequal-work one-processor one-goroutine few-parts tiny-goroutines
func batches(s size) {
	for i := 0; i < s.n; i += s.g {
		var wg sync.WaitGroup
		for k := range s.g {
			wg.Go(func() { batchesDo(i+k, s) })
		}
		wg.Wait()
	}
}

func batchesRepaired(s size) {
	jobs := make(chan int)
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			for i := range jobs {
				batchesDo(i, s)
			}
		})
	}
	for i := range s.n {
		jobs <- i
	}
	close(jobs)
	wg.Wait()
}

func batchesDo(i int, s size) {
	us := s.us / 2
	if i%s.g == 0 {
		us = 4 * s.us
	}
	keep(work(us))
}
