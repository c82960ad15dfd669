// Command fractalfarm renders a Mandelbrot picture with all processors.
package main

import (
	"flag"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	width   = 1400
	height  = 1000
	maxIter = 2800
)

type image struct {
	rows [][]uint16
}

func newImage() *image {
	img := &image{rows: make([][]uint16, height)}
	pix := make([]uint16, width*height)
	for y := range img.rows {
		img.rows[y] = pix[y*width : (y+1)*width]
	}
	return img
}

func escape(cr, ci float64) uint16 {
	var zr, zi float64
	for n := range maxIter {
		r2, i2 := zr*zr, zi*zi
		if r2+i2 > 4 {
			return uint16(n)
		}
		zr, zi = r2-i2+cr, 2*zr*zi+ci
	}
	return maxIter
}

func (img *image) renderRow(y int) {
	row := img.rows[y]
	ci := -1.15 + 2.3*float64(y)/height
	for x := range row {
		row[x] = escape(-2.1+3.0*float64(x)/width, ci)
	}
}

// scheduler hands out runs of rows.
type scheduler struct {
	next atomic.Int64
	step int64
}

func (s *scheduler) take() (from, to int, ok bool) {
	end := s.next.Add(s.step)
	start := end - s.step
	if start >= height {
		return 0, 0, false
	}
	return int(start), int(min(end, height)), true
}

func render(img *image, step int64) {
	s := &scheduler{step: step}
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				from, to, ok := s.take()
				if !ok {
					return
				}
				for y := from; y < to; y++ {
					img.renderRow(y)
				}
			}
		}()
	}
	wg.Wait()
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	step := int64(4)
	if *fix {
		step = 1
	}
	img := newImage()
	render(img, step)
	inside, sum := 0, 0
	for _, row := range img.rows {
		for _, v := range row {
			if v == maxIter {
				inside++
			}
			sum += int(v)
		}
	}
	fmt.Printf("pixels=%d inside=%d iterations=%d\n", width*height, inside, sum)
}
