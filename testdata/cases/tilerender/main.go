// Command tilerender serves map tiles to simulated viewers and keeps rendered
// tiles in memory.
package main

import (
	"flag"
	"fmt"
	"sync"
	"time"
)

const (
	viewers   = 4
	views     = 20000
	cacheSize = 640
	tileEdge  = 48
)

type tileKey struct{ zoom, x, y int }

type tile struct {
	pixels [tileEdge * tileEdge]uint8
}

func renderTile(k tileKey) *tile {
	t := &tile{}
	for py := 0; py < tileEdge; py++ {
		for px := 0; px < tileEdge; px++ {
			v := uint32(k.x*tileEdge+px)*374761393 + uint32(k.y*tileEdge+py)*668265263 + uint32(k.zoom)
			for range 22 {
				v = (v ^ v>>13) * 1274126177
			}
			t.pixels[py*tileEdge+px] = uint8(v)
		}
	}
	return t
}

type cacheEntry struct {
	tile *tile
	used uint64
}

type tileCache struct {
	mu       sync.Mutex
	tiles    map[tileKey]*cacheEntry
	clock    uint64
	selectOK bool
}

func (c *tileCache) get(k tileKey) *tile {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.tiles[k]
	if e == nil {
		return nil
	}
	c.clock++
	e.used = c.clock
	return e.tile
}

func (c *tileCache) put(k tileKey, t *tile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tiles) >= cacheSize {
		c.makeRoom()
	}
	c.clock++
	c.tiles[k] = &cacheEntry{t, c.clock}
}

func (c *tileCache) makeRoom() {
	if !c.selectOK {
		clear(c.tiles)
		return
	}
	for range 8 {
		c.dropOldestOf(12)
	}
}

// dropOldestOf removes the least recently used of n entries met by chance.
func (c *tileCache) dropOldestOf(n int) {
	var victim tileKey
	oldest := ^uint64(0)
	for k, e := range c.tiles {
		if e.used < oldest {
			victim, oldest = k, e.used
		}
		if n--; n == 0 {
			break
		}
	}
	delete(c.tiles, victim)
}

type viewer struct {
	state uint64
	sum   uint64
}

func (v *viewer) roll(n int) int {
	v.state ^= v.state << 13
	v.state ^= v.state >> 7
	v.state ^= v.state << 17
	return int(v.state>>33) % n
}

// next picks a tile: mostly of the city centre, sometimes of the outskirts.
func (v *viewer) next() tileKey {
	if v.roll(100) < 92 {
		return tileKey{14, v.roll(24), v.roll(24)}
	}
	return tileKey{14, 100 + v.roll(200), 100 + v.roll(200)}
}

func (v *viewer) browse(c *tileCache) {
	for range views {
		k := v.next()
		t := c.get(k)
		if t == nil {
			t = renderTile(k)
			c.put(k, t)
		}
		v.sum += uint64(t.pixels[v.roll(len(t.pixels))])
	}
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	c := &tileCache{tiles: make(map[tileKey]*cacheEntry), selectOK: *fix}
	all := make([]viewer, viewers)
	var wg sync.WaitGroup
	for i := range all {
		all[i].state = uint64(i)*0x9e3779b97f4a7c15 + 88172645463325252
		wg.Add(1)
		go func() {
			defer wg.Done()
			all[i].browse(c)
		}()
	}
	wg.Wait()
	var sum uint64
	for i := range all {
		sum += all[i].sum
	}
	fmt.Printf("views=%d sum=%d\n", viewers*views, sum)
}
