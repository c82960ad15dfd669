package main

import "sync"

// A queue of conditions has room for one item between bursts.
//
// truth: turns small-buffer contended-lock saturated-lock spinning-lock pending-writer
type condqueueQueue struct {
	mu          sync.Mutex
	room, items *sync.Cond
	list        []uint64
	most        int
}

func (q *condqueueQueue) put(v uint64) {
	q.mu.Lock()
	for len(q.list) >= q.most {
		q.room.Wait()
	}
	q.list = append(q.list, v)
	q.mu.Unlock()
	q.items.Signal()
}

func (q *condqueueQueue) get() uint64 {
	q.mu.Lock()
	for len(q.list) == 0 {
		q.items.Wait()
	}
	v := q.list[0]
	q.list = q.list[1:]
	q.mu.Unlock()
	q.room.Signal()
	return v
}

func condqueue(s size)         { condqueueRun(s, 1) }
func condqueueRepaired(s size) { condqueueRun(s, 256) }

func condqueueRun(s size, most int) {
	q := &condqueueQueue{most: most}
	q.room, q.items = sync.NewCond(&q.mu), sync.NewCond(&q.mu)
	const burst = 16
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range s.n {
			if i%burst == 0 {
				keep(work(burst * s.us))
			}
			q.put(uint64(i))
		}
	})
	wg.Go(func() {
		for i := range s.n {
			if q.get(); i%burst == burst/2 {
				keep(work(burst * s.us))
			}
		}
	})
	wg.Wait()
}
