package main

import (
	"flag"
	"fmt"
	"sort"
	"sync"
	"time"
)

type product struct {
	sku   string
	cents int
	stock int
}

type line struct {
	sku string
	qty int
}

type order struct {
	id    int
	lines []line
}

// warehouse is reached over the network: each call costs a round trip.
type warehouse struct {
	mu       sync.RWMutex
	products map[string]product
	trip     time.Duration
	perRow   time.Duration
}

func (w *warehouse) query(skus ...string) []product {
	time.Sleep(w.trip + time.Duration(len(skus))*w.perRow)
	w.mu.RLock()
	defer w.mu.RUnlock()
	out := make([]product, 0, len(skus))
	for _, s := range skus {
		out = append(out, w.products[s])
	}
	return out
}

type pricer struct {
	wh   *warehouse
	bulk bool
}

func (p *pricer) load(o order) map[string]product {
	found := make(map[string]product, len(o.lines))
	if p.bulk {
		skus := make([]string, 0, len(o.lines))
		for _, l := range o.lines {
			skus = append(skus, l.sku)
		}
		for _, pr := range p.wh.query(skus...) {
			found[pr.sku] = pr
		}
		return found
	}
	for _, l := range o.lines {
		for _, pr := range p.wh.query(l.sku) {
			found[pr.sku] = pr
		}
	}
	return found
}

func (p *pricer) price(o order) int {
	found := p.load(o)
	total := 0
	for _, l := range o.lines {
		total += found[l.sku].cents * l.qty
	}
	return total
}

type ledger struct {
	mu     sync.Mutex
	totals map[int]int
}

func (l *ledger) post(id, cents int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.totals[id] = cents
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 500, "orders")
	flag.Parse()
	start := time.Now()
	wh := &warehouse{products: map[string]product{}, trip: 600 * time.Microsecond, perRow: 900 * time.Microsecond}
	for i := 0; i < 5000; i++ {
		sku := fmt.Sprintf("SKU%05d", i)
		wh.products[sku] = product{sku, 99 + i*7%5000, i % 40}
	}
	p := &pricer{wh: wh, bulk: *fix}
	led := &ledger{totals: map[int]int{}}
	orders := make(chan order)
	var wg sync.WaitGroup
	for i := 0; i < 6; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for o := range orders {
				led.post(o.id, p.price(o))
			}
		}()
	}
	for i := 0; i < *n; i++ {
		o := order{id: i}
		for j := 0; j < 6; j++ {
			o.lines = append(o.lines, line{fmt.Sprintf("SKU%05d", (i*97+j*613)%5000), 1 + j})
		}
		orders <- o
	}
	close(orders)
	wg.Wait()
	totals := make([]int, 0, len(led.totals))
	for _, t := range led.totals {
		totals = append(totals, t)
	}
	sort.Ints(totals)
	fmt.Printf("orders %d median %d cents max %d\n", len(totals), totals[len(totals)/2], totals[len(totals)-1])
	fmt.Printf("truth run %v\n", time.Since(start))
}
