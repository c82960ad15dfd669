// Command deltapack compresses a disk image block by block on all processors
// and keeps the blocks in order.
package main

import (
	"bytes"
	"compress/flate"
	"flag"
	"fmt"
	"hash/crc32"
	"log"
	"runtime"
	"sync"
	"time"
)

const (
	blockSize = 128 << 10
	blocks    = 700
)

type job struct {
	seq  int
	data []byte
	out  chan []byte
}

type packer struct {
	w   *flate.Writer
	buf bytes.Buffer
}

func newPacker() *packer {
	w, err := flate.NewWriter(nil, flate.DefaultCompression)
	if err != nil {
		log.Fatal(err)
	}
	return &packer{w: w}
}

func (p *packer) pack(data []byte) []byte {
	p.buf.Reset()
	p.w.Reset(&p.buf)
	if _, err := p.w.Write(data); err != nil {
		log.Fatal(err)
	}
	if err := p.w.Close(); err != nil {
		log.Fatal(err)
	}
	return bytes.Clone(p.buf.Bytes())
}

// readBlock stands in for the disk image: words with repetitions.
func readBlock(seq int, b []byte) {
	x := uint32(seq)*2654435761 + 12345
	for i := 0; i < len(b); {
		x = x*1664525 + 1013904223
		if x>>27 == 0 && i > 512 {
			from := i - 40 - int(x>>8%400)
			i += copy(b[i:], b[from:from+32])
			continue
		}
		b[i] = "etaoinshrdlu cmfwyp"[x>>16%19]
		i++
	}
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	procs := runtime.GOMAXPROCS(0)
	depth := 4 * procs
	if *fix {
		depth = 8 * procs
	}
	jobs := make(chan *job, procs)
	ordered := make(chan *job, depth)
	free := sync.Pool{New: func() any { return make([]byte, blockSize) }}

	var wg sync.WaitGroup
	for range procs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			p := newPacker()
			for j := range jobs {
				readBlock(j.seq, j.data)
				j.out <- p.pack(j.data)
			}
		}()
	}
	go func() {
		for seq := range blocks {
			j := &job{seq: seq, data: free.Get().([]byte), out: make(chan []byte, 1)}
			ordered <- j
			jobs <- j
		}
		close(jobs)
		close(ordered)
	}()

	var size int
	var sum uint32
	for j := range ordered {
		packed := <-j.out
		size += len(packed)
		sum = crc32.Update(sum, crc32.IEEETable, packed)
		free.Put(j.data)
	}
	wg.Wait()
	fmt.Printf("blocks=%d in=%d out=%d sum=%08x\n", blocks, blocks*blockSize, size, sum)
}
