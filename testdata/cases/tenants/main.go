// Command tenants serves documents of several tenants through a cache that
// suppresses duplicate loads.
package main

import (
	"bytes"
	"compress/zlib"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

type document struct {
	tenant, name string
	body         []byte
}

// flight deduplicates concurrent calls with the same key.
type flight struct {
	mu    sync.Mutex
	calls map[string]*call
}

type call struct {
	done chan struct{}
	doc  *document
}

func (f *flight) Do(key string, fn func() *document) *document {
	f.mu.Lock()
	if c, ok := f.calls[key]; ok {
		f.mu.Unlock()
		<-c.done
		return c.doc
	}
	c := &call{done: make(chan struct{})}
	f.calls[key] = c
	f.mu.Unlock()
	c.doc = fn()
	f.mu.Lock()
	delete(f.calls, key)
	f.mu.Unlock()
	close(c.done)
	return c.doc
}

type origin struct {
	loads atomic.Int64
}

func (o *origin) load(tenant, name string) *document {
	time.Sleep(1500 * time.Microsecond)
	o.loads.Add(1)
	var buf bytes.Buffer
	w := zlib.NewWriter(&buf)
	for i := 0; i < 120; i++ {
		fmt.Fprintf(w, "%s/%s line %d of the document\n", tenant, name, i)
	}
	w.Close()
	return &document{tenant: tenant, name: name, body: buf.Bytes()}
}

type library struct {
	origin *origin
	flight flight
	mu     sync.RWMutex
	docs   map[string]*document
}

func (l *library) cached(key string) (*document, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	d, ok := l.docs[key]
	return d, ok
}

func (l *library) load(tenant, name string) *document {
	d := l.origin.load(tenant, name)
	l.mu.Lock()
	l.docs[tenant+"/"+name] = d
	l.mu.Unlock()
	return d
}

// Get returns a document, loading it at most once at a time.
func (l *library) Get(tenant, name string) *document {
	key := tenant + "/" + name
	scope := tenant
	if *revised {
		scope = key
	}
	for {
		if d, ok := l.cached(key); ok {
			return d
		}
		if d := l.flight.Do(scope, func() *document { return l.load(tenant, name) }); d.name == name {
			return d
		}
	}
}

// checksum unpacks a document and sums it.
func checksum(d *document) uint32 {
	r, err := zlib.NewReader(bytes.NewReader(d.body))
	if err != nil {
		panic(err)
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return crc32.ChecksumIEEE(raw)
}

func main() {
	flag.Parse()
	start := time.Now()
	l := &library{origin: &origin{}, flight: flight{calls: map[string]*call{}}, docs: map[string]*document{}}
	var sum atomic.Uint64
	var wg sync.WaitGroup
	for w := 0; w < 24; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			tenant := fmt.Sprintf("tenant-%d", w%3)
			for i := 0; i < 70; i++ {
				n := w/3*35 + i
				sum.Add(uint64(checksum(l.Get(tenant, fmt.Sprintf("doc-%d", n)))))
			}
		}()
	}
	wg.Wait()
	fmt.Println("documents", len(l.docs), "sum", sum.Load())
	fmt.Println("truth run", time.Since(start))
}
