// Command archiver fetches the sections of a backup from object storage and
// appends them to one archive in their listed order.
package main

import (
	"flag"
	"fmt"
	"hash/crc32"
	"sync"
	"time"
)

const (
	sections  = 4200
	fetchSpan = 120
)

type archive struct {
	entries int
	bytes   int
	sum     uint32
}

func (a *archive) append(data []byte) {
	a.entries++
	a.bytes += len(data)
	a.sum = crc32.Update(a.sum, crc32.IEEETable, data)
}

func fetch(n int) []byte {
	x := uint32(n)*2654435761 + 97
	x ^= x >> 15
	x *= 2246822519
	x ^= x >> 13
	time.Sleep(time.Duration(5+x%fetchSpan) * time.Millisecond)
	data := make([]byte, 600+x%900)
	for i := range data {
		x = x*1664525 + 1013904223
		data[i] = byte(x >> 24)
	}
	return data
}

type order interface {
	waitFor(n int)
	advance(n int)
}

// position is the place in the archive that is to be written next.
type position struct {
	mu      sync.Mutex
	changed *sync.Cond
	next    int
}

func newPosition() *position {
	p := &position{}
	p.changed = sync.NewCond(&p.mu)
	return p
}

func (p *position) waitFor(n int) {
	p.mu.Lock()
	for p.next != n {
		p.changed.Wait()
	}
	p.mu.Unlock()
}

func (p *position) advance(n int) {
	p.mu.Lock()
	p.next = n + 1
	p.mu.Unlock()
	p.changed.Broadcast()
}

// chain has a gate in front of each section.
type chain []chan struct{}

func newChain() chain {
	c := make(chain, sections+1)
	for i := range c {
		c[i] = make(chan struct{})
	}
	close(c[0])
	return c
}

func (c chain) waitFor(n int) { <-c[n] }
func (c chain) advance(n int) { close(c[n+1]) }

type backup struct {
	out   archive
	order order
}

func (b *backup) section(n int) {
	data := fetch(n)
	b.order.waitFor(n)
	b.out.append(data)
	b.order.advance(n)
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	b := &backup{order: newPosition()}
	if *fix {
		b.order = newChain()
	}
	var wg sync.WaitGroup
	for n := range sections {
		wg.Add(1)
		go func() {
			defer wg.Done()
			b.section(n)
		}()
	}
	wg.Wait()
	fmt.Printf("entries=%d bytes=%d sum=%08x\n", b.out.entries, b.out.bytes, b.out.sum)
}
