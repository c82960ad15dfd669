// Command similarity finds near duplicates in a set of document fingerprints
// by comparing every pair.
package main

import (
	"flag"
	"fmt"
	"math/bits"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

const words = 64

type fingerprint [words]uint64

// synth derives a fingerprint for a document; every ninth one resembles its
// predecessor.
func synth(id int) fingerprint {
	var f fingerprint
	seed := uint64(id)
	if id%9 == 8 {
		seed--
	}
	x := seed*0x9E3779B97F4A7C15 + 1
	for i := range f {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		f[i] = x
	}
	f[id%words] ^= uint64(id) & 0xff
	return f
}

func (f *fingerprint) distance(g *fingerprint) int {
	d := 0
	for i := range f {
		d += bits.OnesCount64(f[i] ^ g[i])
	}
	return d
}

type pair struct{ a, b int }

// report collects the pairs and the pace of the comparison.
type report struct {
	mu    sync.Mutex
	pairs []pair
	rows  int
}

func (r *report) add(ps []pair) {
	r.mu.Lock()
	r.pairs = append(r.pairs, ps...)
	r.rows++
	r.mu.Unlock()
}

type matcher struct {
	docs   []fingerprint
	limit  int
	report *report
}

// row compares document i with all later documents.
func (m *matcher) row(i int) {
	var found []pair
	for j := i + 1; j < len(m.docs); j++ {
		if m.docs[i].distance(&m.docs[j]) <= m.limit {
			found = append(found, pair{i, j})
		}
	}
	m.report.add(found)
}

func (m *matcher) run(workers int) {
	var wg sync.WaitGroup
	var next atomic.Int64
	per := (len(m.docs) + workers - 1) / workers
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if *revised {
				for i := int(next.Add(1)) - 1; i < len(m.docs); i = int(next.Add(1)) - 1 {
					m.row(i)
				}
				return
			}
			for i := w * per; i < min((w+1)*per, len(m.docs)); i++ {
				m.row(i)
			}
		}()
	}
	wg.Wait()
}

func main() {
	flag.Parse()
	start := time.Now()
	m := &matcher{limit: 24, report: &report{}}
	for i := 0; i < 6000; i++ {
		m.docs = append(m.docs, synth(i))
	}
	m.run(runtime.GOMAXPROCS(0))
	sort.Slice(m.report.pairs, func(i, j int) bool { return m.report.pairs[i].a < m.report.pairs[j].a })
	fmt.Println("rows", m.report.rows, "pairs", len(m.report.pairs), "last", m.report.pairs[len(m.report.pairs)-1])
	fmt.Println("truth run", time.Since(start))
}
