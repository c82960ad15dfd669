package main

import (
	"flag"
	"fmt"
	"math"
	"sync"
	"time"
)

type contract struct {
	id              int
	spot, strike    float64
	vol, rate, term float64
	call            bool
}

// paths draws gaussian steps from a private generator.
type paths struct{ state uint64 }

func (p *paths) next() float64 {
	p.state ^= p.state << 13
	p.state ^= p.state >> 7
	p.state ^= p.state << 17
	return (float64(p.state>>11) + 0.5) / (1 << 53)
}

func (p *paths) gauss() float64 {
	return math.Sqrt(-2*math.Log(p.next())) * math.Cos(2*math.Pi*p.next())
}

type pricer struct {
	draws int
}

func (pr pricer) value(c contract) float64 {
	g := paths{state: uint64(c.id)*0x9E3779B97F4A7C15 + 1}
	drift := (c.rate - c.vol*c.vol/2) * c.term
	width := c.vol * math.Sqrt(c.term)
	sum := 0.0
	for i := 0; i < pr.draws; i++ {
		end := c.spot * math.Exp(drift+width*g.gauss())
		if c.call {
			sum += math.Max(end-c.strike, 0)
		} else {
			sum += math.Max(c.strike-end, 0)
		}
	}
	return math.Exp(-c.rate*c.term) * sum / float64(pr.draws)
}

type quote struct {
	id    int
	value float64
}

type sheet struct {
	mu     sync.RWMutex
	values []float64
	filled int
}

func (s *sheet) set(q quote) {
	s.mu.Lock()
	s.values[q.id] = q.value
	s.filled++
	s.mu.Unlock()
}

func (s *sheet) total() (t float64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, v := range s.values {
		t += v
	}
	return t
}

func portfolio(n int) []contract {
	out := make([]contract, n)
	for i := range out {
		out[i] = contract{i, 90 + float64(i%20), 95 + float64(i%11), 0.1 + float64(i%7)/20, 0.02, 0.25 + float64(i%4)/4, i%2 == 0}
	}
	return out
}

func main() {
	_ = flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 220, "contracts")
	flag.Parse()
	start := time.Now()
	contracts := make(chan contract, 16)
	quotes := make(chan quote, 64)
	s := &sheet{values: make([]float64, *n)}
	var wg sync.WaitGroup
	for i := 0; i < 2; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			p := pricer{draws: 80_000}
			for c := range contracts {
				quotes <- quote{c.id, p.value(c)}
			}
		}()
	}
	go func() {
		for _, c := range portfolio(*n) {
			contracts <- c
		}
		close(contracts)
		wg.Wait()
		close(quotes)
	}()
	for q := range quotes {
		s.set(q)
	}
	fmt.Printf("contracts %d total %.4f\n", s.filled, s.total())
	fmt.Printf("truth run %v\n", time.Since(start))
}
