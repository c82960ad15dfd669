package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

type event struct {
	Host  string
	Seq   int
	Tags  []string
	Value float64
}

// collector is the receiving end.
type collector struct {
	mu    sync.Mutex
	seen  map[string]int
	value float64
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var batch []event
	if err := json.NewDecoder(r.Body).Decode(&batch); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	for _, e := range batch {
		c.seen[e.Host]++
		c.value += e.Value
	}
	c.mu.Unlock()
	fmt.Fprintf(w, "%d", len(batch))
}

type publisher struct {
	url    string
	roots  *x509.CertPool
	mu     sync.Mutex
	shared *http.Client
	sent   int
}

func (p *publisher) newClient() *http.Client {
	return &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.roots}, MaxIdleConnsPerHost: 8},
	}
}

func (p *publisher) client() (*http.Client, func()) {
	if p.shared != nil {
		return p.shared, func() {}
	}
	c := p.newClient()
	return c, c.CloseIdleConnections
}

func (p *publisher) publish(batch []event) error {
	body, err := json.Marshal(batch)
	if err != nil {
		return err
	}
	c, release := p.client()
	defer release()
	resp, err := c.Post(p.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	p.mu.Lock()
	p.sent += len(batch)
	p.mu.Unlock()
	return nil
}

func makeBatch(host string, k int) []event {
	var out []event
	for i := 0; i < 800; i++ {
		out = append(out, event{host, k*800 + i, []string{"disk", "eu", fmt.Sprint(i % 9)}, float64(i % 17)})
	}
	return out
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 60, "batches per host")
	flag.Parse()
	start := time.Now()
	col := &collector{seen: map[string]int{}}
	srv := httptest.NewTLSServer(col)
	defer srv.Close()
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	p := &publisher{url: srv.URL, roots: roots}
	if *fix {
		p.shared = p.newClient()
		defer p.shared.CloseIdleConnections()
	}
	var wg sync.WaitGroup
	for h := 0; h < 4; h++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			host := fmt.Sprintf("web-%d", h)
			for k := 0; k < *n; k++ {
				if err := p.publish(makeBatch(host, k)); err != nil {
					panic(err)
				}
			}
		}()
	}
	wg.Wait()
	fmt.Printf("sent %d hosts %d value %.0f\n", p.sent, len(col.seen), col.value)
	fmt.Printf("truth run %v\n", time.Since(start))
}
