package main

import "sync"

// Most items have the same key, and so the same worker.
//
// truth: unequal-work one-receiver small-buffer serial-run serial-procedure one-goroutine one-processor few-parts
func skew(s size)         { skewRun(s, func(i int) int { return max(0, i%10-7) }) }
func skewRepaired(s size) { skewRun(s, func(i int) int { return i }) }

func skewRun(s size, key func(int) int) {
	workers := make([]chan int, s.g)
	var wg sync.WaitGroup
	for g := range workers {
		workers[g] = make(chan int, 16)
		wg.Go(func() {
			for range workers[g] {
				keep(work(s.us))
			}
		})
	}
	for i := range s.n {
		workers[key(i)%s.g] <- i
	}
	for _, w := range workers {
		close(w)
	}
	wg.Wait()
}
