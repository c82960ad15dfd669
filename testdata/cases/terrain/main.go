package main

import (
	"flag"
	"fmt"
	"math"
	"sync"
	"time"
)

// grid holds heights row by row.
type grid struct {
	w, h   int
	height []float32
}

func newGrid(w, h int) *grid {
	g := &grid{w: w, h: h, height: make([]float32, w*h)}
	for y := 0; y < h; y++ {
		row := g.row(y)
		for x := range row {
			row[x] = float32((x*31+y*17)%997) / 10
		}
	}
	return g
}

func (g *grid) row(y int) []float32 { return g.height[y*g.w : (y+1)*g.w] }

// rain flows down every column; the state of a column is its water level.
type rain struct {
	g      *grid
	level  []float32
	byRows bool
}

func (r *rain) drop(water, height float32) float32 {
	water = water*0.98 + height*0.02
	if water > 50 {
		water -= 0.25
	}
	return water
}

func (r *rain) flow(from, to int) {
	if r.byRows {
		level := r.level[from:to]
		for y := 0; y < r.g.h; y++ {
			row := r.g.row(y)[from:to]
			for x, h := range row {
				level[x] = r.drop(level[x], h)
			}
		}
		return
	}
	for x := from; x < to; x++ {
		water := r.level[x]
		for y := 0; y < r.g.h; y++ {
			water = r.drop(water, r.g.row(y)[x])
		}
		r.level[x] = water
	}
}

type survey struct {
	mu   sync.Mutex
	peak float64
	rms  float64
}

func (s *survey) add(peak, square float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peak = math.Max(s.peak, peak)
	s.rms += square
}

func (s *survey) measure(g *grid, from, to int) {
	for y := from; y < to; y++ {
		var peak, square float64
		for _, h := range g.row(y) {
			v := float64(h)
			peak = math.Max(peak, v)
			square += math.Floor(math.Sqrt(v * 100))
		}
		s.add(peak, square)
	}
}

func parallel(n, parts int, f func(from, to int)) {
	var wg sync.WaitGroup
	for p := 0; p < parts; p++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f(n*p/parts, n*(p+1)/parts)
		}()
	}
	wg.Wait()
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	hours := flag.Int("n", 4, "hours of rain")
	flag.Parse()
	start := time.Now()

	g := newGrid(4096, 3000)
	r := &rain{g: g, level: make([]float32, g.w), byRows: *fix}
	s := &survey{}
	for i := 0; i < *hours; i++ {
		parallel(g.w, 2, r.flow)
		parallel(g.h, 8, func(a, b int) { s.measure(g, a, b) })
	}
	var sum float64
	for _, l := range r.level {
		sum += float64(l)
	}
	fmt.Printf("level %.3f peak %.1f rms %.0f\n", sum, s.peak, s.rms)
	fmt.Printf("truth run %v\n", time.Since(start))
}
