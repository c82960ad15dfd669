package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// bucket admits at most rate calls a second with bursts of at most burst.
type bucket struct {
	tokens chan struct{}
	rate   int
	stop   chan struct{}
}

func newBucket(rate, burst int, every time.Duration) *bucket {
	b := &bucket{tokens: make(chan struct{}, burst), rate: rate, stop: make(chan struct{})}
	go b.fill(every)
	return b
}

func (b *bucket) fill(every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	last := time.Now()
	credit := 0.0
	for {
		select {
		case now := <-t.C:
			credit += now.Sub(last).Seconds() * float64(b.rate)
			last = now
			for ; credit >= 1; credit-- {
				select {
				case b.tokens <- struct{}{}:
				default:
				}
			}
		case <-b.stop:
			return
		}
	}
}

func (b *bucket) wait() { <-b.tokens }

type parcel struct {
	id     int
	weight int
}

// depot is the partner's tracking service.
type depot struct {
	mu    sync.Mutex
	known map[int][4]byte
}

func (d *depot) announce(p parcel) {
	time.Sleep(3 * time.Millisecond)
	sum := sha256.Sum256([]byte(fmt.Sprint(p.id, p.weight)))
	d.mu.Lock()
	defer d.mu.Unlock()
	var short [4]byte
	copy(short[:], sum[:])
	d.known[p.id] = short
}

type courier struct {
	depot  *depot
	bucket *bucket
	queue  <-chan parcel
	weight *atomic.Int64
}

func (c *courier) run() {
	for p := range c.queue {
		c.bucket.wait()
		c.depot.announce(p)
		c.weight.Add(int64(p.weight))
	}
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 600, "parcels")
	flag.Parse()
	start := time.Now()

	refill := 100 * time.Millisecond
	if *fix {
		refill = 5 * time.Millisecond
	}
	d := &depot{known: map[int][4]byte{}}
	b := newBucket(1000, 60, refill)
	queue := make(chan parcel, 16)
	var weight atomic.Int64
	var wg sync.WaitGroup
	for i := 0; i < 8; i++ {
		c := &courier{depot: d, bucket: b, queue: queue, weight: &weight}
		wg.Add(1)
		go func() {
			defer wg.Done()
			c.run()
		}()
	}
	for i := 0; i < *n; i++ {
		queue <- parcel{id: i, weight: 100 + i*31%900}
	}
	close(queue)
	wg.Wait()
	close(b.stop)
	var x byte
	for _, s := range d.known {
		x ^= s[0] ^ s[3]
	}
	fmt.Printf("announced %d weight %d check %02x\n", len(d.known), weight.Load(), x)
	fmt.Printf("truth run %v\n", time.Since(start))
}
