package main

import "sync"

// Each goroutine grows its stack anew.
//
// truth: batches stack-growth tiny-goroutines
func deepstacks(s size) {
	for range s.n * s.us / 400 {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { keep(deepstacksDeep(200)) })
		}
		wg.Wait()
	}
}

func deepstacksRepaired(s size) {
	jobs := make(chan bool, 8)
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			for range jobs {
				keep(deepstacksDeep(200))
			}
		})
	}
	for range s.n * s.us / 400 * 8 {
		jobs <- true
	}
	close(jobs)
	wg.Wait()
}

//go:noinline
func deepstacksDeep(n int) uint64 {
	var room [16]uint64
	room[n%16] = uint64(n)
	if n == 0 {
		return room[0]
	}
	return deepstacksDeep(n-1) + room[n%16]
}
