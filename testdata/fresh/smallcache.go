package main

import "sync"

// A cache forgets everything when it is full, and is smaller than what is asked for in turn.
//
// truth: few-hits less-work all-busy garbage-collector serial-run serial-procedure one-goroutine one-processor few-parts
type smallcacheCache struct {
	mu     sync.Mutex
	values map[int]uint64
	most   int
	us     int
}

func (c *smallcacheCache) get(k int) uint64 {
	c.mu.Lock()
	v, ok := c.values[k]
	c.mu.Unlock()
	if ok {
		return v
	}
	v = smallcacheLoad(k, c.us)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.values) >= c.most {
		clear(c.values)
	}
	c.values[k] = v
	return v
}

func smallcacheLoad(k, us int) uint64 { return work(us) + uint64(k) }

func smallcache(s size) { smallcacheRun(s, 30) }

func smallcacheRepaired(s size) { smallcacheRun(s, 300) }

func smallcacheRun(s size, most int) {
	c := &smallcacheCache{values: map[int]uint64{}, most: most, us: 2 * s.us}
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			sum := uint64(0)
			for i := range s.n {
				sum += c.get(i*7%50) + work(s.us/4)
			}
			keep(sum)
		})
	}
	wg.Wait()
}
