// Command playout sends audio blocks to a sound device at the pace at which
// they are heard.
package main

import (
	"flag"
	"fmt"
	"hash/crc32"
	"math"
	"time"
)

const (
	blocks      = 160
	blockFrames = 480
	sampleRate  = 48_000
)

type block struct {
	seq     int
	samples [blockFrames]int16
}

type synth struct {
	phase float64
	freq  float64
}

func (s *synth) fill(b *block) {
	for i := range b.samples {
		v := math.Sin(s.phase)*0.6 + math.Sin(2*s.phase)*0.2
		b.samples[i] = int16(v * math.MaxInt16)
		s.phase += 2 * math.Pi * s.freq / sampleRate
	}
	s.freq *= 1.004
}

func produce(ahead int) <-chan *block {
	out := make(chan *block, ahead)
	go func() {
		defer close(out)
		s := &synth{freq: 220}
		for seq := range blocks {
			b := &block{seq: seq}
			s.fill(b)
			out <- b
		}
	}()
	return out
}

type device struct {
	played int
	sum    uint32
	late   int
}

func (d *device) play(b *block) {
	raw := make([]byte, 0, 2*blockFrames)
	for _, v := range b.samples {
		raw = append(raw, byte(v), byte(uint16(v)>>8))
	}
	d.sum = crc32.Update(d.sum, crc32.IEEETable, raw)
	d.played++
}

// run plays a block each time the device has room for one, that is every
// 10 ms; a late block is counted.
func (d *device) run(in <-chan *block) {
	const period = time.Second * blockFrames / sampleRate
	tick := time.NewTicker(period)
	defer tick.Stop()
	for range tick.C {
		var b *block
		var ok bool
		select {
		case b, ok = <-in:
		default:
			d.late++
			b, ok = <-in
		}
		if !ok {
			return
		}
		d.play(b)
	}
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	ahead := 8
	if *fix {
		ahead = 64
	}
	d := &device{}
	d.run(produce(ahead))
	fmt.Printf("played=%d seconds=%.1f sum=%08x underruns=%v\n",
		d.played, float64(d.played*blockFrames)/sampleRate, d.sum, d.late > blocks/10)
}
