// Command ratecache computes insurance rates through a sharded cache.
package main

import (
	"flag"
	"fmt"
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

var _ = flag.Bool("fix", false, "use the revised form")

type profile struct {
	age, region, class int
}

type shard struct {
	mu    sync.RWMutex
	rates map[profile]float64
}

type cache struct {
	seed   maphash.Seed
	shards [64]shard
	misses atomic.Int64
}

func newCache() *cache {
	c := &cache{seed: maphash.MakeSeed()}
	for i := range c.shards {
		c.shards[i].rates = map[profile]float64{}
	}
	return c
}

func (c *cache) shard(p profile) *shard {
	return &c.shards[maphash.Comparable(c.seed, p)%uint64(len(c.shards))]
}

func (c *cache) rate(p profile, compute func(profile) float64) float64 {
	s := c.shard(p)
	s.mu.RLock()
	r, ok := s.rates[p]
	s.mu.RUnlock()
	if ok {
		return r
	}
	r = compute(p)
	c.misses.Add(1)
	s.mu.Lock()
	s.rates[p] = r
	s.mu.Unlock()
	return r
}

// actuary derives the base rate from a mortality table.
type actuary struct {
	table    [120]float64
	discount [45 * 12]float64
}

func newActuary() *actuary {
	a := &actuary{}
	for i := range a.table {
		a.table[i] = 0.0002 * math.Exp(float64(i)*0.085)
	}
	for m := range a.discount {
		a.discount[m] = math.Pow(1.02, -float64(m)/12)
	}
	return a
}

func (a *actuary) base(p profile) float64 {
	alive, sum, value := 1.0, 0.0, 1.0
	for y := p.age; y < len(a.table); y++ {
		q := math.Min(1, a.table[y]*(1+float64(p.region%7)/50))
		sum += alive * q * value
		alive *= 1 - q
		value *= 0.97
	}
	return sum * (1 + float64(p.class)/10)
}

type policy struct {
	profile profile
	amount  float64
	years   int
}

// premium discounts the monthly cash flows over the term of the policy.
func (a *actuary) premium(pl policy, rate float64) float64 {
	claims, income, inForce := 0.0, 0.0, 1.0
	for m := 0; m < pl.years*12; m++ {
		d := a.discount[m]
		claims += pl.amount * rate * inForce * d / 12
		income += inForce * d / 12
		inForce *= 1 - rate/240 - 0.002
	}
	return claims / income
}

type summary struct {
	policies int
	cents    int64
}

func quote(c *cache, a *actuary, from, to int) summary {
	var s summary
	for i := from; i < to; i++ {
		pl := policy{
			profile: profile{age: 20 + i*7%60, region: i * 13 % 41, class: i % 5},
			amount:  float64(10000 + i%900*100),
			years:   5 + i%30,
		}
		s.cents += int64(math.Round(a.premium(pl, c.rate(pl.profile, a.base))))
		s.policies++
	}
	return s
}

func main() {
	flag.Parse()
	start := time.Now()
	c, a := newCache(), newActuary()
	const policies, chunk = 1500000, 2000
	chunks := make(chan int, policies/chunk)
	for i := 0; i < policies; i += chunk {
		chunks <- i
	}
	close(chunks)
	var mu sync.Mutex
	var total summary
	var wg sync.WaitGroup
	for w := 0; w < 4; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range chunks {
				s := quote(c, a, i, i+chunk)
				mu.Lock()
				total.policies += s.policies
				total.cents += s.cents
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	fmt.Println("policies", total.policies, "cents", total.cents)
	fmt.Println("truth run", time.Since(start))
}
