// Command geoindex keeps vehicle positions in a grid, answers proximity
// queries and exports the fleet state to an archive at regular intervals.
package main

import (
	"flag"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

const side = 24

type vehicle struct {
	id   int
	x, y float64
	seen int64
}

type index struct {
	mu    sync.RWMutex
	cells [side * side][]*vehicle
	byID  []*vehicle
}

func newIndex(n int) *index {
	ix := &index{}
	for i := 0; i < n; i++ {
		v := &vehicle{id: i, x: math.Mod(float64(i)*0.61803, side), y: math.Mod(float64(i)*1.41421, side)}
		ix.byID = append(ix.byID, v)
		c := int(v.y)*side + int(v.x)
		ix.cells[c] = append(ix.cells[c], v)
	}
	return ix
}

// Nearby collects the distances of all vehicles within r of a point.
func (ix *index) Nearby(x, y, r float64, into []float64) []float64 {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	for cy := max(0, int(y-r)); cy <= min(side-1, int(y+r)); cy++ {
		for cx := max(0, int(x-r)); cx <= min(side-1, int(x+r)); cx++ {
			for _, v := range ix.cells[cy*side+cx] {
				if d := math.Hypot(v.x-x, v.y-y); d <= r {
					into = append(into, d)
				}
			}
		}
	}
	return into
}

func (ix *index) Touch(id int, tick int64) {
	ix.mu.Lock()
	ix.byID[id%len(ix.byID)].seen = tick
	ix.mu.Unlock()
}

type row struct {
	cell, vehicles int
	newest         int64
}

func summarize(cell int, vs []*vehicle) row {
	r := row{cell: cell, vehicles: len(vs)}
	for _, v := range vs {
		r.newest = max(r.newest, v.seen)
	}
	return r
}

func (ix *index) rows() []row {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	out := make([]row, 0, len(ix.cells))
	for i, vs := range ix.cells {
		out = append(out, summarize(i, vs))
	}
	return out
}

// Export writes one row per cell to the archive.
func (ix *index) Export(a *archive) {
	if *revised {
		for _, r := range ix.rows() {
			a.write(r)
		}
		return
	}
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	for i, vs := range ix.cells {
		a.write(summarize(i, vs))
	}
}

// archive stores rows in blocks; every full block goes to remote storage.
type archive struct {
	block []byte
	count int
}

func (a *archive) write(r row) {
	a.block = fmt.Appendf(a.block, "%d,%d,%d\n", r.cell, r.vehicles, r.newest)
	if a.count++; a.count%96 == 0 {
		time.Sleep(1200 * time.Microsecond)
		a.block = a.block[:0]
	}
}

// eta turns distances into a travel estimate.
func eta(ds []float64) float64 {
	var t float64
	for _, d := range ds {
		for k := 1; k <= 4; k++ {
			t += math.Sqrt(d) * math.Exp(-d/float64(k))
		}
	}
	return t
}

func main() {
	flag.Parse()
	start := time.Now()
	ix := newIndex(24000)
	stop := make(chan struct{})
	var background, wg sync.WaitGroup
	background.Add(2)
	go func() {
		defer background.Done()
		t := time.NewTicker(time.Millisecond)
		defer t.Stop()
		for n := 0; ; n++ {
			select {
			case now := <-t.C:
				ix.Touch(n*37, now.UnixNano())
			case <-stop:
				return
			}
		}
	}()
	go func() {
		defer background.Done()
		a := &archive{}
		for {
			select {
			case <-time.After(6 * time.Millisecond):
				ix.Export(a)
			case <-stop:
				return
			}
		}
	}()
	var found atomic.Int64
	for w := 0; w < 4; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var buf []float64
			for q := 0; q < 14000; q++ {
				buf = ix.Nearby(float64((q*7+w)%side), float64((q*3+w)%side), 1.3, buf[:0])
				if eta(buf) > 0 {
					found.Add(int64(len(buf)))
				}
			}
		}()
	}
	wg.Wait()
	close(stop)
	background.Wait()
	fmt.Println("matches", found.Load())
	fmt.Println("truth run", time.Since(start))
}
