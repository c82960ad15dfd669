// Command ingest reads device reports, parses and enriches them and stores
// the result in blocks.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/crc32"
	"sync"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

type report struct {
	Device  int       `json:"device"`
	Samples []float64 `json:"samples"`
	Tags    []string  `json:"tags"`
	Owner   string    `json:"-"`
}

// spool yields the raw reports of the day.
type spool struct{ n int }

func (s *spool) read(out chan<- []byte) {
	defer close(out)
	for i := 0; i < s.n; i++ {
		r := report{Device: i, Tags: []string{"north", "indoor", "v2"}}
		for k := 0; k < 1400; k++ {
			r.Samples = append(r.Samples, float64(i*k%977)/7)
		}
		raw, err := json.Marshal(r)
		if err != nil {
			panic(err)
		}
		out <- raw
	}
}

// parser checks and decodes raw reports.
type parser struct {
	mu  sync.Mutex
	crc uint32
}

func (p *parser) run(in <-chan []byte, out chan<- *report) {
	for raw := range in {
		r := &report{}
		if err := json.Unmarshal(raw, r); err != nil {
			panic(err)
		}
		p.mu.Lock()
		p.crc ^= crc32.ChecksumIEEE(raw)
		p.mu.Unlock()
		out <- r
	}
}

// directory looks up the owner of a device.
type directory struct{}

func (d *directory) owner(device int) string {
	time.Sleep(1 * time.Millisecond)
	return fmt.Sprintf("owner-%d", device%50)
}

func (d *directory) enrich(in <-chan *report, out chan<- *report) {
	for r := range in {
		r.Owner = d.owner(r.Device)
		out <- r
	}
}

// store keeps the totals by owner and writes blocks of reports.
type store struct {
	blocks int
	totals map[string]float64
}

func (s *store) run(in <-chan *report) {
	n := 0
	for r := range in {
		for _, v := range r.Samples {
			s.totals[r.Owner] += v
		}
		if n++; n%100 == 0 {
			time.Sleep(3 * time.Millisecond)
			s.blocks++
		}
	}
}

// stage runs a pipeline step with several workers and closes its output.
func stage[T any](workers int, out chan T, work func()) {
	var wg sync.WaitGroup
	for i := 0; i < workers; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			work()
		}()
	}
	go func() {
		wg.Wait()
		close(out)
	}()
}

func main() {
	flag.Parse()
	start := time.Now()
	raw := make(chan []byte, 32)
	parsed := make(chan *report, 32)
	enriched := make(chan *report, 32)
	p := &parser{}
	d := &directory{}
	s := &store{totals: map[string]float64{}}
	lookups := 2
	if *revised {
		lookups = 8
	}
	go (&spool{n: 500}).read(raw)
	stage(2, parsed, func() { p.run(raw, parsed) })
	stage(lookups, enriched, func() { d.enrich(parsed, enriched) })
	s.run(enriched)
	var sum float64
	for _, v := range s.totals {
		sum += v
	}
	fmt.Printf("owners %d blocks %d sum %.0f crc %08x\n", len(s.totals), s.blocks, sum, p.crc)
	fmt.Println("truth run", time.Since(start))
}
