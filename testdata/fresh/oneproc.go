package main

import (
	"runtime"
	"sync"
)

// The program allows itself one processor.
//
// truth: few-processors
func oneproc(s size) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	oneprocRun(s)
}

func oneprocRepaired(s size) { oneprocRun(s) }

func oneprocRun(s size) {
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			for i := g; i < s.n; i += s.g {
				keep(work(s.us))
			}
		})
	}
	wg.Wait()
}
