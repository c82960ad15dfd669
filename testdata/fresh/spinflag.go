package main

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Who waits for a flag asks for it all the time, and takes a processor from who would set it.
//
// truth: spinning
func spinflag(s size) {
	for range 4 {
		var ready atomic.Int32
		var wg sync.WaitGroup
		wg.Go(func() {
			for ready.Load() < int32(s.g) {
				runtime.Gosched()
			}
		})
		for range s.g {
			wg.Go(func() {
				spinflagDo(s)
				ready.Add(1)
			})
		}
		wg.Wait()
	}
}

func spinflagRepaired(s size) {
	for range 4 {
		var wg sync.WaitGroup
		for range s.g {
			wg.Go(func() { spinflagDo(s) })
		}
		wg.Wait()
	}
}

func spinflagDo(s size) {
	for range s.n / 4 / s.g {
		keep(work(s.us))
	}
}
