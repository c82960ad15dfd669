// Command positionbook revalues trading positions under many market
// scenarios.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sort"
	"sync"
	"time"
)

const (
	perBook   = 420_000
	books     = 2
	scenarios = 17
)

type position struct {
	instrument int32
	account    int32
	quantity   int64
	strike     int64
	next       *position
	note       [24]byte
}

type book struct {
	head *position
	flat []position
}

// loadBook takes positions in the order of the feed and keeps them in the
// order of their instruments.
func loadBook(seed uint64, flat bool) *book {
	rng := rand.New(rand.NewPCG(seed, 11))
	feed := make([]*position, perBook)
	for i := range feed {
		feed[i] = &position{
			instrument: int32(rng.IntN(1 << 30)),
			account:    int32(i % 9973),
			quantity:   int64(rng.IntN(2000) - 1000),
			strike:     int64(9000 + rng.IntN(2000)),
		}
	}
	sort.Slice(feed, func(i, j int) bool {
		if feed[i].instrument != feed[j].instrument {
			return feed[i].instrument < feed[j].instrument
		}
		return feed[i].account < feed[j].account
	})
	b := &book{head: feed[0]}
	for i := 0; i+1 < len(feed); i++ {
		feed[i].next = feed[i+1]
	}
	if flat {
		b.flat = make([]position, 0, len(feed))
		for p := b.head; p != nil; p = p.next {
			b.flat = append(b.flat, *p)
		}
	}
	return b
}

type scenario struct {
	spot  int64
	shock int64
}

func (s scenario) value(p *position) int64 {
	price := s.spot + int64(p.instrument&127)*s.shock
	payoff := price - p.strike
	if payoff < 0 {
		payoff = 0
	}
	return payoff * p.quantity
}

func (b *book) revalue(s scenario) int64 {
	var total int64
	if b.flat != nil {
		for i := range b.flat {
			total = total*3 + s.value(&b.flat[i])
		}
		return total
	}
	for p := b.head; p != nil; p = p.next {
		total = total*3 + s.value(p)
	}
	return total
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	results := make([][]int64, books)
	var wg sync.WaitGroup
	for i := range books {
		wg.Add(1)
		go func() {
			defer wg.Done()
			b := loadBook(uint64(i)+1, *fix)
			for n := range scenarios {
				s := scenario{spot: int64(9500 + n*40), shock: int64(n%7 - 3)}
				results[i] = append(results[i], b.revalue(s))
			}
		}()
	}
	wg.Wait()
	for i, r := range results {
		var sum int64
		for _, v := range r {
			sum ^= v
		}
		fmt.Printf("book=%d scenarios=%d mark=%016x\n", i, len(r), uint64(sum))
	}
}
