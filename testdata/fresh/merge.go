package main

import (
	"slices"
	"sync"
)

// Parts are made by all, and merged by one.
//
// truth: serial-run serial-procedure one-goroutine one-processor few-parts
func merge(s size)         { keep(uint64(len(mergeRun(s, mergeAll)))) }
func mergeRepaired(s size) { keep(uint64(len(mergeRun(s, mergePairs)))) }

func mergeRun(s size, merge func([][]int, size) []int) []int {
	parts := make([][]int, 8)
	var wg sync.WaitGroup
	for g := range parts {
		wg.Go(func() {
			for range s.n / 32 {
				parts[g] = append(parts[g], int(work(s.us)))
			}
			slices.Sort(parts[g])
		})
	}
	wg.Wait()
	return merge(parts, s)
}

func mergeTwo(a, b []int, s size) []int {
	for range s.n / 10 {
		keep(work(s.us))
	}
	return append(a, b...)
}

func mergeAll(parts [][]int, s size) []int {
	for len(parts) > 1 {
		parts[0] = mergeTwo(parts[0], parts[len(parts)-1], s)
		parts = parts[:len(parts)-1]
	}
	return parts[0]
}

func mergePairs(parts [][]int, s size) []int {
	for len(parts) > 1 {
		half := len(parts) / 2
		var wg sync.WaitGroup
		for i := range half {
			wg.Go(func() { parts[i] = mergeTwo(parts[i], parts[i+half], s) })
		}
		wg.Wait()
		parts = parts[:half]
	}
	return parts[0]
}
