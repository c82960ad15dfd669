package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"sync"
	"time"
)

type document struct {
	id   int
	text string
}

type chunk struct {
	docs []document
	next uint64
}

// registry is a remote catalogue; the cursor of a page is only known from the page before.
type registry struct {
	pages int
}

func (r *registry) fetch(cursor uint64) (chunk, bool) {
	time.Sleep(5 * time.Millisecond)
	page := int(cursor & 0xFFFF)
	if page >= r.pages {
		return chunk{}, false
	}
	c := chunk{next: (cursor>>16*6364136223846793005+1)<<16 | uint64(page+1)}
	for i := 0; i < 8; i++ {
		c.docs = append(c.docs, document{page*8 + i, fmt.Sprintf("entry %d of %x", i, cursor)})
	}
	return c, true
}

type digest struct {
	id  int
	sum uint64
}

type analyst struct {
	in  <-chan document
	out chan<- digest
}

func (a *analyst) run() {
	for d := range a.in {
		h := fnv.New64a()
		for i := 0; i < 2500; i++ {
			h.Write([]byte(d.text))
		}
		a.out <- digest{d.id, h.Sum64()}
	}
}

type shelf struct {
	mu   sync.RWMutex
	sums map[int]uint64
}

func (s *shelf) collect(in <-chan digest, done chan<- struct{}) {
	for d := range in {
		s.mu.Lock()
		s.sums[d.id] = d.sum
		s.mu.Unlock()
	}
	close(done)
}

type pipeline struct {
	docs    chan document
	digests chan digest
	workers sync.WaitGroup
}

func newPipeline(depth, workers int) *pipeline {
	p := &pipeline{docs: make(chan document, depth), digests: make(chan digest, depth)}
	for i := 0; i < workers; i++ {
		a := &analyst{in: p.docs, out: p.digests}
		p.workers.Add(1)
		go func() {
			defer p.workers.Done()
			a.run()
		}()
	}
	return p
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 150, "pages")
	flag.Parse()
	start := time.Now()
	depth := 0
	if *fix {
		depth = 32
	}
	p := newPipeline(depth, 6)
	s := &shelf{sums: map[int]uint64{}}
	done := make(chan struct{})
	go s.collect(p.digests, done)
	go func() {
		r := &registry{pages: *n}
		cursor := uint64(7) << 16
		ahead := make(chan []document, *n)
		go func() {
			defer close(ahead)
			for {
				c, ok := r.fetch(cursor)
				if !ok {
					return
				}
				ahead <- c.docs
				cursor = c.next
			}
		}()
		for docs := range ahead {
			for _, d := range docs {
				p.docs <- d
			}
		}
		close(p.docs)
		p.workers.Wait()
		close(p.digests)
	}()
	<-done
	var x uint64
	for id, sum := range s.sums {
		x ^= sum * uint64(id+1)
	}
	fmt.Printf("documents %d sum %x\n", len(s.sums), x)
	fmt.Printf("truth run %v\n", time.Since(start))
}
