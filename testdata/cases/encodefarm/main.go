// Command encodefarm collects texts from several desks and encodes them.
package main

import (
	"compress/flate"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"strings"
	"sync"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

type text struct {
	desk, number int
	body         string
}

// desk edits texts and hands them in.
type desk struct {
	id     int
	edited int
}

func (d *desk) edit(n int) text {
	var sb strings.Builder
	x := uint32(d.id*1000 + n)
	for i := 0; i < 220; i++ {
		x = x*1664525 + 1013904223
		fmt.Fprintf(&sb, "paragraph %d of text %d;", x>>20, n)
	}
	d.edited++
	return text{desk: d.id, number: n, body: sb.String()}
}

func (d *desk) run(n int, inbox chan<- text) {
	for i := 0; i < n; i++ {
		inbox <- d.edit(i)
	}
}

type digest struct {
	texts int
	bytes int
	crc   uint32
}

type meter struct {
	n   int
	crc uint32
}

func (m *meter) Write(p []byte) (int, error) {
	m.n += len(p)
	m.crc = crc32.Update(m.crc, crc32.IEEETable, p)
	return len(p), nil
}

type encoder struct {
	w      *flate.Writer
	digest digest
}

func newEncoder() *encoder {
	w, err := flate.NewWriter(io.Discard, 9)
	if err != nil {
		panic(err)
	}
	return &encoder{w: w}
}

func (e *encoder) encode(t text) {
	var m meter
	e.w.Reset(&m)
	io.WriteString(e.w, t.body)
	io.WriteString(e.w, strings.ToUpper(t.body))
	e.w.Close()
	e.digest.texts++
	e.digest.bytes += m.n
	e.digest.crc ^= m.crc
}

func (e *encoder) run(inbox <-chan text) {
	for t := range inbox {
		e.encode(t)
	}
}

type farm struct {
	inbox    chan text
	encoders []*encoder
}

func newFarm(n int) *farm {
	f := &farm{inbox: make(chan text)}
	if *revised {
		f.inbox = make(chan text, 32)
	}
	for i := 0; i < n; i++ {
		f.encoders = append(f.encoders, newEncoder())
	}
	return f
}

func main() {
	flag.Parse()
	start := time.Now()
	f := newFarm(runtime.GOMAXPROCS(0))
	var desks, encoding sync.WaitGroup
	for i := 0; i < 10; i++ {
		desks.Add(1)
		go func() {
			defer desks.Done()
			(&desk{id: i}).run(280, f.inbox)
		}()
	}
	for _, e := range f.encoders {
		encoding.Add(1)
		go func() {
			defer encoding.Done()
			e.run(f.inbox)
		}()
	}
	desks.Wait()
	close(f.inbox)
	encoding.Wait()
	var total digest
	for _, e := range f.encoders {
		total.texts += e.digest.texts
		total.bytes += e.digest.bytes
		total.crc ^= e.digest.crc
	}
	fmt.Printf("texts %d bytes %d crc %08x\n", total.texts, total.bytes, total.crc)
	fmt.Println("truth run", time.Since(start))
}
