package main

import (
	"flag"
	"fmt"
	"hash/adler32"
	"runtime/debug"
	"sync"
	"time"
)

type coord struct{ z, x, y int }

type tile struct {
	at     coord
	pixels []byte
}

// painter fills tiles from a height function.
type painter struct {
	size int
}

func (p *painter) paint(at coord) *tile {
	t := &tile{at: at, pixels: make([]byte, p.size*p.size*4)}
	for y := 0; y < p.size; y++ {
		for x := 0; x < p.size; x++ {
			v := (x+at.x*p.size)*(y+at.y*p.size) + at.z
			i := (y*p.size + x) * 4
			t.pixels[i] = byte(v)
			t.pixels[i+1] = byte(v >> 8)
			t.pixels[i+2] = byte(v ^ x)
			t.pixels[i+3] = 255
		}
	}
	return t
}

type atlas struct {
	mu    sync.RWMutex
	sums  map[coord]uint32
	names map[coord]string
}

func (a *atlas) add(t *tile) {
	s := adler32.Checksum(t.pixels)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sums[t.at] = s
	a.names[t.at] = fmt.Sprintf("%d/%d/%d.raw", t.at.z, t.at.x, t.at.y)
}

// press prints the atlas row by row.
type press struct {
	painter *painter
	atlas   *atlas
	frugal  bool
	rows    int
}

func (p *press) row(z, y, width int) {
	var tiles []*tile
	for x := 0; x < width; x++ {
		tiles = append(tiles, p.painter.paint(coord{z, x, y}))
	}
	for _, t := range tiles {
		p.atlas.add(t)
	}
	p.tidy()
}

func (p *press) tidy() {
	p.rows++
	if p.frugal && p.rows%5 == 0 {
		debug.FreeOSMemory()
	}
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 130, "rows per press")
	flag.Parse()
	start := time.Now()
	a := &atlas{sums: map[coord]uint32{}, names: map[coord]string{}}
	for z := 0; z < 6; z++ {
		for i := 0; i < 30000; i++ {
			c := coord{-1 - z, i, z}
			a.names[c] = fmt.Sprintf("old/%d/%d", z, i)
		}
	}
	var wg sync.WaitGroup
	presses := make([]*press, 2)
	for i := range presses {
		p := &press{painter: &painter{128}, atlas: a, frugal: !*fix}
		presses[i] = p
		wg.Add(1)
		go func() {
			defer wg.Done()
			for y := 0; y < *n; y++ {
				p.row(i, y, 16)
			}
		}()
	}
	wg.Wait()
	var sum uint32
	for _, s := range a.sums {
		sum ^= s
	}
	fmt.Printf("tiles %d rows %d sum %08x\n", len(a.sums), presses[0].rows+presses[1].rows, sum)
	fmt.Printf("truth run %v\n", time.Since(start))
}
