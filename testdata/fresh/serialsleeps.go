package main

import (
	"sync"
	"time"
)

// Waits that could overlap come one after another.
//
// truth: timer
func serialsleeps(s size) {
	for range s.waits {
		serialsleepsDial(s)
	}
}

func serialsleepsRepaired(s size) {
	var wg sync.WaitGroup
	for range s.waits {
		wg.Go(func() { serialsleepsDial(s) })
	}
	wg.Wait()
}

func serialsleepsDial(s size) {
	time.Sleep(s.wait)
	keep(work(s.us))
}
