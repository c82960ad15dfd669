package main

import "sync"

// A channel is a lock, held for work that does not need it.
//
// truth: semaphore
type chanmutexIndex struct {
	turn chan bool
	mu   sync.Mutex
	rows map[int]uint64
}

func (x *chanmutexIndex) put(i, us int) {
	<-x.turn
	x.rows[i%50] = work(us)
	x.turn <- true
}

func (x *chanmutexIndex) putRepaired(i, us int) {
	v := work(us)
	x.mu.Lock()
	x.rows[i%50] = v
	x.mu.Unlock()
}

func chanmutex(s size)         { chanmutexRun(s, (*chanmutexIndex).put) }
func chanmutexRepaired(s size) { chanmutexRun(s, (*chanmutexIndex).putRepaired) }

func chanmutexRun(s size, put func(*chanmutexIndex, int, int)) {
	x := &chanmutexIndex{turn: make(chan bool, 1), rows: map[int]uint64{}}
	x.turn <- true
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			for i := g; i < s.n; i += s.g {
				put(x, i, s.us)
			}
		})
	}
	wg.Wait()
}
