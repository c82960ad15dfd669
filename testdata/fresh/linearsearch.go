package main

import "sync"

// Each look-up goes through a whole list.
//
// truth: less-work all-busy serial-run serial-procedure one-goroutine one-processor few-parts
type linearsearchItem struct {
	key, value int
	name       [4]int
}

func linearsearch(s size) {
	list := make([]linearsearchItem, 2000)
	for i := range list {
		list[i] = linearsearchItem{key: i * 7, value: i}
	}
	linearsearchRun(s, func(k int) int {
		for i := range list {
			if list[i].key == k {
				return list[i].value
			}
		}
		return 0
	})
}

func linearsearchRepaired(s size) {
	table := map[int]int{}
	for i := range 2000 {
		table[i*7] = i
	}
	linearsearchRun(s, func(k int) int { return table[k] })
}

func linearsearchRun(s size, find func(int) int) {
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			sum := 0
			for i := g; i < s.n*s.us*2; i += s.g {
				sum += find(i % 2000 * 7)
			}
			keep(uint64(sum))
		})
	}
	wg.Wait()
}
