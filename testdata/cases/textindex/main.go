// Command textindex builds a positional index over generated articles.
package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"runtime"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var _ = flag.Bool("fix", false, "use the revised form")

var lexicon = strings.Fields(`river mountain valley harbor bridge castle market garden
	winter summer storm lantern compass anchor merchant sailor baker smith scholar knight
	silver copper amber ivory velvet cotton saffron pepper cinnamon barley orchard meadow`)

type posting struct {
	doc, pos int
}

type index map[string][]posting

// article produces the text of a document.
func article(id int) string {
	var sb strings.Builder
	x := uint32(id)*747796405 + 2891336453
	for i := 0; i < 700; i++ {
		x = x*1664525 + 1013904223
		w := lexicon[int(x>>16)%len(lexicon)]
		if x>>29 == 0 {
			w += "s"
		}
		sb.WriteString(w)
		sb.WriteByte(" ,.;"[x>>30])
		sb.WriteByte(' ')
	}
	return sb.String()
}

// stem cuts common endings.
func stem(w string) string {
	w = strings.Trim(w, ",.; ")
	for _, suffix := range []string{"ing", "ed", "s"} {
		if len(w) > len(suffix)+3 && strings.HasSuffix(w, suffix) {
			return w[:len(w)-len(suffix)]
		}
	}
	return w
}

func (ix index) add(doc int, text string) {
	for pos, w := range strings.Fields(text) {
		if w = stem(w); w != "" {
			ix[w] = append(ix[w], posting{doc, pos})
		}
	}
}

type builder struct {
	docs    int
	next    atomic.Int64
	mu      sync.Mutex
	partial []index
}

func (b *builder) work() {
	ix := index{}
	const chunk = 25
	for from := int(b.next.Add(chunk)) - chunk; from < b.docs; from = int(b.next.Add(chunk)) - chunk {
		for d := from; d < min(from+chunk, b.docs); d++ {
			ix.add(d, article(d))
		}
	}
	b.mu.Lock()
	b.partial = append(b.partial, ix)
	b.mu.Unlock()
}

// merge joins the parts word by word, in parallel.
func (b *builder) merge(workers int) (words int, sum uint64) {
	seen := map[string]bool{}
	var all []string
	for _, p := range b.partial {
		for w := range p {
			if !seen[w] {
				seen[w] = true
				all = append(all, w)
			}
		}
	}
	var total atomic.Uint64
	var wg sync.WaitGroup
	for k := 0; k < workers; k++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := k; i < len(all); i += workers {
				total.Add(b.digest(all[i]))
			}
		}()
	}
	wg.Wait()
	return len(all), total.Load()
}

func (b *builder) digest(w string) uint64 {
	var ps []posting
	for _, p := range b.partial {
		ps = append(ps, p[w]...)
	}
	sort.Slice(ps, func(i, j int) bool {
		if ps[i].doc != ps[j].doc {
			return ps[i].doc < ps[j].doc
		}
		return ps[i].pos < ps[j].pos
	})
	h := fnv.New64a()
	for i := 0; i < len(ps); i += 97 {
		fmt.Fprintf(h, "%s%d.%d;", w, ps[i].doc, ps[i].pos)
	}
	return h.Sum64()
}

func main() {
	flag.Parse()
	start := time.Now()
	b := &builder{docs: 6000}
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			b.work()
		}()
	}
	wg.Wait()
	words, sum := b.merge(workers)
	fmt.Println("words", words, "sum", sum)
	fmt.Println("truth run", time.Since(start))
}
