package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"
)

type report struct {
	name string
	rows int
}

type page struct {
	report string
	digest uint64
	lines  int
}

// archive takes the finished pages.
type archive struct {
	mu    sync.Mutex
	pages map[string]page
}

func (a *archive) put(p page) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pages[p.report] = p
}

type printer struct {
	arch *archive
	jobs <-chan report
}

func (p *printer) run() {
	for r := range p.jobs {
		p.arch.put(p.typeset(r))
	}
}

func (p *printer) typeset(r report) page {
	h := fnv.New64a()
	lines := 0
	var row [48]byte
	for i := 0; i < r.rows; i++ {
		for k := range row {
			row[k] = byte('a' + (i*k+len(r.name))%26)
		}
		h.Write(row[:])
		if row[7] != row[11] {
			lines++
		}
	}
	return page{r.name, h.Sum64(), lines}
}

type plan struct {
	reports  []report
	bySize   bool
	capacity int
}

func (p *plan) order() []report {
	out := slices.Clone(p.reports)
	slices.SortFunc(out, func(a, b report) int {
		if p.bySize && a.rows != b.rows {
			return b.rows - a.rows
		}
		return strings.Compare(a.name, b.name)
	})
	return out
}

func (p *plan) feed() <-chan report {
	jobs := make(chan report, p.capacity)
	go func() {
		defer close(jobs)
		for _, r := range p.order() {
			jobs <- r
		}
	}()
	return jobs
}

func tonight(scale int) []report {
	var out []report
	for i := 0; i < 36; i++ {
		out = append(out, report{fmt.Sprintf("branch-%02d", i), (6 + i%5) * scale})
	}
	for i := 0; i < 6; i++ {
		out = append(out, report{fmt.Sprintf("region-%02d", i), (14 + i) * scale})
	}
	return append(out, report{"yearly", 260 * scale})
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 12000, "rows per unit")
	flag.Parse()
	start := time.Now()
	a := &archive{pages: map[string]page{}}
	p := &plan{reports: tonight(*n), bySize: *fix, capacity: 4}
	jobs := p.feed()
	var wg sync.WaitGroup
	for i := 0; i < 2; i++ {
		wg.Add(1)
		pr := &printer{arch: a, jobs: jobs}
		go func() {
			defer wg.Done()
			pr.run()
		}()
	}
	wg.Wait()
	var sum uint64
	lines := 0
	for _, pg := range a.pages {
		sum ^= pg.digest
		lines += pg.lines
	}
	fmt.Printf("pages %d lines %d sum %x\n", len(a.pages), lines, sum)
	fmt.Printf("truth run %v\n", time.Since(start))
}
