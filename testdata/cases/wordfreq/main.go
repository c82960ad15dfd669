// Command wordfreq counts the words of a generated document collection.
package main

import (
	"flag"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"
	"unicode"
)

var revised = flag.Bool("fix", false, "use the revised form")

var vocabulary = strings.Fields(`storage engine compaction segment memory journal index query
	planner vector column page buffer cache replica leader follower snapshot commit epoch
	lease shard token ring gossip quorum latch btree bloom filter prefix suffix merge scan`)

type document struct {
	id   int
	text string
}

func compose(id int) document {
	var sb strings.Builder
	x := uint32(id)*2654435761 + 7
	for i := 0; i < 1500; i++ {
		x = x*1664525 + 1013904223
		w := vocabulary[int(x>>16)%len(vocabulary)]
		if x>>30 == 0 {
			w = strings.ToUpper(w[:1]) + w[1:] + ","
		}
		sb.WriteString(w)
		sb.WriteByte(' ')
	}
	return document{id, sb.String()}
}

// words calls yield for each normalized word of the text.
func words(text string, yield func(string)) {
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		yield(strings.ToLower(f))
	}
}

type histogram map[string]int

func (h histogram) merge(o histogram) {
	for w, n := range o {
		h[w] += n
	}
}

func (h histogram) top(n int) []string {
	keys := make([]string, 0, len(h))
	for k := range h {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		if h[keys[i]] != h[keys[j]] {
			return h[keys[i]] > h[keys[j]]
		}
		return keys[i] < keys[j]
	})
	return keys[:n]
}

type counter struct {
	workers int
	docs    chan int
	found   chan string
	local   chan histogram
	busy    sync.WaitGroup
}

func newCounter(workers int) *counter {
	return &counter{workers: workers, docs: make(chan int, 16), found: make(chan string, 4096), local: make(chan histogram, workers)}
}

func (c *counter) mapper() {
	defer c.busy.Done()
	if *revised {
		h := histogram{}
		for id := range c.docs {
			words(compose(id).text, func(w string) { h[w]++ })
		}
		c.local <- h
		return
	}
	for id := range c.docs {
		words(compose(id).text, func(w string) { c.found <- w })
	}
}

func (c *counter) run(docs int) histogram {
	for w := 0; w < c.workers; w++ {
		c.busy.Add(1)
		go c.mapper()
	}
	go func() {
		for id := 0; id < docs; id++ {
			c.docs <- id
		}
		close(c.docs)
		c.busy.Wait()
		close(c.found)
		close(c.local)
	}()
	total := histogram{}
	for w := range c.found {
		total[w]++
	}
	for h := range c.local {
		total.merge(h)
	}
	return total
}

func main() {
	flag.Parse()
	start := time.Now()
	h := newCounter(4).run(2600)
	sum := 0
	for _, n := range h {
		sum += n
	}
	fmt.Println("words", sum, "distinct", len(h), "top", h.top(5))
	fmt.Println("truth run", time.Since(start))
}
