package main

import "sync"

// All who wait are woken, and one of them finds something.
//
// truth: wake-ups-in-vain contended-lock saturated-lock spinning-lock pending-writer
type herdQueue struct {
	mu    sync.Mutex
	some  *sync.Cond
	items int
	over  bool
	all   bool
}

func (q *herdQueue) put() {
	q.mu.Lock()
	q.items++
	q.mu.Unlock()
	if q.all {
		q.some.Broadcast()
	} else {
		q.some.Signal()
	}
}

func (q *herdQueue) get() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.items == 0 && !q.over {
		q.some.Wait()
	}
	if q.items == 0 {
		return false
	}
	q.items--
	return true
}

func herd(s size)         { herdRun(s, true) }
func herdRepaired(s size) { herdRun(s, false) }

func herdRun(s size, all bool) {
	q := &herdQueue{all: all}
	q.some = sync.NewCond(&q.mu)
	var wg sync.WaitGroup
	for range 16 * s.g {
		wg.Go(func() {
			for q.get() {
				keep(work(1))
			}
		})
	}
	for range s.n * s.us / 10 {
		q.put()
		keep(work(5))
	}
	q.mu.Lock()
	q.over = true
	q.mu.Unlock()
	q.some.Broadcast()
	wg.Wait()
}
