package main

import "sync"

// Halves get goroutines of their own down to single items.
//
// truth: tiny-goroutines
func recursion(s size)         { keep(uint64(recursionSum(recursionList(s), 1))) }
func recursionRepaired(s size) { keep(uint64(recursionSum(recursionList(s), 4096))) }

func recursionList(s size) []int {
	list := make([]int, s.n*s.us/2)
	for i := range list {
		list[i] = i * 7
	}
	return list
}

func recursionSum(list []int, least int) int {
	if len(list) <= least {
		sum := 0
		for _, v := range list {
			for range 10 {
				sum = sum*3 + v
			}
		}
		return sum
	}
	left, right := 0, 0
	var wg sync.WaitGroup
	wg.Go(func() { left = recursionSum(list[:len(list)/2], least) })
	right = recursionSum(list[len(list)/2:], least)
	wg.Wait()
	return left + right
}
