package main

import (
	"flag"
	"fmt"
	"math"
	"sync"
	"time"
)

type forecast struct {
	city    string
	curve   []float64
	expires time.Time
}

// model computes a forecast from scratch.
type model struct {
	mu   sync.Mutex
	runs int
}

func (m *model) run(city string) []float64 {
	m.mu.Lock()
	m.runs++
	m.mu.Unlock()
	out := make([]float64, 48)
	for h := range out {
		v := float64(len(city)) + float64(h)
		for k := 1; k < 12000; k++ {
			v += math.Sin(v+float64(k)) / float64(k)
		}
		out[h] = math.Round(v*100) / 100
	}
	return out
}

type board struct {
	model   *model
	ttl     time.Duration
	mu      sync.RWMutex
	entries map[string]forecast
	shared  bool
	pending map[string]chan struct{}
}

func (b *board) lookup(city string) (forecast, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	f, ok := b.entries[city]
	return f, ok && time.Now().Before(f.expires)
}

func (b *board) store(city string) forecast {
	f := forecast{city: city, curve: b.model.run(city), expires: time.Now().Add(b.ttl)}
	b.mu.Lock()
	b.entries[city] = f
	b.mu.Unlock()
	return f
}

func (b *board) get(city string) forecast {
	for {
		if f, ok := b.lookup(city); ok {
			return f
		}
		if !b.shared {
			return b.store(city)
		}
		b.mu.Lock()
		if wait, busy := b.pending[city]; busy {
			b.mu.Unlock()
			<-wait
			continue
		}
		if f := b.entries[city]; time.Now().Before(f.expires) {
			b.mu.Unlock()
			return f
		}
		done := make(chan struct{})
		b.pending[city] = done
		b.mu.Unlock()
		f := b.store(city)
		b.mu.Lock()
		delete(b.pending, city)
		b.mu.Unlock()
		close(done)
		return f
	}
}

// display redraws a few cities again and again.
type display struct {
	cities []string
	board  *board
	drawn  int
	warm   float64
}

func (d *display) redraw() {
	for _, c := range d.cities {
		f := d.board.get(c)
		for _, t := range f.curve {
			d.warm = math.Max(d.warm, t)
		}
		d.drawn++
		time.Sleep(300 * time.Microsecond)
	}
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 120, "redraws per display")
	flag.Parse()
	start := time.Now()
	b := &board{model: &model{}, ttl: 80 * time.Millisecond, entries: map[string]forecast{}, shared: *fix, pending: map[string]chan struct{}{}}
	cities := []string{"Oslo", "Lisbon", "Reykjavik"}
	displays := make([]*display, 20)
	var wg sync.WaitGroup
	for i := range displays {
		d := &display{cities: cities, board: b}
		displays[i] = d
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := 0; k < *n; k++ {
				d.redraw()
			}
		}()
	}
	wg.Wait()
	drawn, warm := 0, 0.0
	for _, d := range displays {
		drawn += d.drawn
		warm = math.Max(warm, d.warm)
	}
	fmt.Printf("drawn %d warmest %.2f\n", drawn, warm)
	fmt.Printf("truth run %v\n", time.Since(start))
}
