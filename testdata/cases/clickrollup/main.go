// Command clickrollup sums up click streams per page. Events are partitioned
// so that each partition's state is owned by one goroutine.
package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"strconv"
	"sync"
	"time"
)

const (
	partitions = 8
	events     = 820_000
	batchSize  = 256
)

type click struct {
	site string
	page int
	user uint64
}

type pageKey struct {
	site string
	page int
}

type pageStats struct {
	clicks int
	sketch [64]uint8
}

// observe keeps a small cardinality sketch of the users seen.
func (p *pageStats) observe(user uint64) {
	p.clicks++
	h := user
	for range 900 {
		h ^= h >> 33
		h *= 0xff51afd7ed558ccd
	}
	slot, rest := h&63, h>>6|1<<50
	rank := uint8(1)
	for rest&1 == 0 {
		rank++
		rest >>= 1
	}
	p.sketch[slot] = max(p.sketch[slot], rank)
}

type partition struct {
	in    chan []click
	pages map[pageKey]*pageStats
}

func (p *partition) run(wg *sync.WaitGroup) {
	defer wg.Done()
	for batch := range p.in {
		for _, c := range batch {
			k := pageKey{c.site, c.page}
			s := p.pages[k]
			if s == nil {
				s = &pageStats{}
				p.pages[k] = s
			}
			s.observe(c.user)
		}
	}
}

func bySite(c click) uint32 {
	h := fnv.New32a()
	h.Write([]byte(c.site))
	return h.Sum32()
}

func byPage(c click) uint32 {
	h := fnv.New32a()
	h.Write([]byte(c.site))
	h.Write([]byte{'/'})
	h.Write(strconv.AppendInt(nil, int64(c.page), 10))
	return h.Sum32()
}

// clickAt yields the n-th event; one site is far more popular than others.
func clickAt(n int) click {
	x := uint64(n)*0x9e3779b97f4a7c15 + 7
	x ^= x >> 29
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 32
	site := "shop.example"
	if x%100 >= 88 {
		site = "blog" + strconv.Itoa(int(x>>8%40)) + ".example"
	}
	return click{site: site, page: int(x >> 20 % 600), user: x >> 40}
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	key := bySite
	if *fix {
		key = byPage
	}
	var parts [partitions]*partition
	var wg sync.WaitGroup
	for i := range parts {
		parts[i] = &partition{in: make(chan []click, 16), pages: make(map[pageKey]*pageStats)}
		wg.Add(1)
		go parts[i].run(&wg)
	}
	var open [partitions][]click
	for n := 0; n < events; n++ {
		c := clickAt(n)
		i := key(c) % partitions
		open[i] = append(open[i], c)
		if len(open[i]) == batchSize {
			parts[i].in <- open[i]
			open[i] = nil
		}
	}
	for i := range parts {
		parts[i].in <- open[i]
		close(parts[i].in)
	}
	wg.Wait()

	pages, clicks, ranks := 0, 0, 0
	for _, p := range parts {
		pages += len(p.pages)
		for _, s := range p.pages {
			clicks += s.clicks
			for _, r := range s.sketch {
				ranks += int(r)
			}
		}
	}
	fmt.Printf("pages=%d clicks=%d ranks=%d\n", pages, clicks, ranks)
}
