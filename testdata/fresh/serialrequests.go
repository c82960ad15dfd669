package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// Requests wait for the answer of the one before.
//
// truth: timer input-output
func serialrequestsServe(s size) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(s.wait)
		keep(work(s.us))
		io.WriteString(w, "ok")
	}))
}

func serialrequests(s size) {
	server := serialrequestsServe(s)
	defer server.Close()
	for range s.waits {
		serialrequestsGet(server.URL)
	}
}

func serialrequestsRepaired(s size) {
	server := serialrequestsServe(s)
	defer server.Close()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := g; i < s.waits; i += 8 {
				serialrequestsGet(server.URL)
			}
		})
	}
	wg.Wait()
}

func serialrequestsGet(url string) {
	r, err := http.Get(url)
	if err != nil {
		panic(err)
	}
	io.Copy(io.Discard, r.Body)
	r.Body.Close()
}
