package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"sync"
	"time"
)

type query struct {
	from, to int
}

type route struct {
	length int
	by     string
}

// roadmap is a ring of towns with chords.
type roadmap struct {
	towns int
	jump  []int
}

func newRoadmap(n int) *roadmap {
	m := &roadmap{towns: n, jump: make([]int, n)}
	for i := range m.jump {
		m.jump[i] = (i*i + 7) % n
	}
	return m
}

func (m *roadmap) direct(q query) int {
	d := q.to - q.from
	if d < 0 {
		d = -d
	}
	return min(d, m.towns-d)
}

// solver improves a route for a number of rounds.
type solver struct {
	name   string
	rounds int
	polite bool
}

func (s *solver) solve(ctx context.Context, m *roadmap, q query) (route, error) {
	best := m.direct(q)
	at := q.from
	for r := 0; r < s.rounds; r++ {
		if s.polite && r%32 == 0 && ctx.Err() != nil {
			return route{}, ctx.Err()
		}
		cost := 0.0
		for k := 0; k < 40; k++ {
			at = m.jump[at]
			cost += math.Sqrt(float64(at))
		}
		if cost < 0 {
			best--
		}
	}
	return route{best, s.name}, nil
}

type planner struct {
	m       *roadmap
	solvers []*solver
	mu      sync.Mutex
	wins    map[string]int
}

func (p *planner) plan(q query) route {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	found := make(chan route, len(p.solvers))
	for _, s := range p.solvers {
		go func() {
			if r, err := s.solve(ctx, p.m, q); err == nil {
				found <- r
			}
		}()
	}
	r := <-found
	p.mu.Lock()
	p.wins[r.by]++
	p.mu.Unlock()
	return r
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 400, "queries")
	flag.Parse()
	start := time.Now()
	p := &planner{m: newRoadmap(1 << 15), wins: map[string]int{}}
	for _, s := range []struct {
		name   string
		rounds int
	}{{"greedy", 4000}, {"exact", 16000}, {"genetic", 14000}} {
		p.solvers = append(p.solvers, &solver{s.name, s.rounds, *fix})
	}
	queries := make(chan query)
	var wg sync.WaitGroup
	var mu sync.Mutex
	sum := 0
	for i := 0; i < 3; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for q := range queries {
				r := p.plan(q)
				mu.Lock()
				sum += r.length
				mu.Unlock()
			}
		}()
	}
	for i := 0; i < *n; i++ {
		queries <- query{i * 211 % p.m.towns, i * 577 % p.m.towns}
	}
	close(queries)
	wg.Wait()
	fmt.Printf("queries %d length %d\n", *n, sum)
	fmt.Printf("truth run %v\n", time.Since(start))
}
