// Command crawler walks a site on an in-process network and counts its words.
package main

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

var errGone = errors.New("410 gone")

type page struct {
	url   string
	body  string
	links []string
}

// network is a fake web: page n links to a handful of later pages.
type network struct {
	pages int
}

func (n *network) get(url string) (*page, error) {
	time.Sleep(2 * time.Millisecond)
	var id int
	if _, err := fmt.Sscanf(url, "https://site.example/p/%d", &id); err != nil {
		return nil, err
	}
	if id > 40 && id%43 == 0 && id < 520 {
		return nil, errGone
	}
	p := &page{url: url, body: strings.Repeat(fmt.Sprintf("page %d lorem ipsum dolor ", id), 60)}
	for k := 1; k <= 4; k++ {
		if to := id*3 + k; to < n.pages {
			p.links = append(p.links, fmt.Sprintf("https://site.example/p/%d", to))
		}
	}
	for k := 1; k <= 3; k++ {
		if to := id + k; to < n.pages {
			p.links = append(p.links, fmt.Sprintf("https://site.example/p/%d", to))
		}
	}
	return p, nil
}

// frontier remembers which addresses were queued already.
type frontier struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (f *frontier) claim(url string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen[url] {
		return false
	}
	f.seen[url] = true
	return true
}

type stats struct {
	mu     sync.Mutex
	pages  int
	failed int
	words  map[string]int
}

func (s *stats) add(words map[string]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages++
	for w, n := range words {
		s.words[w] += n
	}
}

func (s *stats) fail() {
	s.mu.Lock()
	s.failed++
	s.mu.Unlock()
}

type crawler struct {
	net      *network
	frontier *frontier
	stats    *stats
	slots    chan struct{}
	wg       sync.WaitGroup
}

func (c *crawler) fetch(url string) (*page, error) {
	c.slots <- struct{}{}
	if *revised {
		defer func() { <-c.slots }()
		return c.net.get(url)
	}
	p, err := c.net.get(url)
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", url, err)
	}
	<-c.slots
	return p, nil
}

func (c *crawler) visit(url string) {
	defer c.wg.Done()
	p, err := c.fetch(url)
	if err != nil {
		c.stats.fail()
		return
	}
	for _, l := range p.links {
		c.enqueue(l)
	}
	words := map[string]int{}
	for _, w := range strings.Fields(p.body) {
		words[strings.ToLower(w)]++
	}
	c.stats.add(words)
}

func (c *crawler) enqueue(url string) {
	if c.frontier.claim(url) {
		c.wg.Add(1)
		go c.visit(url)
	}
}

func main() {
	flag.Parse()
	start := time.Now()
	c := &crawler{
		net:      &network{pages: 1400},
		frontier: &frontier{seen: map[string]bool{}},
		stats:    &stats{words: map[string]int{}},
		slots:    make(chan struct{}, 16),
	}
	c.enqueue("https://site.example/p/0")
	c.wg.Wait()
	fmt.Println("pages", c.stats.pages, "failed", c.stats.failed, "words", len(c.stats.words), "lorem", c.stats.words["lorem"])
	fmt.Println("truth run", time.Since(start))
}
