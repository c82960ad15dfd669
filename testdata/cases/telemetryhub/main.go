// Command telemetryhub collects readings from many sensors and keeps a
// running summary of each.
package main

import (
	"flag"
	"fmt"
	"reflect"
	"sync"
	"time"
)

const (
	sensors  = 96
	readings = 900
)

type reading struct {
	sensor int
	seq    int
	micros int64
}

type summary struct {
	count    int
	sum      int64
	min, max int64
	buckets  [64]int
}

func (s *summary) add(v int64) {
	if s.count == 0 || v < s.min {
		s.min = v
	}
	if s.count == 0 || v > s.max {
		s.max = v
	}
	s.count++
	s.sum += v
	s.buckets[bucket(v)]++
}

// bucket places v on a roughly exponential scale.
func bucket(v int64) int {
	b, edge := 0, 1.0
	for b < 63 && edge < float64(v) {
		edge *= 1.24
		b++
	}
	return b
}

func sample(sensor, seq int) int64 {
	x := uint64(sensor)<<32 | uint64(seq)
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	for range 7000 {
		x ^= x >> 29
		x *= 0xc4ceb9fe1a85ec53
	}
	return int64(x % 1_000_000)
}

func emit(sensor int, out chan<- reading) {
	for seq := 0; seq < readings; seq++ {
		out <- reading{sensor, seq, sample(sensor, seq)}
	}
}

type hub struct {
	table [sensors]summary
}

func (h *hub) record(r reading) { h.table[r.sensor].add(r.micros) }

// collect serves each sensor's own feed until all of them are closed.
func (h *hub) collect(feeds []chan reading) {
	cases := make([]reflect.SelectCase, len(feeds))
	for i, f := range feeds {
		cases[i] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(f)}
	}
	for len(cases) > 0 {
		i, v, ok := reflect.Select(cases)
		if !ok {
			last := len(cases) - 1
			cases[i] = cases[last]
			cases = cases[:last]
			continue
		}
		h.record(v.Interface().(reading))
	}
}

func (h *hub) collectMerged(feed <-chan reading) {
	for r := range feed {
		h.record(r)
	}
}

func runFeeds(h *hub) {
	feeds := make([]chan reading, sensors)
	for i := range feeds {
		feeds[i] = make(chan reading, 8)
		go func() {
			defer close(feeds[i])
			emit(i, feeds[i])
		}()
	}
	h.collect(feeds)
}

func runMerged(h *hub) {
	feed := make(chan reading, 8*sensors)
	var wg sync.WaitGroup
	for i := 0; i < sensors; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			emit(i, feed)
		}()
	}
	go func() {
		wg.Wait()
		close(feed)
	}()
	h.collectMerged(feed)
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	h := &hub{}
	if *fix {
		runMerged(h)
	} else {
		runFeeds(h)
	}
	var count int
	var sum, spread int64
	for i := range h.table {
		s := &h.table[i]
		count += s.count
		sum += s.sum
		spread += s.max - s.min
	}
	fmt.Printf("readings=%d sum=%d spread=%d\n", count, sum, spread)
}
