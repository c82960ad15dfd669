// Command nightly runs the nightly maintenance of a store: the catalog is
// refreshed while the journal is sealed.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"strings"
	"sync"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

type article struct {
	id    int
	price int
	title string
}

// supplier is the remote price list.
type supplier struct{}

func (supplier) quote(id int) article {
	time.Sleep(1200 * time.Microsecond)
	return article{id: id, price: id*37%500 + 10, title: strings.Repeat(fmt.Sprintf("a%d ", id), 8)}
}

// catalog holds the current articles.
type catalog struct {
	mu       sync.Mutex
	supplier supplier
	articles map[int]article
	value    int
}

func (c *catalog) put(a article) {
	c.articles[a.id] = a
	c.value += a.price
}

func (c *catalog) refresh(id int) {
	if *revised {
		a := c.supplier.quote(id)
		c.mu.Lock()
		c.put(a)
		c.mu.Unlock()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(c.supplier.quote(id))
}

type record struct {
	seq  int
	body string
}

// journal is a hash chain: the seal of each record covers the previous seal.
type journal struct {
	records []record
	seal    [32]byte
}

func newJournal(n int) *journal {
	j := &journal{}
	for i := 0; i < n; i++ {
		j.records = append(j.records, record{seq: i, body: fmt.Sprintf("sale %d of article %d", i, i*7%300)})
	}
	return j
}

func (j *journal) link(r record) {
	b := append(j.seal[:], r.body...)
	j.seal = sha256.Sum256(b)
	for i := 0; i < 600; i++ {
		j.seal = sha256.Sum256(j.seal[:])
	}
}

func (j *journal) sealAll() {
	for _, r := range j.records {
		j.link(r)
	}
}

type maintenance struct {
	catalog *catalog
	journal *journal
}

func (m *maintenance) refreshCatalog(articles, workers int) {
	ids := make(chan int)
	var wg sync.WaitGroup
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for id := range ids {
				m.catalog.refresh(id)
			}
		}()
	}
	for id := 0; id < articles; id++ {
		ids <- id
	}
	close(ids)
	wg.Wait()
}

func (m *maintenance) run() {
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		m.refreshCatalog(300, 12)
	}()
	go func() {
		defer wg.Done()
		m.journal.sealAll()
	}()
	wg.Wait()
}

func main() {
	flag.Parse()
	start := time.Now()
	m := &maintenance{catalog: &catalog{articles: map[int]article{}}, journal: newJournal(16000)}
	m.run()
	fmt.Println("articles", len(m.catalog.articles), "value", m.catalog.value, "seal", hex.EncodeToString(m.journal.seal[:6]))
	fmt.Println("truth run", time.Since(start))
}
