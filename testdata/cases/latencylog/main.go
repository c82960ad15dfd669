package main

import (
	"crypto/sha1"
	"encoding/hex"
	"flag"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// recorder collects request latencies in microseconds.
type recorder struct {
	mu      sync.Mutex
	samples []int
	byRoute map[string]int
	outside bool
}

func (r *recorder) add(route string, us int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples = append(r.samples, us)
	r.byRoute[route]++
}

type quantiles struct{ p50, p95, p99, count int }

func rank(sorted []int) quantiles {
	n := len(sorted)
	if n == 0 {
		return quantiles{}
	}
	return quantiles{sorted[n/2], sorted[n*95/100], sorted[n*99/100], n}
}

func (r *recorder) quantiles() quantiles {
	r.mu.Lock()
	if r.outside {
		c := slices.Clone(r.samples)
		r.mu.Unlock()
		slices.Sort(c)
		return rank(c)
	}
	defer r.mu.Unlock()
	c := slices.Clone(r.samples)
	slices.Sort(c)
	return rank(c)
}

type handler struct {
	rec   *recorder
	seed  uint32
	cache sync.Map
	done  *atomic.Int64
}

func (h *handler) handle(i int) {
	route := [...]string{"/", "/cart", "/item", "/pay"}[i%4]
	sum := sha1.Sum([]byte(fmt.Sprintf("%s?%d", route, i)))
	for k := 0; k < 26; k++ {
		sum = sha1.Sum(sum[:])
	}
	h.cache.Store(i%64, hex.EncodeToString(sum[:4]))
	h.seed = h.seed*1664525 + 1013904223
	h.rec.add(route, 200+int(h.seed>>16)%9000)
	h.done.Add(1)
}

// dashboard asks for the quantiles after every so many requests.
type dashboard struct {
	rec    *recorder
	done   *atomic.Int64
	shown  int
	latest quantiles
}

func (d *dashboard) watch(every, total int64) {
	for next := every; next <= total; next += every {
		for d.done.Load() < next {
			time.Sleep(200 * time.Microsecond)
		}
		d.latest = d.rec.quantiles()
		d.shown++
	}
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 160000, "requests per handler")
	flag.Parse()
	start := time.Now()
	rec := &recorder{byRoute: map[string]int{}, outside: *fix}
	var done atomic.Int64
	var wg sync.WaitGroup
	for w := 0; w < 2; w++ {
		h := &handler{rec: rec, seed: uint32(w), done: &done}
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; i < *n; i++ {
				h.handle(i)
			}
		}()
	}
	d := &dashboard{rec: rec, done: &done}
	wg.Add(1)
	go func() {
		defer wg.Done()
		d.watch(int64(*n)*2/26, int64(*n)*2)
	}()
	wg.Wait()
	fmt.Printf("shown %d final %+v routes %d\n", d.shown, rec.quantiles(), len(rec.byRoute))
	fmt.Printf("truth run %v\n", time.Since(start))
}
