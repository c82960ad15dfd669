package main

import "sync"

// Several goroutines compute what one of them would have computed for all.
//
// truth: less-work all-busy
type stampedeCache struct {
	mu     sync.Mutex
	values map[int]uint64
	making map[int]chan bool
}

func (c *stampedeCache) get(k, us int) uint64 {
	c.mu.Lock()
	v, ok := c.values[k]
	c.mu.Unlock()
	if ok {
		return v
	}
	v = work(us)
	c.mu.Lock()
	c.values[k] = v
	c.mu.Unlock()
	return v
}

func (c *stampedeCache) getRepaired(k, us int) uint64 {
	c.mu.Lock()
	if v, ok := c.values[k]; ok {
		c.mu.Unlock()
		return v
	}
	if made := c.making[k]; made != nil {
		c.mu.Unlock()
		<-made
		return c.getRepaired(k, us)
	}
	made := make(chan bool)
	c.making[k] = made
	c.mu.Unlock()
	v := work(us)
	c.mu.Lock()
	c.values[k] = v
	c.mu.Unlock()
	close(made)
	return v
}

func stampede(s size)         { stampedeRun(s, (*stampedeCache).get) }
func stampedeRepaired(s size) { stampedeRun(s, (*stampedeCache).getRepaired) }

func stampedeRun(s size, get func(*stampedeCache, int, int) uint64) {
	c := &stampedeCache{values: map[int]uint64{}, making: map[int]chan bool{}}
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			sum := uint64(0)
			for k := range s.n / 20 {
				sum += get(c, k, 10*s.us) + work(10*s.us)
			}
			keep(sum)
		})
	}
	wg.Wait()
}
