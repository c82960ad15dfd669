package main

import "sync"

// Sender and receiver have bursts of work, and no room between them.
//
// truth: turns small-buffer
func bursts(s size)         { burstsRun(s, make(chan uint64)) }
func burstsRepaired(s size) { burstsRun(s, make(chan uint64, 256)) }

func burstsRun(s size, out chan uint64) {
	const burst = 16
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(out)
		for i := range s.n {
			sum := uint64(i)
			if i%burst == 0 {
				sum += work(burst * s.us)
			}
			out <- sum
		}
	})
	wg.Go(func() {
		sum, i := uint64(0), 0
		for v := range out {
			if sum += v; i%burst == burst/2 {
				sum += work(burst * s.us)
			}
			i++
		}
		keep(sum)
	})
	wg.Wait()
}
