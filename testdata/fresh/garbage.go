package main

import "sync"

// Each item allocates what could be used again.
//
// truth: garbage-collector much-allocation less-work
type garbageNode struct {
	next *garbageNode
	data [6]uint64
}

func garbage(s size) {
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			for range s.n / s.g {
				var list *garbageNode
				for i := range s.us * 12 {
					list = &garbageNode{next: list, data: [6]uint64{uint64(i)}}
				}
				keep(list.data[0])
			}
		})
	}
	wg.Wait()
}

func garbageRepaired(s size) {
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			nodes := make([]garbageNode, s.us*12)
			for range s.n / s.g {
				var list *garbageNode
				for i := range nodes {
					nodes[i] = garbageNode{next: list, data: [6]uint64{uint64(i)}}
					list = &nodes[i]
				}
				keep(list.data[0])
			}
		})
	}
	wg.Wait()
}
