// Command labelspool prints shipping labels for many packing stations on the
// one label printer of a warehouse.
package main

import (
	"flag"
	"fmt"
	"hash/adler32"
	"sync"
	"time"
)

const (
	stations  = 24
	perDesk   = 32
	printTime = 2 * time.Millisecond
)

type label struct {
	station, seq int
	text         string
}

// printer prints one label after another; that is all the hardware can do.
type printer struct {
	feed    chan label
	printed chan struct{}
	sum     uint32
	count   int
}

func newPrinter() *printer {
	p := &printer{feed: make(chan label), printed: make(chan struct{})}
	go p.run()
	return p
}

func (p *printer) run() {
	for l := range p.feed {
		time.Sleep(printTime)
		p.sum += adler32.Checksum([]byte(l.text))
		p.count++
		p.printed <- struct{}{}
	}
}

type lane struct {
	mu     sync.Mutex
	active map[int]string
	jobs   int
}

type spool struct {
	lanes []*lane
	dev   *printer
}

func newSpool(lanes int, dev *printer) *spool {
	s := &spool{dev: dev}
	for range lanes {
		s.lanes = append(s.lanes, &lane{active: make(map[int]string)})
	}
	return s
}

func (s *spool) submit(l label) {
	ln := s.lanes[l.station%len(s.lanes)]
	ln.mu.Lock()
	defer ln.mu.Unlock()
	ln.active[l.station] = l.text
	s.dev.feed <- l
	<-s.dev.printed
	delete(ln.active, l.station)
	ln.jobs++
}

func (s *spool) jobs() int {
	n := 0
	for _, ln := range s.lanes {
		ln.mu.Lock()
		n += ln.jobs
		ln.mu.Unlock()
	}
	return n
}

func compose(station, seq int) label {
	return label{station, seq, fmt.Sprintf("TO: customer %d\nPARCEL %02d-%04d\n", station*1000+seq*7, station, seq)}
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	lanes := 1
	if *fix {
		lanes = stations
	}
	dev := newPrinter()
	s := newSpool(lanes, dev)
	var wg sync.WaitGroup
	for st := range stations {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 0; n < perDesk; n++ {
				s.submit(compose(st, n))
			}
		}()
	}
	wg.Wait()
	close(dev.feed)
	fmt.Printf("jobs=%d printed=%d sum=%08x\n", s.jobs(), dev.count, dev.sum)
}
