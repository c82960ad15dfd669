// Command cadbridge replays drawing sessions through a geometry kernel that
// lives in a goroutine of its own.
package main

import (
	"flag"
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"
)

const (
	sessions = 2
	strokes  = 90_000
)

type point struct{ x, y float64 }

type command struct {
	from, to point
	width    float64
	done     chan float64
}

type kernel struct {
	in     chan *command
	pinned bool
	bounds struct{ min, max point }
	calls  int
}

func newKernel(pinned bool) *kernel {
	return &kernel{in: make(chan *command), pinned: pinned}
}

func (k *kernel) loop() {
	if k.pinned {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	for c := range k.in {
		c.done <- k.apply(c)
	}
}

func (k *kernel) grow(p point) {
	b := &k.bounds
	b.min.x, b.min.y = math.Min(b.min.x, p.x), math.Min(b.min.y, p.y)
	b.max.x, b.max.y = math.Max(b.max.x, p.x), math.Max(b.max.y, p.y)
}

// apply returns the area that the stroke covers.
func (k *kernel) apply(c *command) float64 {
	k.calls++
	k.grow(c.from)
	k.grow(c.to)
	dx, dy := c.to.x-c.from.x, c.to.y-c.from.y
	length := math.Hypot(dx, dy)
	area := length * c.width
	steps := 8 + int(length)%24
	for i := 0; i < steps; i++ {
		a := math.Pi * float64(i) / float64(steps)
		area += math.Sin(a) * c.width * c.width / float64(steps)
	}
	return area
}

type canvas struct {
	kernel *kernel
	cmd    command
	area   float64
}

func (cv *canvas) stroke(from, to point, width float64) {
	cv.cmd.from, cv.cmd.to, cv.cmd.width = from, to, width
	cv.kernel.in <- &cv.cmd
	cv.area += <-cv.cmd.done
}

func draw(k *kernel, seed int) float64 {
	cv := &canvas{kernel: k, cmd: command{done: make(chan float64)}}
	at := point{float64(seed), 0}
	for n := 0; n < strokes; n++ {
		a := float64(n*7+seed) / 50
		next := point{at.x + math.Cos(a)*3, at.y + math.Sin(a)*3}
		cv.stroke(at, next, 0.5+float64(n%5)/4)
		at = next
	}
	return cv.area
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	kernels := make([]*kernel, sessions)
	areas := make([]float64, sessions)
	var wg sync.WaitGroup
	for s := range sessions {
		k := newKernel(!*fix)
		kernels[s] = k
		go k.loop()
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer close(k.in)
			areas[s] = draw(k, s)
		}()
	}
	wg.Wait()
	for s, k := range kernels {
		fmt.Printf("session=%d strokes=%d area=%.3f width=%.3f\n", s, k.calls, areas[s], k.bounds.max.x-k.bounds.min.x)
	}
}
