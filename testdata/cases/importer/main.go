// Command importer loads contact lists from several sources, cleans them and
// keeps every address once.
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

var revised = flag.Bool("fix", false, "use the revised form")

type contact struct {
	email  string
	source int
}

// source yields the raw contacts of one provider, page by page.
type source struct {
	id, pages int
}

func (s *source) page(n int) []string {
	time.Sleep(time.Millisecond)
	var out []string
	for i := 0; i < 100; i++ {
		v := (n*100 + i) * (s.id + 3) % 9001
		out = append(out, fmt.Sprintf("  User.%d@Example-%d.COM ", v, v%17))
	}
	return out
}

func normalize(raw string) string {
	raw = strings.ToLower(strings.TrimSpace(raw))
	at := strings.LastIndexByte(raw, '@')
	if at < 0 {
		return raw
	}
	return strings.ReplaceAll(raw[:at], ".", "") + raw[at:]
}

// registry keeps the addresses in the order of arrival.
type registry struct {
	emails []string
	known  map[string]bool
	dupes  int
}

func (r *registry) add(c contact) {
	if *revised {
		if r.known[c.email] {
			r.dupes++
			return
		}
		r.known[c.email] = true
		r.emails = append(r.emails, c.email)
		return
	}
	if slices.Contains(r.emails, c.email) {
		r.dupes++
		return
	}
	r.emails = append(r.emails, c.email)
}

type importer struct {
	pages    chan []string
	contacts chan []contact
	registry *registry
	mu       sync.Mutex
	domains  map[string]int
}

func (im *importer) download(sources []*source) {
	var wg sync.WaitGroup
	for _, s := range sources {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 0; n < s.pages; n++ {
				im.pages <- s.page(n)
			}
		}()
	}
	wg.Wait()
	close(im.pages)
}

func (im *importer) clean(workers int) {
	var wg sync.WaitGroup
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for page := range im.pages {
				cs := make([]contact, 0, len(page))
				local := map[string]int{}
				for _, raw := range page {
					e := normalize(raw)
					local[e[strings.LastIndexByte(e, '@')+1:]]++
					cs = append(cs, contact{email: e, source: w})
				}
				im.mu.Lock()
				for d, n := range local {
					im.domains[d] += n
				}
				im.mu.Unlock()
				im.contacts <- cs
			}
		}()
	}
	wg.Wait()
	close(im.contacts)
}

func main() {
	flag.Parse()
	start := time.Now()
	im := &importer{
		pages:    make(chan []string, 4),
		contacts: make(chan []contact, 4),
		registry: &registry{known: map[string]bool{}},
		domains:  map[string]int{},
	}
	var sources []*source
	for i := 0; i < 3; i++ {
		sources = append(sources, &source{id: i, pages: 110})
	}
	go im.download(sources)
	go im.clean(3)
	for cs := range im.contacts {
		for _, c := range cs {
			im.registry.add(c)
		}
	}
	var sum uint64
	for _, e := range im.registry.emails {
		h := fnv.New64a()
		h.Write([]byte(e))
		sum ^= h.Sum64()
	}
	fmt.Println("contacts", len(im.registry.emails), "duplicates", im.registry.dupes, "domains", len(im.domains), "sum", sum)
	fmt.Println("truth run", time.Since(start))
}
