package main

import (
	"maps"
	"sync"
	"sync/atomic"
)

// A table is copied under its lock for each look.
//
// truth: contended-lock saturated-lock spinning-lock pending-writer less-work garbage-collector
type snapshotState struct {
	mu    sync.Mutex
	table map[int]int
	now   atomic.Pointer[map[int]int]
}

func (t *snapshotState) look() map[int]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.table)
}

func (t *snapshotState) lookRepaired() map[int]int { return *t.now.Load() }

func snapshot(s size)         { snapshotRun(s, (*snapshotState).look) }
func snapshotRepaired(s size) { snapshotRun(s, (*snapshotState).lookRepaired) }

func snapshotRun(s size, look func(*snapshotState) map[int]int) {
	t := &snapshotState{table: map[int]int{}}
	for i := range 400 {
		t.table[i] = i
	}
	t.now.Store(&t.table)
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			sum := 0
			for i := range s.n * s.us / 10 / s.g {
				sum += look(t)[i%400]
				keep(work(3))
			}
			keep(uint64(sum))
		})
	}
	wg.Wait()
}
