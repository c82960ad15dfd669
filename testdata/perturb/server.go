package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
)

type order struct {
	ID    int
	Items []string
	Total float64
}

// server answers the requests of two clients in the same process.
func server(number func(int, int) int) int {
	s := httptest.NewServer(http.HandlerFunc(handle))
	defer s.Close()
	var sum atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { sum.Add(int64(client(s.URL, number(0, 8000)))) })
	}
	wg.Wait()
	return int(sum.Load())
}

func handle(w http.ResponseWriter, _ *http.Request) {
	o := order{Total: float64(manyEvents(500) & 1)}
	for i := range 20 {
		o.ID += i
		o.Items = append(o.Items, "item")
	}
	if err := json.NewEncoder(w).Encode(o); err != nil {
		panic(err)
	}
}

func client(url string, requests int) (sum int) {
	for range requests {
		r, err := http.Get(url)
		if err != nil {
			panic(err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		r.Body.Close()
		sum += len(body)
	}
	return sum
}
