// Command transcoder downloads clips and re-encodes them; the number of
// encoders running at a time is limited to spare the host.
package main

import (
	"flag"
	"fmt"
	"hash/adler32"
	"math"
	"sync"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

type clip struct {
	id     int
	frames [][]float64
}

// origin is the storage service that holds the raw clips.
type origin struct {
	latency time.Duration
}

func (o *origin) download(id int) *clip {
	time.Sleep(o.latency)
	c := &clip{id: id}
	for f := 0; f < 4; f++ {
		row := make([]float64, 64)
		for i := range row {
			row[i] = math.Sin(float64(id*31 + f*7 + i))
		}
		c.frames = append(c.frames, row)
	}
	return c
}

// dct is the transform of one frame.
func dct(in []float64) []float64 {
	n := len(in)
	out := make([]float64, n)
	for k := range out {
		var s float64
		for i, v := range in {
			s += v * math.Cos(math.Pi/float64(n)*(float64(i)+0.5)*float64(k))
		}
		out[k] = s
	}
	return out
}

func encode(c *clip) uint32 {
	var buf []byte
	for _, f := range c.frames {
		coeffs := f
		for pass := 0; pass < 12; pass++ {
			coeffs = dct(coeffs)
		}
		for _, v := range coeffs {
			buf = append(buf, byte(int64(math.Round(v))&0xff))
		}
	}
	return adler32.Checksum(buf)
}

type semaphore chan struct{}

func (s semaphore) acquire() { s <- struct{}{} }
func (s semaphore) release() { <-s }

type progress struct {
	mu   sync.Mutex
	done int
	sums map[int]uint32
}

func (p *progress) finish(id int, sum uint32) {
	p.mu.Lock()
	p.done++
	p.sums[id] = sum
	p.mu.Unlock()
}

type transcoder struct {
	origin   *origin
	encoders semaphore
	progress *progress
}

func (t *transcoder) process(id int) {
	if *revised {
		c := t.origin.download(id)
		t.encoders.acquire()
		defer t.encoders.release()
		t.progress.finish(id, encode(c))
		return
	}
	t.encoders.acquire()
	defer t.encoders.release()
	c := t.origin.download(id)
	t.progress.finish(id, encode(c))
}

func main() {
	flag.Parse()
	start := time.Now()
	t := &transcoder{
		origin:   &origin{latency: 4 * time.Millisecond},
		encoders: make(semaphore, 3),
		progress: &progress{sums: map[int]uint32{}},
	}
	const clips = 300
	ids := make(chan int)
	var wg sync.WaitGroup
	for w := 0; w < 16; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for id := range ids {
				t.process(id)
			}
		}()
	}
	for id := 0; id < clips; id++ {
		ids <- id
	}
	close(ids)
	wg.Wait()
	var all uint32
	for _, s := range t.progress.sums {
		all ^= s
	}
	fmt.Println("clips", t.progress.done, "sum", all)
	fmt.Println("truth run", time.Since(start))
}
