// Command searchidx builds an inverted index and answers queries.
package main

import (
	"flag"
	"fmt"
	"runtime/debug"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

type posting struct {
	doc   int
	score float32
	next  *posting
}

type term struct {
	text  string
	count int
	head  *posting
}

type index struct {
	terms map[string]*term
	docs  int
}

func build(docs, vocabulary int) *index {
	ix := &index{terms: make(map[string]*term, vocabulary), docs: docs}
	all := make([]*term, vocabulary)
	for i := range all {
		all[i] = &term{text: fmt.Sprintf("term%05d", i)}
		ix.terms[all[i].text] = all[i]
	}
	x := uint32(1)
	for d := 0; d < docs; d++ {
		for k := 0; k < 12; k++ {
			x = x*1664525 + 1013904223
			t := all[int(x>>8)%vocabulary]
			t.head = &posting{doc: d, score: float32(x>>20) / 100, next: t.head}
			t.count++
		}
	}
	return ix
}

type hit struct {
	doc   int
	score float32
}

// search scores the documents that contain any of the words.
func (ix *index) search(q string, limit int) []hit {
	scores := map[int]float32{}
	for _, w := range strings.Fields(q) {
		t, ok := ix.terms[w]
		if !ok {
			continue
		}
		idf := float32(ix.docs) / float32(t.count+1)
		for p := t.head; p != nil; p = p.next {
			scores[p.doc] += p.score * idf
		}
	}
	hits := make([]hit, 0, len(scores))
	for d, s := range scores {
		hits = append(hits, hit{d, s})
	}
	sort.Slice(hits, func(i, j int) bool {
		if hits[i].score != hits[j].score {
			return hits[i].score > hits[j].score
		}
		return hits[i].doc < hits[j].doc
	})
	if len(hits) > limit {
		hits = hits[:limit]
	}
	return hits
}

// history remembers the most recent queries.
type history struct {
	mu   sync.Mutex
	last []string
}

func (h *history) add(q string) {
	h.mu.Lock()
	if h.last = append(h.last, q); len(h.last) > 50 {
		h.last = h.last[1:]
	}
	h.mu.Unlock()
}

func tuneMemory() {
	percent := 25
	if *revised {
		percent = 100
	}
	debug.SetGCPercent(percent)
}

func main() {
	flag.Parse()
	start := time.Now()
	tuneMemory()
	ix := build(90000, 4000)
	h := &history{}
	var sum atomic.Int64
	var wg sync.WaitGroup
	for w := 0; w < 2; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; i < 700; i++ {
				q := fmt.Sprintf("term%05d term%05d term%05d", (i*7+w)%4000, (i*31)%4000, (i*3+w*11)%4000)
				for _, r := range ix.search(q, 10) {
					sum.Add(int64(r.doc))
				}
				h.add(q)
			}
		}()
	}
	wg.Wait()
	fmt.Println("terms", len(ix.terms), "docs", ix.docs, "sum", sum.Load())
	fmt.Println("truth run", time.Since(start))
}
