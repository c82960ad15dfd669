package main

import "sync"

// A semaphore lets one in, though all could work.
//
// truth: semaphore
func onepermit(s size)         { onepermitRun(s, make(chan bool, 1)) }
func onepermitRepaired(s size) { onepermitRun(s, make(chan bool, 16)) }

func onepermitRun(s size, permits chan bool) {
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			sum := uint64(0)
			for i := g; i < s.n; i += s.g {
				permits <- true
				sum += work(s.us)
				<-permits
			}
			keep(sum)
		})
	}
	wg.Wait()
}
