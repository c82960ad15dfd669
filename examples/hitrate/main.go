// Command hitrate is a cache whose users ask for a few keys often and for many
// seldom. Each access is a record. An extension reduces them to hit rates, one record for
// each shard and tenth of a second, so that the trace of a long run stays short.
//
//	go build -toolexec qinst -o hitrate . && QINST=budget=off ./hitrate
//	qinst dump -only "hit rate" hitrate.*.sddf
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"qinst.dev/extensions"
	"qinst.dev/sddf"
)

// access is the program's record of one use of the cache.
type access struct {
	Shard uint32 `sddf:"shard"`
	Hit   bool   `sddf:"hit"`
}

// hitRate is the record that the trace gets instead of accesses.
type hitRate struct {
	Shard    uint32  `sddf:"shard"`
	Accesses uint64  `sddf:"accesses"`
	Hits     uint64  `sddf:"hits"`
	Rate     float64 `sddf:"rate"`
}

var (
	accesses = sddf.Define[access]("access")
	hitRates = sddf.Define[hitRate]("hit rate")
)

const shards = 4

// rates is the extension: it counts accesses and drops them.
type rates struct {
	counts, hits [shards]uint64
}

func (r *rates) Batch(b *extensions.Batch) {
	for i := range b.Events {
		if a, ok := extensions.As(b, i, accesses); ok {
			r.counts[a.Shard]++
			if a.Hit {
				r.hits[a.Shard]++
			}
			b.Drop(i)
		}
	}
}

func (r *rates) Flush(out *extensions.Out, _ bool) {
	for shard, n := range r.counts {
		if n > 0 {
			rate := float64(r.hits[shard]) / float64(n)
			extensions.Emit(out, hitRates, hitRate{uint32(shard), n, r.hits[shard], rate})
		}
	}
	*r = rates{}
}

func init() { extensions.Use("hit rates", extensions.Records|extensions.Drops, &rates{}) }

// cache forgets a random key when a shard is full.
type cache struct {
	shards [shards]struct {
		sync.Mutex
		keys map[int]bool
	}
	size int
}

func (c *cache) get(key int) bool {
	shard := key % shards
	s := &c.shards[shard]
	s.Lock()
	hit := s.keys[key]
	if !hit {
		c.put(s.keys, key)
	}
	s.Unlock()
	accesses.Emit(access{uint32(shard), hit})
	return hit
}

func (c *cache) put(keys map[int]bool, key int) {
	for old := range keys {
		if len(keys) < c.size {
			break
		}
		delete(keys, old)
	}
	keys[key] = true
}

func main() {
	n := flag.Int("n", 1_000_000, "accesses")
	size := flag.Int("size", 1000, "keys in a shard")
	flag.Parse()
	c := &cache{size: *size}
	for i := range c.shards {
		c.shards[i].keys = map[int]bool{}
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	began, hits := time.Now(), 0
	for range 4 {
		wg.Go(func() {
			own := 0
			for range *n / 4 {
				if c.get(int(rand.ExpFloat64() * 1000)) {
					own++
				}
			}
			mu.Lock()
			hits += own
			mu.Unlock()
		})
	}
	wg.Wait()
	fmt.Printf("%d accesses, %d hits, %v\n", *n, hits, time.Since(began).Round(time.Millisecond))
}
