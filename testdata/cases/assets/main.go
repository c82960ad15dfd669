// Command assets serves compressed assets from memory.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

var errEmpty = errors.New("empty asset")

type asset struct {
	path string
	body []byte
}

type response struct {
	status   int
	encoding string
	body     []byte
}

// encoders recycles gzip writers between requests.
type encoders struct {
	pool sync.Pool
}

func newEncoders() *encoders {
	e := &encoders{}
	e.pool.New = func() any {
		w, _ := gzip.NewWriterLevel(nil, gzip.DefaultCompression)
		return w
	}
	return e
}

// compress returns the smaller of the plain and the compressed body.
func (e *encoders) compress(body []byte) ([]byte, bool, error) {
	if len(body) == 0 {
		return nil, false, errEmpty
	}
	w := e.pool.Get().(*gzip.Writer)
	if *revised {
		defer e.pool.Put(w)
	}
	var buf bytes.Buffer
	w.Reset(&buf)
	if _, err := w.Write(body); err != nil {
		return nil, false, err
	}
	if err := w.Close(); err != nil {
		return nil, false, err
	}
	if buf.Len() < len(body) {
		return buf.Bytes(), true, nil
	}
	if !*revised {
		e.pool.Put(w)
	}
	return body, false, nil
}

type site struct {
	assets   map[string]asset
	encoders *encoders

	mu     sync.Mutex
	visits map[string]int
}

func newSite(n int) *site {
	s := &site{assets: map[string]asset{}, encoders: newEncoders(), visits: map[string]int{}}
	for i := 0; i < n; i++ {
		p := fmt.Sprintf("/static/widget-%d.js", i)
		body := strings.Repeat(fmt.Sprintf("export function widget%d(a, b) { return a + b * %d }\n", i, i*31), 1500)
		s.assets[p] = asset{path: p, body: []byte(body)}
	}
	return s
}

func (s *site) visit(path string) {
	s.mu.Lock()
	s.visits[path]++
	s.mu.Unlock()
}

func (s *site) serve(path string) response {
	a, ok := s.assets[path]
	if !ok {
		return response{status: 404}
	}
	s.visit(path)
	body, packed, err := s.encoders.compress(a.body)
	if err != nil {
		return response{status: 500}
	}
	r := response{status: 200, body: body}
	if packed {
		r.encoding = "gzip"
	}
	return r
}

func main() {
	flag.Parse()
	start := time.Now()
	const workers, requests = 4, 400
	s := newSite(50)
	var bytesOut, missing atomic.Int64
	var crc atomic.Uint64
	var wg sync.WaitGroup
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; i < requests; i++ {
				r := s.serve(fmt.Sprintf("/static/widget-%d.js", (i*7+w)%51))
				if r.status != 200 {
					missing.Add(1)
					continue
				}
				bytesOut.Add(int64(len(r.body)))
				crc.Add(uint64(crc32.ChecksumIEEE(r.body)))
			}
		}()
	}
	wg.Wait()
	fmt.Println("bytes", bytesOut.Load(), "missing", missing.Load(), "crc", crc.Load())
	fmt.Println("truth run", time.Since(start))
}
