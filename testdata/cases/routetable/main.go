// Command routetable forwards requests through a lock-free routing table and
// accounts the traffic of each route.
package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

type route struct {
	prefix  string
	backend string
	hits    int64
}

type meter struct {
	hits atomic.Int64
}

// table keeps an immutable snapshot of the routes; readers never block.
type table struct {
	snap   atomic.Pointer[map[string]route]
	meters map[string]*meter
}

func newTable(n int) *table {
	t := &table{meters: map[string]*meter{}}
	m := make(map[string]route, n)
	for i := 0; i < n; i++ {
		p := fmt.Sprintf("/api/v1/res%03d", i)
		m[p] = route{prefix: p, backend: fmt.Sprintf("10.0.%d.%d:8080", i/250, i%250)}
		t.meters[p] = &meter{}
	}
	t.snap.Store(&m)
	return t
}

func (t *table) lookup(path string) (route, bool) {
	parts := strings.SplitN(path, "/", 5)
	r, ok := (*t.snap.Load())[strings.Join(parts[:4], "/")]
	return r, ok
}

// record accounts one request to the route.
func (t *table) record(prefix string) {
	if *revised {
		t.meters[prefix].hits.Add(1)
		return
	}
	for {
		old := t.snap.Load()
		next := maps.Clone(*old)
		r := next[prefix]
		r.hits++
		next[prefix] = r
		if t.snap.CompareAndSwap(old, &next) {
			return
		}
	}
}

func (t *table) hits(prefix string) int64 {
	return (*t.snap.Load())[prefix].hits + t.meters[prefix].hits.Load()
}

type request struct {
	path   string
	header map[string]string
}

type proxy struct {
	table *table
	salt  string
	mu    sync.Mutex
	bad   map[string]int
}

// sign computes the forwarding signature over the headers.
func (p *proxy) sign(r request, backend string) uint64 {
	var sum uint64
	for round := 0; round < 48; round++ {
		h := fnv.New64a()
		for _, k := range []string{"host", "agent", "cookie", "trace"} {
			h.Write([]byte(k))
			h.Write([]byte(r.header[k]))
		}
		h.Write([]byte(backend))
		h.Write([]byte(p.salt))
		sum ^= h.Sum64() << (round % 7)
	}
	return sum
}

func (p *proxy) forward(r request) uint64 {
	rt, ok := p.table.lookup(r.path)
	if !ok {
		p.mu.Lock()
		p.bad[r.path]++
		p.mu.Unlock()
		return 0
	}
	s := p.sign(r, rt.backend)
	p.table.record(rt.prefix)
	return s
}

func main() {
	flag.Parse()
	start := time.Now()
	const routes, workers, perWorker = 96, 4, 20000
	p := &proxy{table: newTable(routes), salt: "s4lt", bad: map[string]int{}}
	header := map[string]string{
		"host": "shop.example.com", "agent": "curl/8.5.0 (linux)",
		"cookie": strings.Repeat("k=v;", 12), "trace": "00-4bf92f3577b34da6",
	}
	var sums atomic.Uint64
	var wg sync.WaitGroup
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; i < perWorker; i++ {
				path := fmt.Sprintf("/api/v1/res%03d/items/%d", (i*11+w)%(routes+1), i)
				sums.Add(p.forward(request{path: path, header: header}))
			}
		}()
	}
	wg.Wait()
	var total int64
	for prefix := range p.table.meters {
		total += p.table.hits(prefix)
	}
	fmt.Println("routed", total, "unknown", len(p.bad), "sum", sums.Load())
	fmt.Println("truth run", time.Since(start))
}
