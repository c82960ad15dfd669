// Command routetable answers next-hop questions from a table that is updated
// all the time and exported now and then.
package main

import (
	"flag"
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	prefixes = 4096
	lookups  = 520
	clients  = 8
)

type route struct {
	prefix uint32
	hop    uint32
	metric int
}

type table struct {
	mu     sync.RWMutex
	routes map[uint32]route
}

func newTable() *table {
	t := &table{routes: make(map[uint32]route, prefixes)}
	for i := uint32(0); i < prefixes; i++ {
		t.routes[i] = route{prefix: i, hop: i * 2654435761 >> 8, metric: int(i % 16)}
	}
	return t
}

func (t *table) lookup(p uint32) (route, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	r, ok := t.routes[p]
	return r, ok
}

func (t *table) setMetric(p uint32, metric int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.routes[p]
	r.metric = metric
	t.routes[p] = r
}

// slowLink is the collector's end of the export: it takes a page at a time.
type slowLink struct{ pages int }

func (l *slowLink) Write(p []byte) (int, error) {
	time.Sleep(1500 * time.Microsecond)
	l.pages++
	return len(p), nil
}

func writePages(w io.Writer, each func(func(route))) {
	page := make([]byte, 0, 4096)
	each(func(r route) {
		page = fmt.Appendf(page, "%08x %08x\n", r.prefix, r.hop)
		if len(page) > 4000 {
			w.Write(page)
			page = page[:0]
		}
	})
	w.Write(page)
}

func (t *table) export(w io.Writer) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	writePages(w, func(f func(route)) {
		for _, r := range t.routes {
			f(r)
		}
	})
}

func (t *table) exportCopy(w io.Writer) {
	t.mu.RLock()
	all := make([]route, 0, len(t.routes))
	for _, r := range t.routes {
		all = append(all, r)
	}
	t.mu.RUnlock()
	writePages(w, func(f func(route)) {
		for _, r := range all {
			f(r)
		}
	})
}

func every(d time.Duration, stop <-chan struct{}, wg *sync.WaitGroup, f func(n int)) {
	defer wg.Done()
	tick := time.NewTicker(d)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-tick.C:
			f(n)
		}
	}
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	t := newTable()
	export := t.export
	if *fix {
		export = t.exportCopy
	}
	stop := make(chan struct{})
	var side, wg sync.WaitGroup
	side.Add(2)
	go every(4*time.Millisecond, stop, &side, func(n int) { t.setMetric(uint32(n*37%prefixes), n%16) })
	go every(60*time.Millisecond, stop, &side, func(int) { export(&slowLink{}) })

	sums := make([]uint64, clients)
	for c := range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 0; n < lookups; n++ {
				if r, ok := t.lookup(uint32(c*977+n*131) % prefixes); ok {
					sums[c] += uint64(r.hop)
				}
				time.Sleep(200 * time.Microsecond)
			}
		}()
	}
	wg.Wait()
	close(stop)
	side.Wait()
	var sum uint64
	for _, s := range sums {
		sum += s
	}
	fmt.Printf("lookups=%d sum=%d\n", clients*lookups, sum)
}
