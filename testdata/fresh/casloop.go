package main

import (
	"sync"
	"sync/atomic"
)

// Goroutines try again to swap a value, because others did meanwhile.
//
// truth: contended-atomic all-busy less-work
type casloopStats struct {
	count int
	sum   uint64
}

func casloop(s size) {
	var at atomic.Pointer[casloopStats]
	at.Store(&casloopStats{})
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			for i := range s.n * s.us * 4 / s.g {
				for {
					old := at.Load()
					if at.CompareAndSwap(old, &casloopStats{old.count + 1, old.sum + uint64(i)}) {
						break
					}
				}
			}
		})
	}
	wg.Wait()
}

func casloopRepaired(s size) {
	var at atomic.Pointer[casloopStats]
	at.Store(&casloopStats{})
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			mine := casloopStats{}
			for i := range s.n * s.us * 4 / s.g {
				mine.count++
				mine.sum += uint64(i)
			}
			mu.Lock()
			defer mu.Unlock()
			old := at.Load()
			at.Store(&casloopStats{old.count + mine.count, old.sum + mine.sum})
		})
	}
	wg.Wait()
}
