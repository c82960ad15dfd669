// Command camera passes video frames through a chain of filters.
package main

import (
	"flag"
	"fmt"
	"hash/adler32"
	"runtime"
	"sync"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

const frameSize = 8192

type frame struct {
	number int
	pixels [frameSize]byte
}

type filter interface {
	apply(*frame)
}

type brighten struct{ by byte }

func (b brighten) apply(f *frame) {
	for i, p := range f.pixels {
		if int(p)+int(b.by) > 255 {
			f.pixels[i] = 255
		} else {
			f.pixels[i] = p + b.by
		}
	}
}

type smooth struct{}

func (smooth) apply(f *frame) {
	prev := int(f.pixels[0])
	for i := 1; i < frameSize-1; i++ {
		cur := int(f.pixels[i])
		f.pixels[i] = byte((prev + 2*cur + int(f.pixels[i+1])) / 4)
		prev = cur
	}
}

type quantize struct{ mask byte }

func (q quantize) apply(f *frame) {
	for i := range f.pixels {
		f.pixels[i] &= q.mask
	}
}

// stage runs one filter in its own goroutine.
type stage struct {
	name   string
	filter filter
	frames int
}

func (s *stage) run(in <-chan *frame, out chan<- *frame) {
	if !*revised {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	defer close(out)
	for f := range in {
		s.filter.apply(f)
		s.frames++
		out <- f
	}
}

// sensor produces synthetic frames from a free list.
type sensor struct {
	free chan *frame
}

func (s *sensor) capture(n int) *frame {
	var f *frame
	select {
	case f = <-s.free:
	default:
		f = &frame{}
	}
	f.number = n
	x := uint32(n)
	for i := range f.pixels {
		x = x*1664525 + 1013904223
		f.pixels[i] = byte(x >> 24)
	}
	return f
}

type monitor struct {
	mu     sync.Mutex
	frames int
	sum    uint64
}

func (m *monitor) show(f *frame) {
	m.mu.Lock()
	m.frames++
	m.sum += uint64(adler32.Checksum(f.pixels[:]))
	m.mu.Unlock()
}

type pipeline struct {
	sensor *sensor
	stages []*stage
}

func (p *pipeline) run(frames int, m *monitor) {
	source := make(chan *frame)
	go func() {
		defer close(source)
		for n := 0; n < frames; n++ {
			source <- p.sensor.capture(n)
		}
	}()
	var in <-chan *frame = source
	for _, s := range p.stages {
		out := make(chan *frame)
		go s.run(in, out)
		in = out
	}
	for f := range in {
		m.show(f)
		select {
		case p.sensor.free <- f:
		default:
		}
	}
}

func main() {
	flag.Parse()
	start := time.Now()
	p := &pipeline{
		sensor: &sensor{free: make(chan *frame, 8)},
		stages: []*stage{
			{name: "brighten", filter: brighten{20}},
			{name: "smooth", filter: smooth{}},
			{name: "quantize", filter: quantize{0xf0}},
		},
	}
	m := &monitor{}
	p.run(9000, m)
	fmt.Println("frames", m.frames, "sum", m.sum, "stages", len(p.stages))
	fmt.Println("truth run", time.Since(start))
}
