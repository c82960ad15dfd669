package main

import "sync"

// The longest job is the last one in the queue.
//
// truth: unequal-work serial-run serial-procedure one-goroutine one-processor few-parts
func longestlast(s size)         { longestlastRun(s, s.n/10-1) }
func longestlastRepaired(s size) { longestlastRun(s, 0) }

func longestlastRun(s size, long int) {
	jobs := make(chan int)
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			sum := uint64(0)
			for us := range jobs {
				for range 10 {
					sum += work(us)
				}
			}
			keep(sum)
		})
	}
	for i := range s.n / 10 {
		us := s.us
		if i == long {
			us *= max(1, s.n/20)
		}
		jobs <- us
	}
	close(jobs)
	wg.Wait()
}
