package main

import (
	"flag"
	"fmt"
	"sync"
	"time"
)

type command struct {
	device int
	block  int
	data   uint32
}

// device writes firmware blocks strictly in order.
type device struct {
	id      int
	inbox   chan command
	written int
	image   uint32
}

func (d *device) program(c command) {
	time.Sleep(time.Millisecond)
	d.image = d.image*31 + c.data
	d.written++
}

func (d *device) run(done *sync.WaitGroup) {
	defer done.Done()
	for c := range d.inbox {
		d.program(c)
	}
}

type dispatcher struct {
	devices []*device
	mu      sync.Mutex
	routed  map[int]int
}

func newDispatcher(n, depth int) *dispatcher {
	d := &dispatcher{routed: map[int]int{}}
	for i := 0; i < n; i++ {
		d.devices = append(d.devices, &device{id: i, inbox: make(chan command, depth)})
	}
	return d
}

func (d *dispatcher) note(c command) {
	d.mu.Lock()
	d.routed[c.device]++
	d.mu.Unlock()
}

func (d *dispatcher) route(commands <-chan command) {
	for c := range commands {
		d.note(c)
		d.devices[c.device].inbox <- c
	}
	for _, dev := range d.devices {
		close(dev.inbox)
	}
}

// release yields the blocks of a firmware release, part by part.
type release struct {
	parts, blocks int
	seed          uint32
}

func (r *release) emit(devices int, out chan<- command) {
	defer close(out)
	for p := 0; p < r.parts; p++ {
		for dev := 0; dev < devices; dev++ {
			for b := 0; b < r.blocks; b++ {
				r.seed = r.seed*1664525 + 1013904223
				out <- command{dev, p*r.blocks + b, r.seed ^ uint32(dev)}
			}
		}
	}
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 5, "parts of the release")
	flag.Parse()
	start := time.Now()
	depth := 16
	if *fix {
		depth = 256
	}
	d := newDispatcher(6, depth)
	commands := make(chan command, 8)
	go (&release{parts: *n, blocks: 40, seed: 9}).emit(len(d.devices), commands)
	var done sync.WaitGroup
	for _, dev := range d.devices {
		done.Add(1)
		go dev.run(&done)
	}
	d.route(commands)
	done.Wait()
	var image uint32
	written := 0
	for _, dev := range d.devices {
		image ^= dev.image
		written += dev.written
	}
	fmt.Printf("written %d image %08x routed %d\n", written, image, d.routed[0])
	fmt.Printf("truth run %v\n", time.Since(start))
}
