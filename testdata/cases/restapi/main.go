// Command restapi runs a small inventory API and a few clients in one process.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

var _ = flag.Bool("fix", false, "use the revised form")

type article struct {
	ID    int      `json:"id"`
	Name  string   `json:"name"`
	Stock int      `json:"stock"`
	Tags  []string `json:"tags"`
}

type inventory struct {
	mu       sync.RWMutex
	articles map[int]*article
}

func newInventory(n int) *inventory {
	inv := &inventory{articles: map[int]*article{}}
	for i := 0; i < n; i++ {
		inv.articles[i] = &article{ID: i, Name: fmt.Sprintf("article %d", i), Stock: 100, Tags: []string{"new", "eu", strconv.Itoa(i % 9)}}
	}
	return inv
}

func (inv *inventory) page(from, n int) []article {
	inv.mu.RLock()
	defer inv.mu.RUnlock()
	out := make([]article, 0, n)
	for i := from; i < from+n; i++ {
		if a, ok := inv.articles[i]; ok {
			out = append(out, *a)
		}
	}
	return out
}

func (inv *inventory) adjust(id, by int) int {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	a := inv.articles[id]
	a.Stock += by
	return a.Stock
}

type api struct {
	inv *inventory
}

func (s *api) list(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.Atoi(r.URL.Query().Get("from"))
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(s.inv.page(from, 40))
}

func (s *api) adjust(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var req struct{ By int }
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintln(w, s.inv.adjust(id, req.By))
}

func (s *api) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /articles", s.list)
	mux.HandleFunc("POST /articles/{id}/stock", s.adjust)
	return mux
}

type client struct {
	http *http.Client
	base string
}

func (c *client) list(from int) (int, error) {
	resp, err := c.http.Get(fmt.Sprintf("%s/articles?from=%d", c.base, from))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	var as []article
	return len(as), json.Unmarshal(raw, &as)
}

func (c *client) adjust(id, by int) error {
	body := fmt.Appendf(nil, `{"By":%d}`, by)
	resp, err := c.http.Post(fmt.Sprintf("%s/articles/%d/stock", c.base, id), "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func main() {
	flag.Parse()
	start := time.Now()
	inv := newInventory(20000)
	srv := httptest.NewServer((&api{inv: inv}).routes())
	defer srv.Close()
	c := &client{http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}, base: srv.URL}
	var requests, failed atomic.Int64
	var wg sync.WaitGroup
	for w := 0; w < 6; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; i < 1300; i++ {
				if _, err := c.list((i*17 + w) % 19900); err != nil {
					failed.Add(1)
				}
				if i%4 == 0 {
					if err := c.adjust((i*3+w)%20000, i%5-2); err != nil {
						failed.Add(1)
					}
				}
				requests.Add(1)
			}
		}()
	}
	wg.Wait()
	stock := 0
	for _, a := range inv.articles {
		stock += a.Stock
	}
	fmt.Println("requests", requests.Load(), "failed", failed.Load(), "stock", stock)
	fmt.Println("truth run", time.Since(start))
}
