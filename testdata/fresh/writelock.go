package main

import "sync"

// Readers take the lock for writing.
//
// truth: contended-lock saturated-lock spinning-lock pending-writer
type writelockTable struct {
	mu   sync.RWMutex
	rows [128]uint64
}

func (t *writelockTable) find(i, us int) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rows[i%len(t.rows)] + work(us)
}

func (t *writelockTable) findRepaired(i, us int) uint64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.rows[i%len(t.rows)] + work(us)
}

func writelock(s size)         { writelockRun(s, (*writelockTable).find) }
func writelockRepaired(s size) { writelockRun(s, (*writelockTable).findRepaired) }

func writelockRun(s size, find func(*writelockTable, int, int) uint64) {
	t := &writelockTable{}
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			sum := uint64(0)
			for i := g; i < s.n; i += s.g {
				sum += find(t, i, s.us)
			}
			keep(sum)
		})
	}
	wg.Wait()
}
