package main

import (
	"flag"
	"fmt"
	"hash/crc32"
	"sync"
	"time"
)

type write struct {
	key, value string
	version    int
}

// replica is one storage node.
type replica struct {
	name  string
	delay func(version int) time.Duration
	mu    sync.Mutex
	data  map[string]write
}

func (r *replica) apply(w write) error {
	time.Sleep(r.delay(w.version))
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.data[w.key]; !ok || old.version < w.version {
		r.data[w.key] = w
	}
	return nil
}

type cluster struct {
	replicas []*replica
	quorum   int
	early    bool
	inflight sync.WaitGroup
}

func (c *cluster) put(w write) error {
	acks := make(chan error, len(c.replicas))
	for _, r := range c.replicas {
		c.inflight.Add(1)
		go func() {
			defer c.inflight.Done()
			acks <- r.apply(w)
		}()
	}
	need := len(c.replicas)
	if c.early {
		need = c.quorum
	}
	good := 0
	for i := 0; i < need; i++ {
		if err := <-acks; err == nil {
			good++
		}
	}
	if good < c.quorum {
		return fmt.Errorf("put %s: %d acks", w.key, good)
	}
	return nil
}

func (c *cluster) digest() (n int, sum uint32) {
	for _, r := range c.replicas {
		for k, w := range r.data {
			n++
			sum ^= crc32.ChecksumIEEE([]byte(k + w.value))
		}
	}
	return n, sum
}

type client struct {
	id      int
	c       *cluster
	mu      *sync.Mutex
	pending map[string]int
}

func (cl *client) run(n int) error {
	for i := 0; i < n; i++ {
		key := fmt.Sprintf("user:%d:%d", cl.id, i%50)
		cl.mu.Lock()
		cl.pending[key]++
		cl.mu.Unlock()
		if err := cl.c.put(write{key, fmt.Sprint(i * cl.id), i}); err != nil {
			return err
		}
		cl.mu.Lock()
		cl.pending[key]--
		cl.mu.Unlock()
	}
	return nil
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 160, "writes per client")
	flag.Parse()
	start := time.Now()
	c := &cluster{quorum: 2, early: *fix}
	for i, base := range []time.Duration{2000, 2300, 5200} {
		c.replicas = append(c.replicas, &replica{name: fmt.Sprintf("node%d", i), data: map[string]write{},
			delay: func(v int) time.Duration { return (base + time.Duration(v%5)*100) * time.Microsecond }})
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	pending := map[string]int{}
	for i := 1; i <= 6; i++ {
		cl := &client{id: i, c: c, mu: &mu, pending: pending}
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := cl.run(*n); err != nil {
				panic(err)
			}
		}()
	}
	wg.Wait()
	c.inflight.Wait()
	keys, sum := c.digest()
	fmt.Printf("keys %d sum %08x\n", keys, sum)
	fmt.Printf("truth run %v\n", time.Since(start))
}
