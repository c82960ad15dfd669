package main

import "sync"

// What is not valid is told by a panic, which the caller recovers.
//
// truth: panics less-work all-busy garbage-collector serial-run serial-procedure one-goroutine one-processor few-parts
func panicresults(s size) {
	panicresultsRun(s, func(n uint64) (ok bool) {
		defer func() {
			if recover() != nil {
				ok = false
			}
		}()
		panicresultsCheck(n)
		return true
	})
}

func panicresultsRepaired(s size) { panicresultsRun(s, panicresultsValid) }

func panicresultsValid(n uint64) bool { return n*0x9e3779b97f4a7c15>>60 != 0 && n%2 == 0 }

func panicresultsCheck(n uint64) {
	if !panicresultsValid(n) {
		panic("not valid")
	}
}

func panicresultsRun(s size, valid func(uint64) bool) {
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			count := uint64(0)
			for i := range s.n * s.us * 20 / s.g {
				if valid(uint64(i)) {
					count++
				}
			}
			keep(count)
		})
	}
	wg.Wait()
}
