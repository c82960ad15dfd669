// Command tilemult multiplies matrices tile by tile.
package main

import (
	"flag"
	"fmt"
	"runtime"
	"sync"
	"time"
)

var _ = flag.Bool("fix", false, "use the revised form")

const tileSize = 48

type matrix struct {
	n    int
	data []float64
}

func newMatrix(n int, f func(i, j int) float64) *matrix {
	m := &matrix{n: n, data: make([]float64, n*n)}
	if f != nil {
		for i := 0; i < n; i++ {
			for j := 0; j < n; j++ {
				m.data[i*n+j] = f(i, j)
			}
		}
	}
	return m
}

func (m *matrix) trace() float64 {
	var t float64
	for i := 0; i < m.n; i++ {
		t += m.data[i*m.n+i]
	}
	return t
}

// job is one tile of the result.
type job struct{ row, col int }

type product struct {
	a, b, c *matrix
}

func (p *product) tile(j job) {
	n := p.a.n
	rowEnd, colEnd := min(j.row+tileSize, n), min(j.col+tileSize, n)
	for k0 := 0; k0 < n; k0 += tileSize {
		kEnd := min(k0+tileSize, n)
		for i := j.row; i < rowEnd; i++ {
			out := p.c.data[i*n+j.col : i*n+colEnd]
			for k := k0; k < kEnd; k++ {
				f := p.a.data[i*n+k]
				in := p.b.data[k*n+j.col : k*n+colEnd]
				for x, v := range in {
					out[x] += f * v
				}
			}
		}
	}
}

// progress reports the share of finished tiles.
type progress struct {
	mu    sync.Mutex
	tiles int
}

func (pr *progress) done() {
	pr.mu.Lock()
	pr.tiles++
	pr.mu.Unlock()
}

type multiplier struct {
	workers  int
	progress progress
}

func (mu *multiplier) multiply(a, b *matrix) *matrix {
	p := &product{a: a, b: b, c: newMatrix(a.n, nil)}
	jobs := make(chan job, 64)
	var wg sync.WaitGroup
	for w := 0; w < mu.workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range jobs {
				p.tile(j)
				mu.progress.done()
			}
		}()
	}
	for i := 0; i < a.n; i += tileSize {
		for j := 0; j < a.n; j += tileSize {
			jobs <- job{i, j}
		}
	}
	close(jobs)
	wg.Wait()
	return p.c
}

func main() {
	flag.Parse()
	start := time.Now()
	const n = 720
	a := newMatrix(n, func(i, j int) float64 { return float64((i*31+j*17)%23) / 23 })
	b := newMatrix(n, func(i, j int) float64 { return float64((i*7+j*13)%19)/19 - 0.4 })
	m := &multiplier{workers: runtime.GOMAXPROCS(0)}
	for i := 0; i < 3; i++ {
		c := m.multiply(a, b)
		for k := range c.data {
			c.data[k] /= n
		}
		a = c
	}
	fmt.Printf("trace %.9f tiles %d\n", a.trace(), m.progress.tiles)
	fmt.Println("truth run", time.Since(start))
}
