package main

import (
	"runtime/debug"
	"sync"
)

// Much live memory with pointers is marked again and again.
//
// truth: garbage-collector
type liveheapEntry struct {
	left, right *liveheapEntry
	key         [4]int
}

func liveheapTree(depth int) *liveheapEntry {
	if depth == 0 {
		return &liveheapEntry{}
	}
	return &liveheapEntry{left: liveheapTree(depth - 1), right: liveheapTree(depth - 1), key: [4]int{depth}}
}

func liveheap(s size) { liveheapRun(s) }

func liveheapRepaired(s size) {
	defer debug.SetGCPercent(debug.SetGCPercent(1000))
	liveheapRun(s)
}

func liveheapRun(s size) {
	var half [2]*liveheapEntry
	var wg sync.WaitGroup
	for i := range half {
		wg.Go(func() { half[i] = liveheapTree(16) })
	}
	wg.Wait()
	for range s.g {
		wg.Go(func() {
			for range s.n * s.us / 4 / s.g {
				buf := make([]byte, 4096)
				buf[1] = 1
				liveheapUse(buf)
			}
		})
	}
	wg.Wait()
	keep(uint64(half[0].key[0] + half[1].key[0]))
}

//go:noinline
func liveheapUse(buf []byte) { keep(uint64(buf[1])) }
