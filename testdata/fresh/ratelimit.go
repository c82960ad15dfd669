package main

import (
	"sync"
	"time"
)

// A limiter lets in less than could be done.
//
// truth: timer
func ratelimit(s size)         { ratelimitRun(s, s.wait) }
func ratelimitRepaired(s size) { ratelimitRun(s, 0) }

func ratelimitRun(s size, every time.Duration) {
	var tokens <-chan time.Time
	if every > 0 {
		t := time.NewTicker(every)
		defer t.Stop()
		tokens = t.C
	}
	var wg sync.WaitGroup
	jobs := make(chan int)
	for range s.g {
		wg.Go(func() {
			for range jobs {
				keep(work(s.us))
			}
		})
	}
	for i := range s.waits {
		if tokens != nil {
			<-tokens
		}
		jobs <- i
	}
	close(jobs)
	wg.Wait()
}
