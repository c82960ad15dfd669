// Command quotapull downloads exchange rates from a provider whose contract
// allows 250 requests a second with bursts of up to 10.
package main

import (
	"flag"
	"fmt"
	"sync"
	"time"
)

const (
	pairs     = 420
	quota     = 250
	burst     = 10
	roundTrip = 6 * time.Millisecond
)

// bucket is a token bucket: take returns when the caller may go on.
type bucket struct {
	mu    sync.Mutex
	gap   time.Duration
	depth time.Duration
	next  time.Time
}

func newBucket(perSecond, burst int) *bucket {
	gap := time.Second / time.Duration(perSecond)
	return &bucket{gap: gap, depth: gap * time.Duration(burst), next: time.Now().Add(-gap * time.Duration(burst))}
}

func (b *bucket) reserve(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if earliest := now.Add(-b.depth); b.next.Before(earliest) {
		b.next = earliest
	}
	b.next = b.next.Add(b.gap)
	return b.next.Sub(now)
}

func (b *bucket) take() {
	if wait := b.reserve(time.Now()); wait > 0 {
		time.Sleep(wait)
	}
}

type rate struct {
	pair  int
	micro int64
}

type provider struct{}

func (provider) get(pair int) rate {
	time.Sleep(roundTrip)
	x := uint64(pair+1) * 0x9e3779b97f4a7c15
	return rate{pair, int64(x>>40%2_000_000) + 100_000}
}

type puller struct {
	quota *bucket
	api   provider
}

func (p *puller) pull(in <-chan int, out chan<- rate) {
	for pair := range in {
		p.quota.take()
		out <- p.api.get(pair)
	}
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	workers := 8
	if *fix {
		workers = 24
	}
	in := make(chan int)
	out := make(chan rate, workers)
	p := &puller{quota: newBucket(quota, burst)}
	var wg sync.WaitGroup
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			p.pull(in, out)
		}()
	}
	go func() {
		for pair := range pairs {
			in <- pair
		}
		close(in)
		wg.Wait()
		close(out)
	}()
	rates := make(map[int]int64, pairs)
	for r := range out {
		rates[r.pair] = r.micro
	}
	var sum int64
	for _, m := range rates {
		sum += m
	}
	fmt.Printf("pairs=%d mean=%d.%06d\n", len(rates), sum/pairs/1_000_000, sum/pairs%1_000_000)
}
