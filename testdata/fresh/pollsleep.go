package main

import (
	"sync"
	"sync/atomic"
	"time"
)

// Who waits for a result looks for it from time to time.
//
// truth: timer
func pollsleep(s size) {
	for range s.waits {
		var done atomic.Bool
		go func() {
			keep(work(s.us))
			done.Store(true)
		}()
		for !done.Load() {
			time.Sleep(s.wait)
		}
	}
}

func pollsleepRepaired(s size) {
	for range s.waits {
		var wg sync.WaitGroup
		wg.Go(func() { keep(work(s.us)) })
		wg.Wait()
	}
}
