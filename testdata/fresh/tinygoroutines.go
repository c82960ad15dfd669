package main

import "sync"

// There is a goroutine for each tiny item.
//
// truth: tiny-goroutines
func tinygoroutines(s size) {
	items := make([]int, s.n*s.us)
	var wg sync.WaitGroup
	for i := range items {
		wg.Go(func() { items[i] = tinygoroutinesOne(i) })
	}
	wg.Wait()
}

func tinygoroutinesRepaired(s size) {
	items := make([]int, s.n*s.us)
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			for i := g * len(items) / s.g; i < (g+1)*len(items)/s.g; i++ {
				items[i] = tinygoroutinesOne(i)
			}
		})
	}
	wg.Wait()
}

func tinygoroutinesOne(i int) int {
	for k := range 40 {
		i = i*31 + k
	}
	return i
}
