package main

import "sync"

// One lock guards what could have a lock for each part.
//
// truth: contended-lock saturated-lock spinning-lock pending-writer
type globallockShard struct {
	mu  sync.Mutex
	sum uint64
}

type globallockStore struct {
	mu     sync.Mutex
	shards [32]globallockShard
}

func (t *globallockStore) add(i, us int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shards[i%len(t.shards)].sum += work(us)
}

func (t *globallockStore) addRepaired(i, us int) {
	shard := &t.shards[i%len(t.shards)]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	shard.sum += work(us)
}

func globallock(s size)         { globallockRun(s, (*globallockStore).add) }
func globallockRepaired(s size) { globallockRun(s, (*globallockStore).addRepaired) }

func globallockRun(s size, add func(*globallockStore, int, int)) {
	t := &globallockStore{}
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			for i := g; i < s.n; i += s.g {
				add(t, i, s.us)
			}
		})
	}
	wg.Wait()
}
