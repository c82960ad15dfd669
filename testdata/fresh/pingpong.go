package main

import "sync"

// Two goroutines hand each item to and fro, and one works at a time.
//
// truth: serial-run serial-procedure one-goroutine one-processor few-parts small-buffer turns data-dependence one-receiver
func pingpong(s size) {
	ask, answer := make(chan int), make(chan uint64)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range ask {
			answer <- work(s.us / 2)
		}
	})
	for i := range s.n {
		ask <- i
		keep(<-answer + work(s.us/2))
	}
	close(ask)
	wg.Wait()
}

func pingpongRepaired(s size) {
	answers := make(chan uint64, 16)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range s.n {
			answers <- work(s.us / 2)
		}
		close(answers)
	})
	for v := range answers {
		keep(v + work(s.us/2))
	}
	wg.Wait()
}
