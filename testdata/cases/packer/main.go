// Command packer compresses a stream of blocks and writes them in order.
package main

import (
	"bytes"
	"compress/flate"
	"flag"
	"fmt"
	"hash/crc32"
	"runtime"
	"sync"
	"time"
)

var _ = flag.Bool("fix", false, "use the revised form")

type block struct {
	seq  int
	raw  []byte
	pack []byte
}

// source generates log-like text.
type source struct {
	blocks int
	x      uint32
}

func (s *source) next() uint32 {
	s.x = s.x*1664525 + 1013904223
	return s.x >> 8
}

func (s *source) run(out chan<- *block) {
	defer close(out)
	words := [][]byte{[]byte("GET "), []byte("POST "), []byte("/index "), []byte("/cart "), []byte("200 "), []byte("404 "), []byte("10.0.0.7 "), []byte("\n")}
	for i := 0; i < s.blocks; i++ {
		raw := make([]byte, 0, 32<<10)
		for len(raw) < 31<<10 {
			raw = append(raw, words[s.next()%8]...)
		}
		out <- &block{seq: i, raw: raw}
	}
}

type compressor struct {
	w   *flate.Writer
	buf bytes.Buffer
}

func newCompressor() *compressor {
	c := &compressor{}
	c.w, _ = flate.NewWriter(&c.buf, 6)
	return c
}

func (c *compressor) compress(b *block) {
	c.buf.Reset()
	c.w.Reset(&c.buf)
	c.w.Write(b.raw)
	c.w.Close()
	b.pack = bytes.Clone(c.buf.Bytes())
}

func (c *compressor) run(in <-chan *block, out chan<- *block) {
	for b := range in {
		c.compress(b)
		out <- b
	}
}

// sink restores the order and keeps an index.
type sink struct {
	mu      sync.Mutex
	index   []int
	crc     uint32
	size    int
	waiting map[int]*block
}

func (s *sink) write(b *block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index = append(s.index, s.size)
	s.size += len(b.pack)
	s.crc = crc32.Update(s.crc, crc32.IEEETable, b.pack)
}

func (s *sink) run(in <-chan *block) {
	next := 0
	for b := range in {
		s.waiting[b.seq] = b
		for {
			r, ok := s.waiting[next]
			if !ok {
				break
			}
			delete(s.waiting, next)
			s.write(r)
			next++
		}
	}
}

func main() {
	flag.Parse()
	start := time.Now()
	raw := make(chan *block, 16)
	packed := make(chan *block, 16)
	go (&source{blocks: 2200, x: 1}).run(raw)
	var wg sync.WaitGroup
	for w := 0; w < runtime.GOMAXPROCS(0); w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			newCompressor().run(raw, packed)
		}()
	}
	go func() {
		wg.Wait()
		close(packed)
	}()
	s := &sink{waiting: map[int]*block{}}
	s.run(packed)
	fmt.Printf("blocks %d size %d crc %08x\n", len(s.index), s.size, s.crc)
	fmt.Println("truth run", time.Since(start))
}
