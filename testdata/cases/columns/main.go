// Command columns scans a column file block by block and aggregates it.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"sync"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

const blockRows = 16384

type block struct {
	number int
	data   []byte
}

// volume is a remote store with a fixed time per block.
type volume struct {
	blocks int
	served int
}

func (v *volume) read(n int) (*block, bool) {
	if n >= v.blocks {
		return nil, false
	}
	time.Sleep(3 * time.Millisecond)
	v.served++
	b := &block{number: n, data: make([]byte, blockRows*4)}
	x := uint32(n + 1)
	for i := 0; i < blockRows; i++ {
		x = x*1664525 + 1013904223
		binary.LittleEndian.PutUint32(b.data[i*4:], x>>12)
	}
	return b, true
}

type aggregate struct {
	rows  int
	sum   float64
	logs  float64
	worst uint32
}

func (a *aggregate) merge(o aggregate) {
	a.rows += o.rows
	a.sum += o.sum
	a.logs += o.logs
	a.worst = max(a.worst, o.worst)
}

func (s *scanner) scan(data []byte) aggregate {
	var a aggregate
	for i := 0; i+4 <= len(data); i += 4 {
		v := binary.LittleEndian.Uint32(data[i:])
		a.rows++
		a.sum += float64(v)
		for _, unit := range s.units {
			a.logs += unit * math.Floor(math.Log1p(float64(v))*64+math.Sqrt(float64(v))+math.Cbrt(float64(v))+8*math.Sin(float64(v)*unit))
		}
		a.worst = max(a.worst, v)
	}
	return a
}

type scanner struct {
	volume *volume
	parts  int
	units  []float64
	total  aggregate
	mu     sync.Mutex
}

// process splits a block among the processors.
func (s *scanner) process(b *block) {
	var wg sync.WaitGroup
	per := len(b.data) / s.parts
	for p := 0; p < s.parts; p++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			a := s.scan(b.data[p*per : (p+1)*per])
			s.mu.Lock()
			s.total.merge(a)
			s.mu.Unlock()
		}()
	}
	wg.Wait()
}

// prefetch reads ahead of the consumer.
func (s *scanner) prefetch(depth int) <-chan *block {
	out := make(chan *block, depth)
	go func() {
		defer close(out)
		for n := 0; ; n++ {
			b, ok := s.volume.read(n)
			if !ok {
				return
			}
			out <- b
		}
	}()
	return out
}

func (s *scanner) run() {
	if *revised {
		for b := range s.prefetch(2) {
			s.process(b)
		}
		return
	}
	for n := 0; ; n++ {
		b, ok := s.volume.read(n)
		if !ok {
			return
		}
		s.process(b)
	}
}

func main() {
	flag.Parse()
	start := time.Now()
	s := &scanner{volume: &volume{blocks: 120}, parts: 2, units: []float64{1, 2, 4}}
	s.run()
	fmt.Printf("rows %d sum %.0f logs %.0f worst %d blocks %d\n", s.total.rows, s.total.sum, s.total.logs, s.total.worst, s.volume.served)
	fmt.Println("truth run", time.Since(start))
}
