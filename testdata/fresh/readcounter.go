package main

import (
	"sync"
	"sync/atomic"
)

// A lock for reading is taken for tiny reads, and its counter is fought for.
//
// truth: contended-lock saturated-lock spinning-lock pending-writer many-operations
type readcounterFlags struct {
	mu  sync.RWMutex
	on  map[string]bool
	now atomic.Pointer[map[string]bool]
}

func (f *readcounterFlags) is(name string) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.on[name]
}

func (f *readcounterFlags) isRepaired(name string) bool { return (*f.now.Load())[name] }

func readcounter(s size)         { readcounterRun(s, (*readcounterFlags).is) }
func readcounterRepaired(s size) { readcounterRun(s, (*readcounterFlags).isRepaired) }

func readcounterRun(s size, is func(*readcounterFlags, string) bool) {
	f := &readcounterFlags{on: map[string]bool{"a": true, "b": false}}
	f.now.Store(&f.on)
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			n := 0
			for range s.n * s.us * 8 / s.g {
				if is(f, "a") {
					n++
				}
			}
			keep(uint64(n))
		})
	}
	wg.Wait()
}
