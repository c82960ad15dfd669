// Command feedreader polls feeds over HTTPS from a server in the same process
// and indexes the entries that are new.
package main

import (
	"crypto/sha1"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

type entry struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}

type publisher struct {
	page []byte
}

func newPublisher() *publisher {
	var es []entry
	for i := 0; i < 400; i++ {
		es = append(es, entry{Title: fmt.Sprintf("entry %d", i), Body: strings.Repeat("news ", 40)})
	}
	page, err := json.Marshal(es)
	if err != nil {
		panic(err)
	}
	return &publisher{page: page}
}

func (p *publisher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rev, _ := strconv.Atoi(r.URL.Query().Get("rev"))
	w.Header().Set("X-Revision", strconv.Itoa(rev/2))
	w.Header().Set("Content-Type", "application/json")
	w.Write(p.page)
}

type reader struct {
	client *http.Client
	base   string

	mu       sync.Mutex
	revision map[string]string
	digest   map[string][20]byte
	updates  int
}

// poll fetches a feed and indexes it if its revision changed.
func (rd *reader) poll(feed string, rev int) error {
	resp, err := rd.client.Get(fmt.Sprintf("%s/%s?rev=%d", rd.base, feed, rev))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if !rd.changed(feed, resp.Header.Get("X-Revision")) {
		if *revised {
			_, err = io.Copy(io.Discard, resp.Body)
		}
		return err
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return rd.index(feed, raw)
}

func (rd *reader) changed(feed, revision string) bool {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	if old, ok := rd.revision[feed]; ok && old == revision {
		return false
	}
	rd.revision[feed] = revision
	return true
}

func (rd *reader) index(feed string, raw []byte) error {
	var es []entry
	if err := json.Unmarshal(raw, &es); err != nil {
		return err
	}
	h := sha1.New()
	for _, e := range es {
		io.WriteString(h, strings.ToUpper(e.Title))
		io.WriteString(h, strings.ToUpper(e.Body))
	}
	rd.mu.Lock()
	defer rd.mu.Unlock()
	rd.updates++
	rd.digest[feed] = [20]byte(h.Sum(nil))
	return nil
}

func main() {
	flag.Parse()
	start := time.Now()
	srv := httptest.NewTLSServer(newPublisher())
	defer srv.Close()
	rd := &reader{client: srv.Client(), base: srv.URL, revision: map[string]string{}, digest: map[string][20]byte{}}
	rd.client.Transport.(*http.Transport).MaxIdleConnsPerHost = 8
	var wg sync.WaitGroup
	for w := 0; w < 4; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for rev := 0; rev < 120; rev++ {
				if err := rd.poll(fmt.Sprintf("feed-%d", w), rev); err != nil {
					fmt.Println("poll", err)
				}
			}
		}()
	}
	wg.Wait()
	fmt.Printf("updates %d feeds %d digest %x\n", rd.updates, len(rd.digest), rd.digest["feed-1"])
	fmt.Println("truth run", time.Since(start))
}
