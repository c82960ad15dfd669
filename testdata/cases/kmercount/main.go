package main

import (
	"flag"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

const k = 8

// strand packs bases two bits each.
type strand struct {
	words []uint64
	n     int
}

func newStrand(n int) *strand {
	s := &strand{words: make([]uint64, (n+31)/32), n: n}
	x := uint64(88172645463325252)
	for i := range s.words {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		s.words[i] = x & (x>>1 | 0xF0F0F0F0F0F0F0F0)
	}
	return s
}

func (s *strand) base(i int) uint32 { return uint32(s.words[i/32]>>(2*(i%32))) & 3 }

// spectrum counts each k-mer.
type spectrum struct {
	counts []uint32
}

func newSpectrum() *spectrum { return &spectrum{counts: make([]uint32, 1<<(2*k))} }

func (sp *spectrum) scan(s *strand, from, to int) {
	mask := uint32(1)<<(2*k) - 1
	var mer uint32
	for i := max(from-k+1, 0); i < to; i++ {
		mer = (mer<<2 | s.base(i)) & mask
		if i >= from && i >= k-1 {
			sp.counts[mer]++
		}
	}
}

func (sp *spectrum) merge(o *spectrum) {
	for i, c := range o.counts {
		sp.counts[i] += c
	}
}

func (sp *spectrum) profile() (distinct int, top uint32, skew int) {
	for _, c := range sp.counts {
		if c > 0 {
			distinct++
		}
		top = max(top, c)
		skew += bits.Len32(c)
	}
	return
}

type progress struct {
	blocks atomic.Int64
	mu     sync.Mutex
	notes  []string
}

func (p *progress) finish(worker int, blocks int64) {
	p.blocks.Add(blocks)
	p.mu.Lock()
	p.notes = append(p.notes, fmt.Sprintf("worker %d", worker))
	p.mu.Unlock()
}

func main() {
	_ = flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 320_000_000, "bases")
	flag.Parse()
	start := time.Now()
	s := newStrand(*n)
	const block = 1 << 20
	var next atomic.Int64
	parts := make([]*spectrum, 2)
	pr := &progress{}
	var wg sync.WaitGroup
	for w := range parts {
		parts[w] = newSpectrum()
		wg.Add(1)
		go func() {
			defer wg.Done()
			var done int64
			for {
				from := int(next.Add(block)) - block
				if from >= s.n {
					break
				}
				parts[w].scan(s, from, min(from+block, s.n))
				done++
			}
			pr.finish(w, done)
		}()
	}
	wg.Wait()
	parts[0].merge(parts[1])
	distinct, top, skew := parts[0].profile()
	fmt.Printf("distinct %d top %d skew %d blocks %d\n", distinct, top, skew, pr.blocks.Load())
	fmt.Printf("truth run %v\n", time.Since(start))
}
