package main

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

type side int

const (
	buy side = iota
	sell
)

type order struct {
	id    uint64
	side  side
	price int
	qty   int
}

// book keeps the resting quantity at each price level.
type book struct {
	mu     sync.Mutex
	levels [2]map[int]int
	volume int
}

func newBook() *book {
	b := &book{}
	b.levels[buy] = map[int]int{}
	b.levels[sell] = map[int]int{}
	return b
}

func (b *book) place(o order) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.levels[o.side][o.price] += o.qty
	b.volume += o.qty
}

func (b *book) total() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.volume
}

// gate refuses orders while the process is short of memory.
type gate struct {
	limit   uint64
	sampled bool
	heap    atomic.Uint64
}

func (g *gate) usage() uint64 {
	var ms runtime.MemStats
	runtime.ReadMemStats(&ms)
	return ms.HeapAlloc
}

func (g *gate) refresh(every time.Duration, stop <-chan struct{}) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		g.heap.Store(g.usage())
		select {
		case <-t.C:
		case <-stop:
			return
		}
	}
}

func (g *gate) admit() bool {
	if g.sampled {
		return g.heap.Load() < g.limit
	}
	return g.usage() < g.limit
}

type trader struct {
	id   int
	book *book
	gate *gate
	sig  [32]byte
}

func (t *trader) sign(o order) {
	var buf [64]byte
	copy(buf[:], t.sig[:])
	binary.LittleEndian.PutUint64(buf[32:], o.id)
	binary.LittleEndian.PutUint64(buf[40:], uint64(o.price))
	for i := 0; i < 1500; i++ {
		t.sig = sha256.Sum256(buf[:])
		copy(buf[:], t.sig[:])
	}
}

func (t *trader) run(n int, refused *atomic.Int64) {
	for i := 0; i < n; i++ {
		o := order{id: uint64(t.id*n + i), side: side(i & 1), price: 900 + (i*37+t.id)%200, qty: 1 + i%9}
		t.sign(o)
		if !t.gate.admit() {
			refused.Add(1)
			continue
		}
		t.book.place(o)
	}
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 700, "orders per trader")
	flag.Parse()
	start := time.Now()

	stop := make(chan struct{})
	g := &gate{limit: 1 << 32, sampled: *fix}
	if *fix {
		go g.refresh(50*time.Millisecond, stop)
	}
	b := newBook()
	var refused atomic.Int64
	var wg sync.WaitGroup
	for i := 0; i < 6; i++ {
		t := &trader{id: i, book: b, gate: g}
		wg.Add(1)
		go func() {
			defer wg.Done()
			t.run(*n, &refused)
		}()
	}
	wg.Wait()
	close(stop)
	fmt.Printf("volume %d refused %d levels %d/%d\n", b.total(), refused.Load(), len(b.levels[buy]), len(b.levels[sell]))
	fmt.Printf("truth run %v\n", time.Since(start))
}
