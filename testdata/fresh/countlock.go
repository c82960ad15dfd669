package main

import "sync"

// A lock is taken for each of many tiny steps.
//
// truth: contended-lock saturated-lock spinning-lock pending-writer many-operations
type countlockCounter struct {
	mu sync.Mutex
	n  map[int]int
}

func (c *countlockCounter) add(k int) {
	c.mu.Lock()
	c.n[k]++
	c.mu.Unlock()
}

func countlock(s size) {
	c := &countlockCounter{n: map[int]int{}}
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			for i := range s.n * s.us * 4 / s.g {
				c.add((i + g) % 100)
			}
		})
	}
	wg.Wait()
}

func countlockRepaired(s size) {
	c := &countlockCounter{n: map[int]int{}}
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			mine := map[int]int{}
			for i := range s.n * s.us * 4 / s.g {
				mine[(i+g)%100]++
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			for k, n := range mine {
				c.n[k] += n
			}
		})
	}
	wg.Wait()
}
