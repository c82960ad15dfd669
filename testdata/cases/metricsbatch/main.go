// Command metricsbatch stores samples through a batching writer; a sample is
// acknowledged once its batch is durable.
package main

import (
	"flag"
	"fmt"
	"math"
	"sync"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

type sample struct {
	series int
	value  float64
	ack    chan struct{}
}

// backend writes a batch in one round trip.
type backend struct {
	batches int
	samples int
	sum     float64
}

func (b *backend) write(batch []sample) {
	time.Sleep(1 * time.Millisecond)
	b.batches++
	for _, s := range batch {
		b.samples++
		b.sum += s.value
	}
}

type writer struct {
	in       chan sample
	backend  *backend
	maxBatch int
	interval time.Duration
	stopped  sync.WaitGroup
}

func newWriter(b *backend) *writer {
	w := &writer{in: make(chan sample, 256), backend: b, maxBatch: 100, interval: 5 * time.Millisecond}
	w.stopped.Add(1)
	go w.run()
	return w
}

func (w *writer) flush(batch []sample) []sample {
	if len(batch) == 0 {
		return batch
	}
	w.backend.write(batch)
	for _, s := range batch {
		close(s.ack)
	}
	return batch[:0]
}

func (w *writer) run() {
	defer w.stopped.Done()
	ticker := time.NewTicker(w.interval)
	defer ticker.Stop()
	var batch []sample
	for {
		select {
		case s, ok := <-w.in:
			if !ok {
				w.flush(batch)
				return
			}
			batch = append(batch, s)
			if len(batch) >= w.maxBatch || *revised && len(w.in) == 0 {
				batch = w.flush(batch)
			}
		case <-ticker.C:
			batch = w.flush(batch)
		}
	}
}

func (w *writer) Put(series int, v float64) {
	s := sample{series: series, value: v, ack: make(chan struct{})}
	w.in <- s
	<-s.ack
}

func (w *writer) Close() {
	close(w.in)
	w.stopped.Wait()
}

// sensor smooths raw readings before they are stored.
type sensor struct {
	id    int
	level float64
}

func (s *sensor) read(i int) float64 {
	for k := 0; k < 12000; k++ {
		x := float64(i*31+k*s.id) / 97
		s.level = 0.9*s.level + 0.1*math.Sin(x)
	}
	return math.Round(s.level * 1000)
}

type roster struct {
	mu    sync.Mutex
	ready map[int]int
}

func (r *roster) mark(id int) {
	r.mu.Lock()
	r.ready[id]++
	r.mu.Unlock()
}

func main() {
	flag.Parse()
	start := time.Now()
	b := &backend{}
	w := newWriter(b)
	r := &roster{ready: map[int]int{}}
	var wg sync.WaitGroup
	for i := 0; i < 8; i++ {
		s := &sensor{id: i + 1}
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 0; n < 110; n++ {
				v := s.read(n)
				w.Put(s.id, v)
				r.mark(s.id)
			}
		}()
	}
	wg.Wait()
	w.Close()
	fmt.Println("samples", b.samples, "sum", b.sum, "sensors", len(r.ready))
	fmt.Println("truth run", time.Since(start))
}
