// Command framepool encodes protocol frames with pooled scratch buffers.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"sync"
	"time"
)

const (
	frames   = 110_000
	encoders = 4
	largest  = 1 << 20
	keepMax  = 64 << 10
)

type frame struct {
	stream  uint32
	payload int
}

// frameAt describes the n-th frame of the recording: short control frames
// with a key frame among them from time to time.
func frameAt(n int) frame {
	size := 200 + n*37%900
	if n%400 == 7 {
		size = largest - n%1000
	}
	return frame{stream: uint32(n % 12), payload: size}
}

type scratch struct {
	buf []byte
}

type scratchPool struct {
	pool sync.Pool
	max  int
}

func newScratchPool(max int) *scratchPool {
	p := &scratchPool{max: max}
	p.pool.New = func() any { return &scratch{buf: make([]byte, 0, 2048)} }
	return p
}

func (p *scratchPool) get(size int) *scratch {
	s := p.pool.Get().(*scratch)
	if cap(s.buf) < size {
		s.buf = make([]byte, size)
	}
	s.buf = s.buf[:size]
	return s
}

// put wipes the scratch space, which may hold customer data, and keeps it.
func (p *scratchPool) put(s *scratch) {
	if p.max > 0 && cap(s.buf) > p.max {
		return
	}
	clear(s.buf[:cap(s.buf)])
	s.buf = s.buf[:0]
	p.pool.Put(s)
}

const overhead = 12

func encode(f frame, buf []byte) uint32 {
	binary.BigEndian.PutUint32(buf, f.stream)
	binary.BigEndian.PutUint32(buf[4:], uint32(f.payload))
	body := buf[8 : 8+f.payload]
	x := f.stream*2654435761 + uint32(f.payload)
	for i := range body {
		x = x*1664525 + 1013904223
		body[i] = byte(x >> 24)
	}
	sum := crc32.ChecksumIEEE(buf[:8+f.payload])
	binary.BigEndian.PutUint32(buf[8+f.payload:], sum)
	return sum
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	max := 0
	if *fix {
		max = keepMax
	}
	pool := newScratchPool(max)
	todo := make(chan int, 64)
	sums := make([]uint32, encoders)
	var wg sync.WaitGroup
	for e := range encoders {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := range todo {
				f := frameAt(n)
				s := pool.get(f.payload + overhead)
				sums[e] += encode(f, s.buf)
				pool.put(s)
			}
		}()
	}
	for n := 0; n < frames; n++ {
		todo <- n
	}
	close(todo)
	wg.Wait()
	var sum uint32
	for _, s := range sums {
		sum += s
	}
	fmt.Printf("frames=%d sum=%08x\n", frames, sum)
}
