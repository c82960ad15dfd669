// Command catalogsync looks up articles in a remote catalogue over HTTPS; many
// of the identifiers it asks about are not known there.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	workers  = 8
	articles = 1600
)

type article struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
	Price int    `json:"price"`
}

var errUnknown = errors.New("unknown article")

func catalogue() http.Handler {
	mux := http.NewServeMux()
	notFound := strings.Repeat("No article is stored under this number. ", 40)
	mux.HandleFunc("GET /articles/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.PathValue("id"))
		if err != nil {
			http.Error(w, "bad id", http.StatusBadRequest)
			return
		}
		if id%4 != 0 {
			http.Error(w, notFound, http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(article{ID: id, Title: "Article " + strconv.Itoa(id), Price: id * 3 % 997})
	})
	return mux
}

type syncer struct {
	base   string
	client *http.Client
	drain  bool
}

func (s *syncer) lookup(id int) (article, error) {
	var a article
	resp, err := s.client.Get(s.base + "/articles/" + strconv.Itoa(id))
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound {
		if s.drain {
			io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
		}
		return a, errUnknown
	}
	if resp.StatusCode != http.StatusOK {
		return a, fmt.Errorf("lookup %d: %s", id, resp.Status)
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(data, &a)
}

type tally struct {
	found, unknown, price int
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	srv := httptest.NewUnstartedServer(catalogue())
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	client := srv.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = workers

	s := &syncer{base: srv.URL, client: client, drain: *fix}
	ids := make(chan int)
	tallies := make([]tally, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			t := &tallies[w]
			for id := range ids {
				a, err := s.lookup(id)
				switch {
				case errors.Is(err, errUnknown):
					t.unknown++
				case err != nil:
					log.Fatal(err)
				default:
					t.found++
					t.price += a.Price
				}
			}
		}()
	}
	for id := 0; id < articles; id++ {
		ids <- id
	}
	close(ids)
	wg.Wait()

	var sum tally
	for _, t := range tallies {
		sum.found += t.found
		sum.unknown += t.unknown
		sum.price += t.price
	}
	fmt.Printf("found=%d unknown=%d price=%d\n", sum.found, sum.unknown, sum.price)
}
