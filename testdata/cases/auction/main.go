package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"sync"
	"time"
)

type bid struct {
	bidder int
	lot    int
	cents  int
}

// notary is an external office with fixed slots; each seal needs the previous one.
type notary struct {
	last  [32]byte
	slot  time.Time
	seals int
}

func (n *notary) seal(lot int) {
	n.slot = n.slot.Add(8 * time.Millisecond)
	time.Sleep(time.Until(n.slot))
	n.last = sha256.Sum256(append(n.last[:], byte(lot), byte(lot>>8)))
	n.seals++
}

// gallery keeps the running statistics of all bids.
type gallery struct {
	stamp  time.Duration
	mu     sync.Mutex
	bids   int
	sum    int
	digest [32]byte
}

func (g *gallery) digestOf(b bid) [32]byte {
	d := sha256.Sum256([]byte(fmt.Sprint(b)))
	for i := 0; i < 200; i++ {
		d = sha256.Sum256(d[:])
	}
	time.Sleep(g.stamp)
	return d
}

func (g *gallery) fold(b bid, d [32]byte) {
	g.bids++
	g.sum += b.cents
	for i := range d {
		g.digest[i] ^= d[i]
	}
}

func (g *gallery) watch(b bid) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fold(b, g.digestOf(b))
}

func (g *gallery) watchFree(b bid) {
	d := g.digestOf(b)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fold(b, d)
}

type bidder struct {
	id    int
	watch func(bid)
}

func (b *bidder) run(n int) {
	for i := 0; i < n; i++ {
		b.watch(bid{b.id, i % 20, 1000 + i*b.id*7%5000})
		if i%4 == 3 {
			time.Sleep(2 * time.Millisecond)
		}
	}
}

type house struct {
	notary *notary
	sold   map[int]string
}

func (h *house) sell(lots int) {
	for l := 0; l < lots; l++ {
		h.notary.seal(l)
		h.sold[l] = hex.EncodeToString(h.notary.last[:4])
	}
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 100, "lots")
	flag.Parse()
	start := time.Now()
	g := &gallery{stamp: time.Millisecond}
	watch := g.watch
	if *fix {
		watch = g.watchFree
	}
	var wg sync.WaitGroup
	for i := 0; i < 10; i++ {
		b := &bidder{id: i, watch: watch}
		wg.Add(1)
		go func() {
			defer wg.Done()
			b.run(50)
		}()
	}
	h := &house{notary: &notary{slot: start}, sold: map[int]string{}}
	h.sell(*n)
	wg.Wait()
	fmt.Printf("sold %d last %s bids %d sum %d digest %x\n", len(h.sold), h.sold[*n-1], g.bids, g.sum, g.digest[:4])
	fmt.Printf("truth run %v\n", time.Since(start))
}
