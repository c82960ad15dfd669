package main

import "sync"

// Counters of several goroutines lie in one cache line.
//
// truth: false-sharing
type falsesharingPadded struct {
	n uint64
	_ [120]byte
}

func falsesharing(s size) {
	counts := make([]uint64, s.g)
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() { falsesharingCount(&counts[g], s.n*s.us*100/s.g) })
	}
	wg.Wait()
	keep(counts[0])
}

func falsesharingRepaired(s size) {
	counts := make([]falsesharingPadded, s.g)
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() { falsesharingCount(&counts[g].n, s.n*s.us*100/s.g) })
	}
	wg.Wait()
	keep(counts[0].n)
}

//go:noinline
func falsesharingCount(to *uint64, n int) {
	for i := range n {
		*to += uint64(i) & 3
	}
}
