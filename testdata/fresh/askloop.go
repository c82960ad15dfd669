package main

import "sync"

// Who collects results asks for the next one all the time, and takes a processor from the workers.
//
// truth: spinning
func askloop(s size) {
	askloopRun(s, func(results <-chan uint64) uint64 {
		for {
			select {
			case x := <-results:
				return x
			default:
			}
		}
	})
}

func askloopRepaired(s size) {
	askloopRun(s, func(results <-chan uint64) uint64 { return <-results })
}

func askloopRun(s size, next func(<-chan uint64) uint64) {
	results := make(chan uint64, s.g)
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			for i := g; i < s.n; i += s.g {
				results <- work(s.us)
			}
		})
	}
	for range s.n {
		keep(next(results))
	}
	wg.Wait()
}
