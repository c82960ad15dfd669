package main

import "sync"

// Parts have as many items, and those of the last cost most.
//
// truth: unequal-work serial-run serial-procedure one-goroutine one-processor few-parts
func staticparts(s size) {
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			for i := g * s.n / s.g; i < (g+1)*s.n/s.g; i++ {
				staticpartsItem(i, s)
			}
		})
	}
	wg.Wait()
}

func staticpartsRepaired(s size) {
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			for i := g; i < s.n; i += s.g {
				staticpartsItem(i, s)
			}
		})
	}
	wg.Wait()
}

func staticpartsItem(i int, s size) {
	us := s.us / 4
	if i > s.n-s.n/s.g {
		us = 4 * s.us
	}
	keep(work(us))
}
