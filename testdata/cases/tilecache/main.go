// Command tilecache composes map views from rendered tiles.
package main

import (
	"container/list"
	"flag"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

const (
	columns = 32
	lines   = 16
)

type coord struct{ x, y, zoom int }

type tile struct {
	at     coord
	pixels [256]byte
}

// renderTile draws a shaded relief of the tile.
func renderTile(at coord) *tile {
	t := &tile{at: at}
	for i := range t.pixels {
		x := float64(at.x*16 + i%16)
		y := float64(at.y*16 + i/16)
		h := 0.0
		for o := 1; o <= 6; o++ {
			h += math.Sin(x/float64(o*7)) * math.Cos(y/float64(o*5)) / float64(o)
		}
		t.pixels[i] = byte(128 + 40*h)
	}
	return t
}

// tileCache keeps the most recently used tiles.
type tileCache struct {
	mu       sync.Mutex
	capacity int
	order    *list.List
	entries  map[coord]*list.Element
	renders  atomic.Int64
}

func newTileCache(capacity int) *tileCache {
	return &tileCache{capacity: capacity, order: list.New(), entries: map[coord]*list.Element{}}
}

func (c *tileCache) lookup(at coord) (*tile, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[at]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*tile), true
}

func (c *tileCache) store(t *tile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[t.at]; ok {
		return
	}
	c.entries[t.at] = c.order.PushFront(t)
	for c.order.Len() > c.capacity {
		last := c.order.Back()
		c.order.Remove(last)
		delete(c.entries, last.Value.(*tile).at)
	}
}

func (c *tileCache) get(at coord) *tile {
	if t, ok := c.lookup(at); ok {
		return t
	}
	t := renderTile(at)
	c.renders.Add(1)
	c.store(t)
	return t
}

// view composes one frame: all tiles, blended with a moving light.
type view struct {
	cache *tileCache
	zoom  int
	sum   uint64
}

func (v *view) frame(n int) {
	light := byte(n)
	for y := 0; y < lines; y++ {
		for x := 0; x < columns; x++ {
			t := v.cache.get(coord{x, y, v.zoom})
			var s uint64
			for pass := 0; pass < 110; pass++ {
				for _, p := range t.pixels {
					s = s*31 + uint64(p^light)
				}
			}
			v.sum += s
		}
	}
}

func main() {
	flag.Parse()
	start := time.Now()
	capacity := 960
	if *revised {
		capacity = 4 * columns * lines
	}
	c := newTileCache(capacity)
	sums := make([]uint64, 2)
	var wg sync.WaitGroup
	for w := range sums {
		wg.Add(1)
		go func() {
			defer wg.Done()
			v := &view{cache: c, zoom: 3 + w}
			for n := 0; n < 26; n++ {
				v.frame(n*2 + w)
			}
			sums[w] = v.sum
		}()
	}
	wg.Wait()
	fmt.Println("views", len(sums), "sum", sums[0]^sums[1])
	fmt.Println("truth run", time.Since(start))
}
