package main

import (
	"sync"
	"time"
)

// Long reads keep a writer waiting, and it keeps other readers out.
//
// truth: contended-lock saturated-lock spinning-lock pending-writer timer
type slowreaderConfig struct {
	mu    sync.RWMutex
	value uint64
}

func (c *slowreaderConfig) walk(wait time.Duration) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	time.Sleep(wait)
}

func (c *slowreaderConfig) walkRepaired(wait time.Duration) {
	c.mu.RLock()
	v := c.value
	c.mu.RUnlock()
	time.Sleep(wait)
	keep(v)
}

func (c *slowreaderConfig) get(us int) uint64 {
	c.mu.RLock()
	v := c.value
	c.mu.RUnlock()
	return v + work(us)
}

func slowreader(s size)         { slowreaderRun(s, (*slowreaderConfig).walk) }
func slowreaderRepaired(s size) { slowreaderRun(s, (*slowreaderConfig).walkRepaired) }

func slowreaderRun(s size, walk func(*slowreaderConfig, time.Duration)) {
	c := &slowreaderConfig{}
	stop := make(chan bool)
	var walkers, readers sync.WaitGroup
	walkers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				walk(c, 4*s.wait)
			}
		}
	})
	walkers.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(s.wait):
				c.mu.Lock()
				c.value++
				c.mu.Unlock()
			}
		}
	})
	for range s.g {
		readers.Go(func() {
			sum := uint64(0)
			for range s.n / 3 {
				sum += c.get(s.us)
			}
			keep(sum)
		})
	}
	readers.Wait()
	close(stop)
	walkers.Wait()
}
