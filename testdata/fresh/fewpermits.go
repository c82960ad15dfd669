package main

import (
	"sync"
	"time"
)

// A semaphore lets few in, and those wait for the time.
//
// truth: semaphore timer
func fewpermits(s size)         { fewpermitsRun(s, make(chan struct{}, 2)) }
func fewpermitsRepaired(s size) { fewpermitsRun(s, make(chan struct{}, 16)) }

func fewpermitsRun(s size, permits chan struct{}) {
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range max(1, s.waits/8) {
				permits <- struct{}{}
				time.Sleep(s.wait)
				<-permits
				work(s.us)
			}
		})
	}
	wg.Wait()
}
