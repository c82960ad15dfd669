package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
)

// Each request has a connection of its own.
//
// truth: input-output system-calls new-connections less-work
func newconnections(s size)         { newconnectionsRun(s, &http.Transport{DisableKeepAlives: true}) }
func newconnectionsRepaired(s size) { newconnectionsRun(s, &http.Transport{MaxIdleConnsPerHost: 64}) }

func newconnectionsRun(s size, t *http.Transport) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		keep(work(10))
		io.WriteString(w, "ok")
	}))
	defer server.Close()
	defer t.CloseIdleConnections()
	client := &http.Client{Transport: t}
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			for range 1 + s.n*s.us/300/s.g {
				r, err := client.Get(server.URL)
				if err != nil {
					panic(err)
				}
				io.Copy(io.Discard, r.Body)
				r.Body.Close()
			}
		})
	}
	wg.Wait()
}
