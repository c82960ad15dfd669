// Command dispatcher assigns trips to drivers in an event loop and serves a
// dashboard with the state of the loop.
package main

import (
	"flag"
	"fmt"
	"math"
	"sort"
	"sync"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

type event struct {
	trip int
	x, y float64
}

type driver struct {
	id    int
	x, y  float64
	trips int
}

type snapshot struct {
	assigned int
	median   float64
	p99      float64
}

// dispatcher owns its state; everything goes through the loop.
type dispatcher struct {
	events   chan event
	queries  chan chan snapshot
	done     chan struct{}
	drivers  []*driver
	recent   []float64
	assigned int
	travel   float64
}

func newDispatcher(drivers int) *dispatcher {
	d := &dispatcher{events: make(chan event, 64), queries: make(chan chan snapshot), done: make(chan struct{})}
	for i := 0; i < drivers; i++ {
		d.drivers = append(d.drivers, &driver{id: i, x: float64(i * 37 % 100), y: float64(i * 61 % 100)})
	}
	return d
}

// assign sends the nearest driver to the pick-up point.
func (d *dispatcher) assign(e event) {
	var best *driver
	nearest := math.MaxFloat64
	for _, dr := range d.drivers {
		if dist := math.Hypot(dr.x-e.x, dr.y-e.y); dist < nearest {
			nearest, best = dist, dr
		}
	}
	best.x, best.y = e.x, e.y
	best.trips++
	d.assigned++
	d.travel += nearest
	if len(d.recent) < 500 {
		d.recent = append(d.recent, nearest)
	} else {
		d.recent[d.assigned%500] = nearest
	}
}

func (d *dispatcher) state() snapshot {
	s := snapshot{assigned: d.assigned}
	if n := len(d.recent); n > 0 {
		sorted := append([]float64(nil), d.recent...)
		sort.Float64s(sorted)
		s.median, s.p99 = sorted[n/2], sorted[n*99/100]
	}
	return s
}

func (d *dispatcher) loop() {
	defer close(d.done)
	for {
		select {
		case e, ok := <-d.events:
			if !ok {
				return
			}
			d.assign(e)
		case reply := <-d.queries:
			reply <- d.state()
		}
	}
}

// dashboard keeps the latest state for its viewers.
type dashboard struct {
	mu     sync.Mutex
	latest snapshot
	pulls  int
}

func (b *dashboard) show(s snapshot) {
	b.mu.Lock()
	b.latest = s
	b.pulls++
	b.mu.Unlock()
}

func (b *dashboard) follow(d *dispatcher) {
	reply := make(chan snapshot, 1)
	for {
		if *revised {
			time.Sleep(20 * time.Millisecond)
		}
		select {
		case d.queries <- reply:
			b.show(<-reply)
		case <-d.done:
			return
		}
	}
}

// riders produce trip requests; each is validated before it is queued.
func riders(d *dispatcher, from, to int) {
	for t := from; t < to; t++ {
		x := math.Mod(float64(t)*17.31+math.Sin(float64(t)), 100)
		y := math.Mod(float64(t)*5.77+math.Cos(float64(t)), 100)
		d.events <- event{trip: t, x: x, y: y}
	}
}

func main() {
	flag.Parse()
	start := time.Now()
	d := newDispatcher(1500)
	b := &dashboard{}
	go d.loop()
	var viewers, sources sync.WaitGroup
	viewers.Add(1)
	go func() {
		defer viewers.Done()
		b.follow(d)
	}()
	for i := 0; i < 3; i++ {
		sources.Add(1)
		go func() {
			defer sources.Done()
			riders(d, i*12000, (i+1)*12000)
		}()
	}
	sources.Wait()
	close(d.events)
	viewers.Wait()
	trips := 0
	for _, dr := range d.drivers {
		trips += dr.trips
	}
	fmt.Println("assigned", d.assigned, "trips", trips)
	fmt.Println("truth run", time.Since(start))
}
