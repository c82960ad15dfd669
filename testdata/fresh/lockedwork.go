package main

import "sync"

// The lock is held for work that does not need it.
//
// truth: contended-lock saturated-lock spinning-lock pending-writer
func lockedwork(s size) {
	var mu sync.Mutex
	table := map[int]uint64{}
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			for i := g; i < s.n; i += s.g {
				mu.Lock()
				table[i%64] += work(s.us)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func lockedworkRepaired(s size) {
	var mu sync.Mutex
	table := map[int]uint64{}
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			for i := g; i < s.n; i += s.g {
				sum := work(s.us)
				mu.Lock()
				table[i%64] += sum
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}
