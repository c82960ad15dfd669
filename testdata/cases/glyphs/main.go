// Command glyphs renders captions with font faces from a native font library
// that allows a limited number of open faces.
package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"sync"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

// library is the binding of the font library.
type library struct {
	handles chan int
	opened  int
	mu      sync.Mutex
}

func newLibrary(limit int) *library {
	l := &library{handles: make(chan int, limit)}
	for i := 0; i < limit; i++ {
		l.handles <- i
	}
	return l
}

func (l *library) acquire() int {
	for {
		select {
		case h := <-l.handles:
			return h
		default:
		}
		runtime.GC()
		select {
		case h := <-l.handles:
			return h
		case <-time.After(time.Millisecond):
		}
	}
}

func (l *library) open(family string, size int) *face {
	f := &face{family: family, size: size, handle: l.acquire(), library: l}
	runtime.SetFinalizer(f, (*face).free)
	l.mu.Lock()
	l.opened++
	l.mu.Unlock()
	return f
}

type face struct {
	family  string
	size    int
	handle  int
	library *library
}

func (f *face) free() { f.library.handles <- f.handle }

func (f *face) close() {
	runtime.SetFinalizer(f, nil)
	f.free()
}

// outline returns the area covered by a character.
func (f *face) outline(c rune) float64 {
	area := 0.0
	for k := 0; k < 160; k++ {
		a := float64(k) / 160 * 2 * math.Pi
		area += math.Abs(math.Sin(a*float64(c%17)) * float64(f.size))
	}
	return area
}

type caption struct {
	text string
	font string
	size int
}

// catalog holds everything that was rendered, for later lookups.
type catalog struct {
	mu      sync.Mutex
	widths  map[string]*float64
	digests map[string]*uint64
}

func (c *catalog) add(key string, width float64) {
	h := fnv.New64a()
	h.Write([]byte(key))
	d := h.Sum64()
	c.mu.Lock()
	c.widths[key] = &width
	c.digests[key] = &d
	c.mu.Unlock()
}

type renderer struct {
	library *library
	catalog *catalog
}

func (r *renderer) render(c caption) {
	f := r.library.open(c.font, c.size)
	if *revised {
		defer f.close()
	}
	width := 0.0
	for _, ch := range c.text {
		width += f.outline(ch)
	}
	r.catalog.add(fmt.Sprintf("%s/%d/%s", c.font, c.size, c.text), width)
	runtime.KeepAlive(f)
}

func main() {
	flag.Parse()
	start := time.Now()
	r := &renderer{library: newLibrary(96), catalog: &catalog{widths: map[string]*float64{}, digests: map[string]*uint64{}}}
	for i := 0; i < 12000; i++ {
		r.catalog.add(fmt.Sprintf("preset-%d", i), float64(i))
	}
	var wg sync.WaitGroup
	for w := 0; w < 3; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; i < 3000; i++ {
				r.render(caption{text: fmt.Sprintf("frame %d of reel %d", i, w), font: "serif", size: 8 + i%9})
			}
		}()
	}
	wg.Wait()
	fmt.Println("opened", r.library.opened, "captions", len(r.catalog.widths))
	fmt.Println("truth run", time.Since(start))
}
